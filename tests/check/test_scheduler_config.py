"""KubeSchedulerConfiguration as a block and as a manifest: what is taken, what is refused and where."""

from pathlib import Path

import pytest

from dralang.check.analysis import Analysis, Analyzer
from dralang.check.scheduler_plugins import DEFAULT_PLUGINS, IMPLEMENTED, MODELLED, WEIGHTS
from dralang.run.simulation import Environment, Simulation
from dralang.run.workshop import Workshop
from dralang.scenario.model import Settings
from dralang.scenario.scheduler_config import FitScoring, PluginArguments, SchedulerConfig

YAML = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
parallelism: 4
leaderElection: {leaderElect: true}
podInitialBackoffSeconds: 3
profiles:
- schedulerName: gpu-scheduler
  percentageOfNodesToScore: 7
  pluginConfig:
  - name: NodeResourcesFit
    args:
      apiVersion: kubescheduler.config.k8s.io/v1
      kind: NodeResourcesFitArgs
      scoringStrategy: {type: LeastAllocated, resources: [{name: cpu, weight: 1}, {name: memory, weight: 1}]}
"""


def analysed(text: str, tmp_path: Path, manifest: str = YAML) -> Analysis:
    (tmp_path / "dralang.toml").touch()
    (tmp_path / "scheduler.yaml").write_text(manifest)
    return Analyzer().text(tmp_path / "a.dra", "a.dra", text.encode())


def config(text: str, tmp_path: Path) -> SchedulerConfig:
    analysis = analysed(text, tmp_path)
    assert not analysis.has_errors, [item.message for item in analysis.diagnostics]
    assert analysis.settings.scheduler is not None
    return analysis.settings.scheduler


def test_an_empty_block_is_the_default_profile(tmp_path):
    found = config("scheduler {}\n", tmp_path)
    assert found.plugins == MODELLED
    assert (found.off_at, found.weights) == ((), ())
    assert (found.initial_backoff, found.max_backoff, found.arguments) == (1000, 10_000, PluginArguments())
    assert (found.name, found.percentage_of_nodes_to_score) == ("default-scheduler", 0)


def test_the_manifest_is_read_and_the_block_stands_above_it_entry_by_entry(tmp_path):
    found = config('use "scheduler.yaml"\nscheduler { percentageOfNodesToScore: 20 }\n', tmp_path)
    assert (found.name, found.initial_backoff, found.percentage_of_nodes_to_score) == ("gpu-scheduler", 3000, 20)


def test_what_kubernetes_leaves_to_chance_is_said_in_a_block_only(tmp_path):
    assert config("scheduler {}\n", tmp_path).ties == 0
    assert config("scheduler { ties: 3 }\n", tmp_path).ties == 3
    manifest = YAML.replace("kind: KubeSchedulerConfiguration", "kind: KubeSchedulerConfiguration\nties: 3")
    assert manifest != YAML
    found = analysed('use "scheduler.yaml"\n', tmp_path, manifest).diagnostics
    assert [(item.code, item.span.text) for item in found] == [("DRA0313", "ties")]


def test_a_scenario_stands_above_its_file(tmp_path):
    text = (
        "scheduler { podInitialBackoffSeconds: 2; podMaxBackoffSeconds: 5 }\npod a\n"
        'scenario "own" {\n  scheduler { podMaxBackoffSeconds: 9 }\n  create a\n  expect a is pending\n}\n'
    )
    settings = analysed(text, tmp_path).scenarios[0].settings
    assert settings.scheduler is not None
    assert (settings.scheduler.initial_backoff, settings.scheduler.max_backoff) == (2000, 9000)


PLUGINS = {
    "one is switched off everywhere": (
        "multiPoint { disabled: [{ name: NodeAffinity }] }",
        [name for name in MODELLED if name != "NodeAffinity"],
        [],
        [],
    ),
    "what is not modelled may be switched off": ("multiPoint { disabled: [{ name: VolumeZone }] }", MODELLED, [], []),
    "all are switched off but a few, in another order": (
        (
            'multiPoint { disabled: [{ name: "*" }]; enabled: [{ name: NodePorts }, { name: DefaultBinder }, '
            "{ name: PrioritySort }, { name: NodeName }] }"
        ),
        ["NodePorts", "NodeName"],
        [],
        [],
    ),
    "one does not score": (
        "score { disabled: [{ name: NodeAffinity }] }",
        MODELLED,
        [("score", "NodeAffinity")],
        [],
    ),
    "a weight at score stands above that at multiPoint, and 0 is 1": (
        (
            "multiPoint { enabled: [{ name: TaintToleration, weight: 5 }, { name: NodeAffinity }] }; "
            "score { enabled: [{ name: TaintToleration, weight: 7 }, { name: InterPodAffinity, weight: 2 }] }"
        ),
        MODELLED,
        [],
        [("NodeAffinity", 1), ("TaintToleration", 7)],
    ),
    "disabled and enabled at once is enabled with the new weight": (
        "score { disabled: [{ name: NodeAffinity }]; enabled: [{ name: NodeAffinity, weight: 9 }] }",
        MODELLED,
        [],
        [("NodeAffinity", 9)],
    ),
    "only one scores": (
        'score { disabled: [{ name: "*" }]; enabled: [{ name: DynamicResources, weight: 2 }] }',
        MODELLED,
        sorted(("score", name) for name in WEIGHTS if name != "DynamicResources"),
        [],
    ),
}


@pytest.mark.parametrize("case", PLUGINS)
def test_plugins(case, tmp_path):
    text, plugins, off_at, weights = PLUGINS[case]
    found = config(f"scheduler {{ plugins {{ {text} }} }}\n", tmp_path)
    assert list(found.plugins) == list(plugins)
    assert list(found.off_at) == off_at
    assert list(found.weights) == weights


def fit(strategy):
    return f"pluginConfig: [{{ name: NodeResourcesFit, args: {{ scoringStrategy: {strategy} }} }}]"


def ratio(points):
    return fit(f"{{ type: RequestedToCapacityRatio, requestedToCapacityRatio: {{ shape: [{points}] }} }}")


ARGUMENTS = {
    "timeouts": (
        "{ name: DynamicResources, args: { filterTimeout: 0s, bindingTimeout: 1m } }",
        PluginArguments(filter_timeout=0, binding_timeout=60_000),
    ),
    "a strategy, with the resources that are usual": (
        "{ name: NodeResourcesFit, args: { scoringStrategy: { type: MostAllocated } } }",
        PluginArguments(fit=FitScoring(type="MostAllocated")),
    ),
    "a strategy with a shape": (
        (
            "{ name: NodeResourcesFit, args: { scoringStrategy: { type: RequestedToCapacityRatio, "
            "resources: [{ name: example.com/gpu, weight: 5 }, { name: cpu }], "
            "requestedToCapacityRatio: { shape: [{ utilization: 0, score: 0 }, { utilization: 100, score: 10 }] } } } }"
        ),
        PluginArguments(
            fit=FitScoring(
                type="RequestedToCapacityRatio",
                resources=(("example.com/gpu", 5), ("cpu", 1)),
                shape=((0, 0), (100, 10)),
            )
        ),
    ),
    "what is not counted": (
        "{ name: NodeResourcesFit, args: { ignoredResources: [a.b/c], ignoredResourceGroups: [d.e] } }",
        PluginArguments(ignored_resources=frozenset({"a.b/c"}), ignored_resource_groups=frozenset({"d.e"})),
    ),
    "balance": (
        "{ name: NodeResourcesBalancedAllocation, args: { resources: [{ name: cpu, weight: 1 }, { name: a.b/c }] } }",
        PluginArguments(balanced_resources=("cpu", "a.b/c")),
    ),
    "affinity": (
        "{ name: InterPodAffinity, args: { hardPodAffinityWeight: 7, ignorePreferredTermsOfExistingPods: true } }",
        PluginArguments(hard_pod_affinity_weight=7, ignore_preferred_terms_of_existing_pods=True),
    ),
    "defaults written out": (
        (
            "{ name: NodeResourcesFit, args: { kind: NodeResourcesFitArgs, scoringStrategy: { type: LeastAllocated, "
            "resources: [{ name: cpu, weight: 1 }, { name: memory, weight: 1 }] } } }, "
            "{ name: PodTopologySpread, args: { defaultingType: System } }"
        ),
        PluginArguments(),
    ),
}


@pytest.mark.parametrize("case", ARGUMENTS)
def test_arguments(case, tmp_path):
    text, want = ARGUMENTS[case]
    assert config(f"scheduler {{ pluginConfig: [{text}] }}\n", tmp_path).arguments == want


REFUSED = {
    "a field that does not exist": ("podInitialBackofSeconds: 2", "podInitialBackofSeconds", "no field"),
    "extenders": ("extenders: [{ urlPrefix: x }]", "extenders", "`extenders` are not modelled"),
    "two profiles": ("profiles: [{ schedulerName: a }, { schedulerName: b }]", "{ schedulerName: b }", "several"),
    "a backoff of nothing": ("podInitialBackoffSeconds: 0", "0", "whole number from 1"),
    "a longest backoff that is shorter": ("podInitialBackoffSeconds: 20", "20", "is less than"),
    "a percentage beyond all": ("percentageOfNodesToScore: 101", "101", "from 0 to 100"),
    "a choice among equals before the first": ("ties: -1", "-1", "whole number from 0"),
    "a choice among equals that is no number": ("ties: any", "any", "whole number from 0"),
    "a scheduler without a name": ("schedulerName: 7", "7", "is a text"),
    "an unknown plugin": ("plugins { filter { enabled: [{ name: Cosched }] } }", "Cosched", "is not modelled"),
    "a plugin that is not modelled": (
        "plugins { score { enabled: [{ name: VolumeBinding, weight: 3 }] } }",
        "VolumeBinding",
        "plugin `VolumeBinding` is not modelled",
    ),
    "a misspelt plugin that is to be off": (
        "plugins { multiPoint { disabled: [{ name: NodePort }] } }",
        "NodePort",
        "no default plugin `NodePort`",
    ),
    "an extension point alone": (
        "plugins { reserve { disabled: [{ name: DynamicResources }] } }",
        "reserve",
        "extension point `reserve` alone",
    ),
    "an extension point that does not exist": ("plugins { scores {} }", "scores", "no extension point"),
    "a filter that is not prepared": (
        "plugins { preFilter { disabled: [{ name: NodePorts }] } }",
        "NodePorts",
        "cannot be asked at `filter` without `preFilter`",
    ),
    "half of DynamicResources": (
        "plugins { filter { disabled: [{ name: DynamicResources }] } }",
        "DynamicResources",
        "on or off as a whole",
    ),
    "another order of filters": (
        "plugins { filter { enabled: [{ name: NodePorts }] } }",
        "NodePorts",
        "another order of plugins at `filter`",
    ),
    "no queue": ("plugins { multiPoint { disabled: [{ name: PrioritySort }] } }", "PrioritySort", "does not start"),
    "a plugin twice": (
        "plugins { score { enabled: [{ name: NodeAffinity }, { name: NodeAffinity }] } }",
        "NodeAffinity",
        "enabled twice",
    ),
    "a weight that is none": ("plugins { score { enabled: [{ name: NodeAffinity, weight: -1 }] } }", "-1", "`weight`"),
    "an argument that is not modelled": (
        "pluginConfig: [{ name: DefaultPreemption, args: { minCandidateNodesPercentage: 20 } }]",
        "minCandidateNodesPercentage",
        "argument `minCandidateNodesPercentage` of plugin `DefaultPreemption` is not modelled",
    ),
    "an unknown strategy": (
        "pluginConfig: [{ name: NodeResourcesFit, args: { scoringStrategy: { type: BestFit } } }]",
        "BestFit",
        "`type` of a scoring strategy is one of `LeastAllocated`, `MostAllocated`, `RequestedToCapacityRatio`",
    ),
    "a shape of another strategy": (
        fit("{ type: MostAllocated, requestedToCapacityRatio: { shape: [] } }"),
        "requestedToCapacityRatio",
        "belongs to strategy `RequestedToCapacityRatio`",
    ),
    "no shape": (
        fit("{ type: RequestedToCapacityRatio }"),
        "{ type: RequestedToCapacityRatio }",
        "needs a `shape`",
    ),
    "a shape that goes back": (
        ratio("{ utilization: 5 }, { utilization: 5 }"),
        "{ utilization: 5 }",
        "in the order of their `utilization`",
    ),
    "a score beyond ten": (
        ratio("{ utilization: 5, score: 11 }"),
        "11",
        "`score` is a whole number from 0 to 10",
    ),
    "a heavy resource": (
        fit("{ type: LeastAllocated, resources: [{ name: cpu, weight: 101 }] }"),
        "101",
        "`weight` is a whole number from 0 to 100",
    ),
    "a resource twice": (
        fit("{ type: LeastAllocated, resources: [{ name: cpu }, { name: cpu }] }"),
        "cpu",
        "resource `cpu` stands twice",
    ),
    "a resource without a name": (
        fit("{ type: LeastAllocated, resources: [{ weight: 1 }] }"),
        "{ weight: 1 }",
        "a resource has a `name`",
    ),
    "a balance with weights": (
        "pluginConfig: [{ name: NodeResourcesBalancedAllocation, args: { resources: [{ name: cpu, weight: 2 }] } }]",
        "2",
        "`weight` is a whole number from 0 to 1",
    ),
    "a group of resources with a slash": (
        "pluginConfig: [{ name: NodeResourcesFit, args: { ignoredResourceGroups: [a/b] } }]",
        "a/b",
        "has no `/`",
    ),
    "a name that is none": (
        "pluginConfig: [{ name: NodeResourcesFit, args: { ignoredResources: [7] } }]",
        "7",
        "`ignoredResources` is a list of names",
    ),
    "a weight of affinity beyond all": (
        "pluginConfig: [{ name: InterPodAffinity, args: { hardPodAffinityWeight: 101 } }]",
        "101",
        "from 0 to 100",
    ),
    "half a yes": (
        "pluginConfig: [{ name: InterPodAffinity, args: { ignorePreferredTermsOfExistingPods: maybe } }]",
        "maybe",
        "is true or false",
    ),
    "an unknown argument": (
        "pluginConfig: [{ name: DynamicResources, args: { bindTimeout: 5s } }]",
        "bindTimeout",
        "no argument of DynamicResources",
    ),
    "a timeout below a second": (
        "pluginConfig: [{ name: DynamicResources, args: { bindingTimeout: 5ms } }]",
        "5ms",
        "at least one second",
    ),
    "a timeout that is a number": (
        "pluginConfig: [{ name: DynamicResources, args: { filterTimeout: 5 } }]",
        "5",
        "is a duration",
    ),
    "arguments of a kind that does not fit": (
        "pluginConfig: [{ name: DynamicResources, args: { kind: FitArgs } }]",
        "FitArgs",
        "`kind` is `DynamicResourcesArgs` here",
    ),
    "a plugin without a name": ("plugins { score { enabled: [{ weight: 1 }] } }", "{ weight: 1 }", "has a `name`"),
    "a list that is none": ("pluginConfig: all", "all", "is a list"),
    "a map that is none": ("plugins: all", "all", "is a map"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused_by_name(case, tmp_path):
    text, place, message = REFUSED[case]
    analysis = analysed(f"scheduler {{ {text} }}\n", tmp_path)
    found = [item for item in analysis.diagnostics if item.code == "DRA0313" and message in item.message]
    assert found, [item.message for item in analysis.diagnostics]
    assert found[0].span is not None
    assert found[0].span.text == place


def test_a_timeout_whose_gate_is_off_is_refused_as_the_scheduler_does(tmp_path):
    text = (
        "kubernetes 1.37\ngates { DRADeviceBindingConditions: false }\n"
        "scheduler { pluginConfig: [{ name: DynamicResources, args: { bindingTimeout: 5s } }] }\n"
    )
    messages = [item.message for item in analysed(text, tmp_path).diagnostics]
    assert messages == ["`bindingTimeout` needs gate `DRADeviceBindingConditions`, which is off"]


def test_other_versions_and_second_configurations_are_refused(tmp_path):
    old = YAML.replace("k8s.io/v1", "k8s.io/v1beta3")
    assert [item.code for item in analysed('use "scheduler.yaml"\n', tmp_path, old).diagnostics][:1] == ["DRA0406"]
    twice = YAML + "---\n" + YAML
    assert "DRA0208" in [item.code for item in analysed('use "scheduler.yaml"\n', tmp_path, twice).diagnostics]


def test_the_table_of_plugins_is_that_of_the_scheduler():
    environment = Workshop().environment(Settings("1.37", {}, {}))
    assert isinstance(environment, Environment)
    plugins = Simulation(environment).scheduler.plugins
    assert [plugin.name for plugin in plugins] == [name for name in MODELLED if name != "GangScheduling"]
    assert {plugin.name: plugin.weight for plugin in plugins if plugin.has_score} == dict(WEIGHTS)
    assert [plugin.name for plugin in plugins if plugin.has_filter] == list(IMPLEMENTED["filter"])
    assert [plugin.name for plugin in plugins if plugin.has_post_filter] == list(IMPLEMENTED["postFilter"])
    assert set(MODELLED) < set(DEFAULT_PLUGINS)
