"""Pod volumes: carried through import and export, without behaviour.

Field names and types are those of the Kubernetes API; see ``base`` for the markers.
"""

from collections.abc import Mapping

from msgspec import field

from dralang.api.base import Always, ApiType, Int32, Int64
from dralang.api.enums import (
    AzureDataDiskCachingMode,
    AzureDataDiskKind,
    HostPathType,
    PersistentVolumeAccessMode,
    PersistentVolumeMode,
    PullPolicy,
    StorageMedium,
)
from dralang.api.meta import LabelSelector, ObjectMeta
from dralang.api.references import ObjectFieldSelector, ResourceFieldSelector
from dralang.values.quantity import Quantity


class HostPathVolumeSource(ApiType, frozen=True):
    """core/v1 HostPathVolumeSource."""

    path: Always[str] = ""
    type: HostPathType | None = None


class EmptyDirVolumeSource(ApiType, frozen=True):
    """core/v1 EmptyDirVolumeSource."""

    medium: StorageMedium = ""
    size_limit: Quantity | None = None
    mode: Int32 | None = None


class GCEPersistentDiskVolumeSource(ApiType, frozen=True):
    """core/v1 GCEPersistentDiskVolumeSource."""

    pd_name: Always[str] = ""
    fs_type: str = ""
    partition: Int32 = 0
    read_only: bool = False


class AWSElasticBlockStoreVolumeSource(ApiType, frozen=True):
    """core/v1 AWSElasticBlockStoreVolumeSource."""

    volume_id: Always[str] = field(default="", name="volumeID")
    fs_type: str = ""
    partition: Int32 = 0
    read_only: bool = False


class GitRepoVolumeSource(ApiType, frozen=True):
    """core/v1 GitRepoVolumeSource."""

    repository: Always[str] = ""
    revision: str = ""
    directory: str = ""


class KeyToPath(ApiType, frozen=True):
    """core/v1 KeyToPath."""

    key: Always[str] = ""
    path: Always[str] = ""
    mode: Int32 | None = None
    user: Int64 | None = None


class SecretVolumeSource(ApiType, frozen=True):
    """core/v1 SecretVolumeSource."""

    secret_name: str = ""
    items: tuple[KeyToPath, ...] = ()
    default_mode: Int32 | None = None
    optional: bool | None = None
    default_user: Int64 | None = None


class NFSVolumeSource(ApiType, frozen=True):
    """core/v1 NFSVolumeSource."""

    server: Always[str] = ""
    path: Always[str] = ""
    read_only: bool = False


class LocalObjectReference(ApiType, frozen=True):
    """core/v1 LocalObjectReference."""

    name: str = ""


class ISCSIVolumeSource(ApiType, frozen=True):
    """core/v1 ISCSIVolumeSource."""

    target_portal: Always[str] = ""
    iqn: Always[str] = ""
    lun: Always[Int32] = 0
    iscsi_interface: str = ""
    fs_type: str = ""
    read_only: bool = False
    portals: tuple[str, ...] = ()
    chap_auth_discovery: bool = False
    chap_auth_session: bool = False
    secret_ref: LocalObjectReference | None = None
    initiator_name: str | None = None


class GlusterfsVolumeSource(ApiType, frozen=True):
    """core/v1 GlusterfsVolumeSource."""

    endpoints: Always[str] = ""
    path: Always[str] = ""
    read_only: bool = False


class PersistentVolumeClaimVolumeSource(ApiType, frozen=True):
    """core/v1 PersistentVolumeClaimVolumeSource."""

    claim_name: Always[str] = ""
    read_only: bool = False


class RBDVolumeSource(ApiType, frozen=True):
    """core/v1 RBDVolumeSource."""

    monitors: Always[tuple[str, ...]] = ()
    image: Always[str] = ""
    fs_type: str = ""
    pool: str = ""
    user: str = ""
    keyring: str = ""
    secret_ref: LocalObjectReference | None = None
    read_only: bool = False


class FlexVolumeSource(ApiType, frozen=True):
    """core/v1 FlexVolumeSource."""

    driver: Always[str] = ""
    fs_type: str = ""
    secret_ref: LocalObjectReference | None = None
    read_only: bool = False
    options: Mapping[str, str] = field(default_factory=dict)


class CinderVolumeSource(ApiType, frozen=True):
    """core/v1 CinderVolumeSource."""

    volume_id: Always[str] = field(default="", name="volumeID")
    fs_type: str = ""
    read_only: bool = False
    secret_ref: LocalObjectReference | None = None


class CephFSVolumeSource(ApiType, frozen=True):
    """core/v1 CephFSVolumeSource."""

    monitors: Always[tuple[str, ...]] = ()
    path: str = ""
    user: str = ""
    secret_file: str = ""
    secret_ref: LocalObjectReference | None = None
    read_only: bool = False


class FlockerVolumeSource(ApiType, frozen=True):
    """core/v1 FlockerVolumeSource."""

    dataset_name: str = ""
    dataset_uuid: str = field(default="", name="datasetUUID")


