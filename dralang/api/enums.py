"""Closed sets of string values, by their Kubernetes type name."""

from typing import Annotated, TypeAlias

from msgspec import Meta

AllocationConfigSource: TypeAlias = Annotated[str, Meta(extra={"enum": ("FromClass", "FromClaim")})]
AppArmorProfileType: TypeAlias = Annotated[str, Meta(extra={"enum": ("Unconfined", "RuntimeDefault", "Localhost")})]
AzureDataDiskCachingMode: TypeAlias = Annotated[str, Meta(extra={"enum": ("None", "ReadOnly", "ReadWrite")})]
AzureDataDiskKind: TypeAlias = Annotated[str, Meta(extra={"enum": ("Shared", "Dedicated", "Managed")})]
ConditionStatus: TypeAlias = Annotated[str, Meta(extra={"enum": ("True", "False", "Unknown")})]
ContainerRestartPolicy: TypeAlias = Annotated[str, Meta(extra={"enum": ("Always", "Never", "OnFailure")})]
ContainerRestartRuleAction: TypeAlias = Annotated[str, Meta(extra={"enum": ("Restart", "RestartAllContainers")})]
ContainerRestartRuleOnExitCodesOperator: TypeAlias = Annotated[str, Meta(extra={"enum": ("In", "NotIn")})]
DNSPolicy: TypeAlias = Annotated[
    str, Meta(extra={"enum": ("ClusterFirstWithHostNet", "ClusterFirst", "Default", "None")})
]
DeviceTaintEffect: TypeAlias = Annotated[str, Meta(extra={"enum": ("None", "NoSchedule", "NoExecute")})]
DeviceTolerationOperator: TypeAlias = Annotated[str, Meta(extra={"enum": ("Exists", "Equal")})]
GRPCProbeMode: TypeAlias = Annotated[str, Meta(extra={"enum": ("Plaintext", "TLS")})]
HTTPProtocol: TypeAlias = Annotated[str, Meta(extra={"enum": ("HTTP1", "HTTP2")})]
HostPathType: TypeAlias = Annotated[
    str,
    Meta(
        extra={
            "enum": (
                "",
                "DirectoryOrCreate",
                "Directory",
                "FileOrCreate",
                "File",
                "Socket",
                "CharDevice",
                "BlockDevice",
            )
        }
    ),
]
LabelSelectorOperator: TypeAlias = Annotated[str, Meta(extra={"enum": ("In", "NotIn", "Exists", "DoesNotExist")})]
ManagedFieldsOperationType: TypeAlias = Annotated[str, Meta(extra={"enum": ("Apply", "Update")})]
MountPropagationMode: TypeAlias = Annotated[str, Meta(extra={"enum": ("None", "HostToContainer", "Bidirectional")})]
NamespacePhase: TypeAlias = Annotated[str, Meta(extra={"enum": ("Active", "Terminating")})]
NodeAddressType: TypeAlias = Annotated[
    str, Meta(extra={"enum": ("Hostname", "InternalIP", "ExternalIP", "InternalDNS", "ExternalDNS")})
]
NodeInclusionPolicy: TypeAlias = Annotated[str, Meta(extra={"enum": ("Ignore", "Honor")})]
NodePhase: TypeAlias = Annotated[str, Meta(extra={"enum": ("Pending", "Running", "Terminated")})]
NodeSelectorOperator: TypeAlias = Annotated[
    str, Meta(extra={"enum": ("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt")})
]
OSName: TypeAlias = Annotated[str, Meta(extra={"enum": ("linux", "windows")})]
PersistentVolumeAccessMode: TypeAlias = Annotated[
    str, Meta(extra={"enum": ("ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany", "ReadWriteOncePod")})
]
PersistentVolumeMode: TypeAlias = Annotated[str, Meta(extra={"enum": ("Block", "Filesystem")})]
PodFSGroupChangePolicy: TypeAlias = Annotated[str, Meta(extra={"enum": ("OnRootMismatch", "Always")})]
PodPhase: TypeAlias = Annotated[str, Meta(extra={"enum": ("Pending", "Running", "Succeeded", "Failed", "Unknown")})]
PodQOSClass: TypeAlias = Annotated[str, Meta(extra={"enum": ("Guaranteed", "Burstable", "BestEffort")})]
PodResizeStatus: TypeAlias = Annotated[str, Meta(extra={"enum": ("InProgress", "Deferred", "Infeasible")})]
PodSELinuxChangePolicy: TypeAlias = Annotated[str, Meta(extra={"enum": ("Recursive", "MountOption")})]
PreemptionPolicy: TypeAlias = Annotated[str, Meta(extra={"enum": ("PreemptLowerPriority", "Never")})]
ProcMountType: TypeAlias = Annotated[str, Meta(extra={"enum": ("Default", "Unmasked")})]
Protocol: TypeAlias = Annotated[str, Meta(extra={"enum": ("TCP", "UDP", "SCTP")})]
PullPolicy: TypeAlias = Annotated[str, Meta(extra={"enum": ("Always", "Never", "IfNotPresent")})]
RecursiveReadOnlyMode: TypeAlias = Annotated[str, Meta(extra={"enum": ("Disabled", "IfPossible", "Enabled")})]
ResourceHealthStatus: TypeAlias = Annotated[str, Meta(extra={"enum": ("Healthy", "Unhealthy", "Unknown")})]
ResourceResizeRestartPolicy: TypeAlias = Annotated[str, Meta(extra={"enum": ("NotRequired", "RestartContainer")})]
RestartPolicy: TypeAlias = Annotated[str, Meta(extra={"enum": ("Always", "OnFailure", "Never")})]
SeccompProfileType: TypeAlias = Annotated[str, Meta(extra={"enum": ("Unconfined", "RuntimeDefault", "Localhost")})]
SkipNodeOperation: TypeAlias = Annotated[
    str, Meta(extra={"enum": ("NodePrepareResources", "NodeUnprepareResources", "*")})
]
StorageMedium: TypeAlias = Annotated[str, Meta(extra={"enum": ("", "Memory", "HugePages", "HugePages-")})]
SupplementalGroupsPolicy: TypeAlias = Annotated[str, Meta(extra={"enum": ("Merge", "Strict")})]
TaintEffect: TypeAlias = Annotated[str, Meta(extra={"enum": ("NoSchedule", "PreferNoSchedule", "NoExecute")})]
TerminationMessagePolicy: TypeAlias = Annotated[str, Meta(extra={"enum": ("File", "FallbackToLogsOnError")})]
TolerationOperator: TypeAlias = Annotated[str, Meta(extra={"enum": ("Exists", "Equal", "Lt", "Gt")})]
URIScheme: TypeAlias = Annotated[str, Meta(extra={"enum": ("HTTP", "HTTPS")})]
UnhealthyPodEvictionPolicyType: TypeAlias = Annotated[str, Meta(extra={"enum": ("IfHealthyBudget", "AlwaysAllow")})]
UnsatisfiableConstraintAction: TypeAlias = Annotated[str, Meta(extra={"enum": ("DoNotSchedule", "ScheduleAnyway")})]
VolumeHealthStatusType: TypeAlias = Annotated[str, Meta(extra={"enum": ("Inaccessible", "DataLoss", "Degraded")})]