class DownwardAPIVolumeFile(ApiType, frozen=True):
    """core/v1 DownwardAPIVolumeFile."""

    path: Always[str] = ""
    field_ref: ObjectFieldSelector | None = None
    resource_field_ref: ResourceFieldSelector | None = None
    mode: Int32 | None = None
    user: Int64 | None = None


class DownwardAPIVolumeSource(ApiType, frozen=True):
    """core/v1 DownwardAPIVolumeSource."""

    items: tuple[DownwardAPIVolumeFile, ...] = ()
    default_mode: Int32 | None = None
    default_user: Int64 | None = None


class FCVolumeSource(ApiType, frozen=True):
    """core/v1 FCVolumeSource."""

    target_ww_ns: tuple[str, ...] = field(default=(), name="targetWWNs")
    lun: Int32 | None = None
    fs_type: str = ""
    read_only: bool = False
    wwids: tuple[str, ...] = ()


class AzureFileVolumeSource(ApiType, frozen=True):
    """core/v1 AzureFileVolumeSource."""

    secret_name: Always[str] = ""
    share_name: Always[str] = ""
    read_only: bool = False


class ConfigMapVolumeSource(ApiType, frozen=True):
    """core/v1 ConfigMapVolumeSource."""

    name: str = ""
    items: tuple[KeyToPath, ...] = ()
    default_mode: Int32 | None = None
    optional: bool | None = None
    default_user: Int64 | None = None


class VsphereVirtualDiskVolumeSource(ApiType, frozen=True):
    """core/v1 VsphereVirtualDiskVolumeSource."""

    volume_path: Always[str] = ""
    fs_type: str = ""
    storage_policy_name: str = ""
    storage_policy_id: str = field(default="", name="storagePolicyID")


class QuobyteVolumeSource(ApiType, frozen=True):
    """core/v1 QuobyteVolumeSource."""

    registry: Always[str] = ""
    volume: Always[str] = ""
    read_only: bool = False
    user: str = ""
    group: str = ""
    tenant: str = ""


class AzureDiskVolumeSource(ApiType, frozen=True):
    """core/v1 AzureDiskVolumeSource."""

    disk_name: Always[str] = ""
    disk_uri: Always[str] = field(default="", name="diskURI")
    caching_mode: AzureDataDiskCachingMode | None = None
    fs_type: str | None = None
    read_only: bool | None = None
    kind: AzureDataDiskKind | None = None


class PhotonPersistentDiskVolumeSource(ApiType, frozen=True):
    """core/v1 PhotonPersistentDiskVolumeSource."""

    pd_id: Always[str] = field(default="", name="pdID")
    fs_type: str = ""


class SecretProjection(ApiType, frozen=True):
    """core/v1 SecretProjection."""

    name: str = ""
    items: tuple[KeyToPath, ...] = ()
    optional: bool | None = None


class DownwardAPIProjection(ApiType, frozen=True):
    """core/v1 DownwardAPIProjection."""

    items: tuple[DownwardAPIVolumeFile, ...] = ()


class ConfigMapProjection(ApiType, frozen=True):
    """core/v1 ConfigMapProjection."""

    name: str = ""
    items: tuple[KeyToPath, ...] = ()
    optional: bool | None = None


class ServiceAccountTokenProjection(ApiType, frozen=True):
    """core/v1 ServiceAccountTokenProjection."""

    audience: str = ""
    expiration_seconds: Int64 | None = None
    path: Always[str] = ""
    user: Int64 | None = None


class ClusterTrustBundleProjection(ApiType, frozen=True):
    """core/v1 ClusterTrustBundleProjection."""

    name: str | None = None
    signer_name: str | None = None
    label_selector: LabelSelector | None = None
    optional: bool | None = None
    path: Always[str] = ""
    user: Int64 | None = None


class PodCertificateProjection(ApiType, frozen=True):
    """core/v1 PodCertificateProjection."""

    signer_name: str = ""
    key_type: str = ""
    max_expiration_seconds: Int32 | None = None
    credential_bundle_path: str = ""
    key_path: str = ""
    certificate_chain_path: str = ""
    user_annotations: Mapping[str, str] = field(default_factory=dict)
    user: Int64 | None = None


class VolumeProjection(ApiType, frozen=True):
    """core/v1 VolumeProjection."""

    secret: SecretProjection | None = None
    downward_api: DownwardAPIProjection | None = field(default=None, name="downwardAPI")
    config_map: ConfigMapProjection | None = None
    service_account_token: ServiceAccountTokenProjection | None = None
    cluster_trust_bundle: ClusterTrustBundleProjection | None = None
    pod_certificate: PodCertificateProjection | None = None


class ProjectedVolumeSource(ApiType, frozen=True):
    """core/v1 ProjectedVolumeSource."""

    sources: Always[tuple[VolumeProjection, ...]] = ()
    default_mode: Int32 | None = None
    default_user: Int64 | None = None


class PortworxVolumeSource(ApiType, frozen=True):
    """core/v1 PortworxVolumeSource."""

    volume_id: Always[str] = field(default="", name="volumeID")
    fs_type: str = ""
    read_only: bool = False


class ScaleIOVolumeSource(ApiType, frozen=True):
    """core/v1 ScaleIOVolumeSource."""

    gateway: Always[str] = ""
    system: Always[str] = ""
    secret_ref: Always[LocalObjectReference | None] = None
    ssl_enabled: bool = False
    protection_domain: str = ""
    storage_pool: str = ""
    storage_mode: str = ""
    volume_name: str = ""
    fs_type: str = ""
    read_only: bool = False


class StorageOSVolumeSource(ApiType, frozen=True):
    """core/v1 StorageOSVolumeSource."""

    volume_name: str = ""
    volume_namespace: str = ""
    fs_type: str = ""
    read_only: bool = False
    secret_ref: LocalObjectReference | None = None


class CSIVolumeSource(ApiType, frozen=True):
    """core/v1 CSIVolumeSource."""

    driver: Always[str] = ""
    read_only: bool | None = None
    fs_type: str | None = None
    volume_attributes: Mapping[str, str] = field(default_factory=dict)
    node_publish_secret_ref: LocalObjectReference | None = None


class VolumeResourceRequirements(ApiType, frozen=True):
    """core/v1 VolumeResourceRequirements."""

    limits: Mapping[str, Quantity] = field(default_factory=dict)
    requests: Mapping[str, Quantity] = field(default_factory=dict)


class TypedLocalObjectReference(ApiType, frozen=True):
    """core/v1 TypedLocalObjectReference."""

    api_group: Always[str | None] = None
    kind: Always[str] = ""
    name: Always[str] = ""


class TypedObjectReference(ApiType, frozen=True):
    """core/v1 TypedObjectReference."""

    api_group: Always[str | None] = None
    kind: Always[str] = ""
    name: Always[str] = ""
    namespace: str | None = None


class PersistentVolumeClaimSpec(ApiType, frozen=True):
    """core/v1 PersistentVolumeClaimSpec."""

    access_modes: tuple[PersistentVolumeAccessMode, ...] = ()
    selector: LabelSelector | None = None
    resources: Always[VolumeResourceRequirements] = VolumeResourceRequirements()
    volume_name: str = ""
    storage_class_name: str | None = None
    volume_mode: PersistentVolumeMode | None = None
    data_source: TypedLocalObjectReference | None = None
    data_source_ref: TypedObjectReference | None = None
    volume_attributes_class_name: str | None = None


class PersistentVolumeClaimTemplate(ApiType, frozen=True):
    """core/v1 PersistentVolumeClaimTemplate."""

    metadata: Always[ObjectMeta] = ObjectMeta()
    spec: Always[PersistentVolumeClaimSpec] = PersistentVolumeClaimSpec()


class EphemeralVolumeSource(ApiType, frozen=True):
    """core/v1 EphemeralVolumeSource."""

    volume_claim_template: PersistentVolumeClaimTemplate | None = None


class ImageVolumeSource(ApiType, frozen=True):
    """core/v1 ImageVolumeSource."""

    reference: str = ""
    pull_policy: PullPolicy = ""


class Volume(ApiType, frozen=True):
    """core/v1 Volume."""

    name: Always[str] = ""
    host_path: HostPathVolumeSource | None = None
    empty_dir: EmptyDirVolumeSource | None = None
    gce_persistent_disk: GCEPersistentDiskVolumeSource | None = None
    aws_elastic_block_store: AWSElasticBlockStoreVolumeSource | None = None
    git_repo: GitRepoVolumeSource | None = None
    secret: SecretVolumeSource | None = None
    nfs: NFSVolumeSource | None = None
    iscsi: ISCSIVolumeSource | None = None
    glusterfs: GlusterfsVolumeSource | None = None
    persistent_volume_claim: PersistentVolumeClaimVolumeSource | None = None
    rbd: RBDVolumeSource | None = None
    flex_volume: FlexVolumeSource | None = None
    cinder: CinderVolumeSource | None = None
    cephfs: CephFSVolumeSource | None = None
    flocker: FlockerVolumeSource | None = None
    downward_api: DownwardAPIVolumeSource | None = field(default=None, name="downwardAPI")
    fc: FCVolumeSource | None = None
    azure_file: AzureFileVolumeSource | None = None
    config_map: ConfigMapVolumeSource | None = None
    vsphere_volume: VsphereVirtualDiskVolumeSource | None = None
    quobyte: QuobyteVolumeSource | None = None
    azure_disk: AzureDiskVolumeSource | None = None
    photon_persistent_disk: PhotonPersistentDiskVolumeSource | None = None
    projected: ProjectedVolumeSource | None = None
    portworx_volume: PortworxVolumeSource | None = None
    scale_io: ScaleIOVolumeSource | None = field(default=None, name="scaleIO")
    storageos: StorageOSVolumeSource | None = None
    csi: CSIVolumeSource | None = None
    ephemeral: EphemeralVolumeSource | None = None
    image: ImageVolumeSource | None = None
