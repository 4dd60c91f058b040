"""The codes of checking what names and values mean, of reading manifests, and of running scenarios.

Each example is a whole `.dra` text that provokes its code (of manifests: the YAML text); a test runs them.
"""

from typing import Final

from dralang.diagnostics.code import Code

_NAMES: Final[dict[str, Code]] = {
    "DRA0201": Code(
        title="there is nothing of that name",
        explanation=(
            "Everything that a spec names must be declared: in the file, in a file that it uses, or in the scenario "
            "above the line. Names are those of Kubernetes objects; `namespace/name` means one outside of `default`. "
            "Claims that a controller makes from templates are spoken of through their pod: `serve's claim gpu`."
        ),
        example='scenario "a typo" {\n  create trian\n}\n',
    ),
    "DRA0202": Code(
        title="declared twice",
        explanation=(
            "Two objects of one kind and namespace, two fixtures, requests, claims of a pod or scenarios have the same "
            "name. In a cluster the second would replace the first or be refused, and a report could not tell two "
            "scenarios apart."
        ),
        example="node worker-1\nnode worker-1\n",
    ),
    "DRA0203": Code(
        title="never used",
        explanation=(
            "A class that no request asks for, a template without a pod, a pod that no scenario creates: mostly a "
            "misspelt name elsewhere, or a line that is not needed any more. A file without scenarios is a library, "
            "and nothing in it counts as unused."
        ),
        example='pod idle\n\nscenario "nothing happens" {\n  expect all pods are settled\n}\n',
    ),
    "DRA0204": Code(
        title="the name means several objects",
        explanation=(
            "Without a kind word the sentence decides which kind a name means; here it fits several objects. Write the "
            "kind word before the name, or more of the device's name (driver/pool/device, from any `/` on)."
        ),
        example=(
            "node a\nnode b\n"
            "slice a-gpus { driver: gpu.example.com; nodeName: a; device gpu-0 }\n"
            "slice b-gpus { driver: gpu.example.com; nodeName: b; device gpu-0 }\n\n"
            'scenario "which one" {\n  expect device gpu-0 is free\n}\n'
        ),
    ),
    "DRA0205": Code(
        title="`${...}` cannot be computed",
        explanation=(
            "Between `${` and `}` stand integers, strings in double quotes, parameters, `+ - * / %` (integer division) "
            "and parentheses. Parameters come from a fixture's head, a scenario's table, `repeat N as i` and ranges "
            "with `as i`. A list or map can only be a whole value, never part of a word."
        ),
        example="node worker-${n}\n",
    ),
    "DRA0206": Code(
        title="not a range",
        explanation=(
            "A range touches the name and has two ends, both included: `gpu-[0..3]`; `[00..11]` keeps its width, "
            "`[0..3 as i]` gives the number to the body, several ranges multiply. Where one name is needed, a range of "
            "several is an error. A word stands for at most 10,000 names."
        ),
        example="node worker-[1-4]\n",
    ),
    "DRA0207": Code(
        title="a line that has no place here",
        explanation=(
            "Lines that are no fields (`device`, `request`, `where`, `taint`, ...) belong into certain blocks: the "
            "message says which. Settings are the first statements of a file or scenario; fixtures hold declarations."
        ),
        example="node worker-1 {\n  device gpu-0\n}\n",
    ),
    "DRA0208": Code(
        title="given twice",
        explanation="A field or setting stands twice in one block; one of the two would be lost.",
        example="priority low: 10 {\n  description: a\n  description: b\n}\n",
    ),
    "DRA0210": Code(
        title="a file that cannot be used",
        explanation=(
            '`use "path"` takes `.dra`, YAML and JSON files of the project: the nearest folder above the spec with a '
            "`dralang.toml` or `.git`. Paths start at the file that uses them. Files must not use each other in a "
            "circle. `use std.x.y` takes a module of the standard library."
        ),
        example='use "missing.yaml"\n',
    ),
    "DRA0211": Code(
        title="a call that does not fit its fixture",
        explanation=(
            "Arguments stand in the order of the parameters or by name (`gpus: 2`); every parameter without a default "
            "needs one. A range in an argument makes one instance of each name. Fixtures nest at most 20 deep."
        ),
        example="fixture gpu-node(name) {\n  node ${name}\n}\ngpu-node(a, b)\n",
    ),
    "DRA0212": Code(
        title="a table that cannot be read",
        explanation=(
            "`for X in [a, b]`, `for X in 1..3` and `for (X, Y) in [(a, b), (c, d)]` make one scenario for each row. "
            "Every row has as many values as there are names, and there is at least one row."
        ),
        example='scenario "rows" for (a, b) in [(1, 2), (3)] {\n  expect all pods are settled\n}\n',
    ),
    "DRA0213": Code(
        title="only in a fuzz",
        explanation=(
            "`any ...`, `maybe`, `any order of` and `compare with` leave a choice to the fuzzer. A scenario is a story "
            "with one course: choose, or write `fuzz` in place of `scenario`."
        ),
        example='pod a\n\nscenario "open end" {\n  maybe create a\n  expect all pods are settled\n}\n',
    ),
    "DRA0214": Code(
        title="a setting that does not exist",
        explanation=(
            "The version is one of those that are modelled. Feature gates have their Kubernetes names, in the version "
            "that is modelled; a gate that is locked there cannot be switched, and a gate needs those that it depends "
            "on. Quirks are the known faults of the real allocator, by our names."
        ),
        example="kubernetes 1.37\ngates { DRAPartitionableDevice: false }\n",
    ),
    "DRA0216": Code(
        title="a manifest that refers to something unknown",
        explanation=(
            "An object of a manifest names a class, template, node or priority class that none of the files has. In a "
            "cluster the object would be taken, and the pod would wait; so this is a warning. Load the manifest that "
            "has it, or declare it as its owner publishes it."
        ),
        example="",
    ),
    "DRA0217": Code(
        title="a scenario that expects nothing",
        explanation="Without an expectation a scenario passes whatever happens, unless a statement fails.",
        example='pod a\n\nscenario "silence" {\n  create a\n}\n',
    ),
    "DRA0218": Code(
        title="a hole for which there is nothing",
        explanation=(
            "`any pod` is one that exists at that moment, as far as the text tells; `create any pod` one that was not "
            "created yet. Where there is none, the statement is left out of the story, and nobody looks at an "
            "expectation. That is so in the smallest story and in the largest, so it may be so in all."
        ),
        example='pod a\n\nfuzz "too early" {\n  expect any pod is pending\n  create a\n}\n',
    ),
    "DRA0219": Code(
        title="a pod that the scenario does not create",
        explanation=(
            "A pod exists from its `create` on, and this scenario has none for it. What is said of it is settled "
            "then: it `does not run`, is not pending and was not preempted, and `never` holds. So the sentence says "
            "nothing, or the name is not the one that is meant."
        ),
        example='pod a\npod b\n\nscenario "whom" {\n  create a\n  expect b does not run\n}\n',
    ),
    "DRA0220": Code(
        title="true or false whatever happens",
        explanation=(
            "`at least 0` holds of everybody, `at most 2` of two pods always, and an expression that reads no object "
            "has one value. A sentence that cannot fail tests nothing; one that cannot hold fails, or, after `never`, "
            "tests nothing."
        ),
        example='pod a\n\nscenario "any number" {\n  create a\n  expect at least 0 of a run\n}\n',
    ),
    "DRA0221": Code(
        title="a taint rule that selects nothing",
        explanation=(
            "A DeviceTaintRule taints the devices whose driver, pool and name are those of its selector, and there is "
            "no such device in the slices of this file and its scenarios. Nobody is kept from a device by it, and "
            "nobody is evicted; mostly one of the names is misspelt."
        ),
        example=(
            "node a\nslice a-gpus { driver: gpu.example.com; nodeName: a; device gpu-0 }\n"
            "taintrule broken { deviceSelector { driver: gpu.exmple.com }; taint example.com/broken:NoExecute }\n\n"
            'scenario "calm" {\n  expect device gpu-0 is free\n}\n'
        ),
    ),
    "DRA0222": Code(
        title="a fault that changes nothing",
        explanation=(
            "`pause`, `delay` and `fail next` change what happens from then on. At the end of a scenario nothing does, "
            "unless a property makes it settle. A component that is paused cannot be paused again, and one that is "
            "not has nothing to resume. A second `delay` of a component, and a second `fail next` of an operation on "
            "an object, replaces the first one. Whether a call that is to fail will ever be made is not known before "
            "the run: expect what comes of its failure."
        ),
        example='node w\npod a\n\nscenario "too late" {\n  create a\n  expect a runs\n  pause kubelet\n}\n',
    ),
}

_VALUES: Final[dict[str, Code]] = {
    "DRA0307": Code(
        title="not a duration",
        explanation=(
            "Times of the story are written as number and unit: `250ms`, `10s`, `1m30s`, `2h`. There is no default "
            "unit: `at 10` could mean anything. Fields of the API that end in `Seconds` take a plain number."
        ),
        example='pod a\n\nscenario "when" {\n  at 10 create a\n  expect a is pending\n}\n',
    ),
    "DRA0308": Code(
        title="a number that makes no sense here",
        explanation="Counts are whole numbers; a request asks for at least one device (`all of` for every one).",
        example="class gpu { where `true` }\nclaim none { request gpu: 0 of gpu }\n",
    ),
    "DRA0309": Code(
        title="not a name that can stand here",
        explanation=(
            "Parameters are written with letters, digits and `_`; kinds without namespaces take no `namespace/`; a "
            "glob stands for several objects and cannot stand where one is needed; a scenario has a title."
        ),
        example="node team-a/worker-1\n",
    ),
    "DRA0310": Code(
        title="a state that this cannot have",
        explanation=(
            "Pods run, are pending, terminating, gone, settled, succeeded, failed, ready, nominated, preempted or "
            "evicted; claims are allocated, reserved, terminating or gone; devices are free, in-use or tainted; "
            "conditions are true, false or unknown."
        ),
        example=(
            "node a\nslice s { driver: gpu.example.com; nodeName: a; device gpu-0 }\n\n"
            'scenario "odd" {\n  expect device gpu-0 is pending\n}\n'
        ),
    ),
    "DRA0311": Code(
        title="time does not run backwards",
        explanation="`at` times are counted from the start of the scenario; statements stand in their order.",
        example='pod a\n\nscenario "back" {\n  at 10s create a\n  at 5s expect a is pending\n}\n',
    ),
    "DRA0313": Code(
        title="a scheduler configuration that cannot be followed",
        explanation=(
            "`scheduler { ... }` and `use` of a KubeSchedulerConfiguration (v1) have the fields of Kubernetes: the "
            "backoff times, percentageOfNodesToScore, plugins on and off at multiPoint, preFilter, filter, "
            "postFilter, preScore and score, weights, and the arguments of DynamicResources, NodeResourcesFit, "
            "NodeResourcesBalancedAllocation and InterPodAffinity. What would change decisions and is not modelled is "
            "refused by name: extenders, further profiles, plugins and arguments that the simulated scheduler does not "
            "have. Leader election, client connection, parallelism and profiling change no decision and are taken. A "
            "`scheduler` block also has `ties`, a number from 0: which of several equally good nodes is taken."
        ),
        example='scheduler {\n  extenders: [{ urlPrefix: "http://scorer" }]\n}\n',
    ),
    "DRA0314": Code(
        title="a field that the API server forgets",
        explanation=(
            "The field belongs to a feature whose gate is off for this version. A real API server takes such an object "
            "without a word and stores it without the field, and so does the simulated one, for objects that are "
            "declared, created, changed or made by controllers. A field that the stored object uses already stays "
            "there. Switch the gate on (`gates { ... }`), choose a version in which it is on, or leave the field out."
        ),
        example="pod train { schedulingGroup: { podGroupName: team } }\n",
    ),
}

_MANIFESTS: Final[dict[str, Code]] = {
    "DRA0401": Code(
        title="not YAML",
        explanation=(
            "The text is neither YAML nor JSON. Templates (Helm charts with `{{ ... }}`) are not YAML before they are "
            "rendered: use the output of `helm template`, or of `kustomize build`."
        ),
        example="a: [1, 2\nb: 3\n",
    ),
    "DRA0402": Code(
        title="a key given twice",
        explanation="One of the two values would be lost; the API server refuses such a text as well.",
        example="kind: Node\nkind: Pod\n",
    ),
    "DRA0403": Code(
        title="a manifest that is too large",
        explanation=(
            "Files are read up to 16 MiB, 100 levels deep and 4,000,000 values; aliases must not multiply a document "
            "beyond that. Leave out what the scenario does not need: a dump can be made of some kinds only."
        ),
        example="",
    ),
    "DRA0404": Code(
        title="a key that is no text",
        explanation="Keys of Kubernetes objects are texts.",
        example="? [a, b]\n: c\n",
    ),
    "DRA0405": Code(
        title="not a Kubernetes object",
        explanation=(
            "Every object starts with `apiVersion` and `kind` and has a `metadata.name`. Capital letters count: a "
            "server knows the kind `ResourceClaim` and no `resourceclaim`."
        ),
        example="metadata:\n  name: gpu\n",
    ),
    "DRA0406": Code(
        title="a version that the kind does not have",
        explanation="The message lists the versions that are read. Older alpha versions had other fields altogether.",
        example="apiVersion: resource.k8s.io/v1alpha2\nkind: ResourceClaim\nmetadata:\n  name: old\n",
    ),
    "DRA0407": Code(
        title="kinds that are not modelled",
        explanation=(
            "Objects of other kinds (Deployment, Job, ConfigMap, ...) are left out and counted. Nothing makes pods of "
            "a Deployment here: declare the pods that it would make."
        ),
        example="apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: settings\n",
    ),
}

_CEL: Final[dict[str, Code]] = {
    "DRA0501": Code(
        title="CEL of an expectation that does not compile",
        explanation=(
            "An expectation in backticks is CEL over the objects of the cluster: `pods`, `claims`, `nodes`, `slices`, "
            "`classes`, `templates`, `taintrules`, `priorities`, `podgroups`, `pdbs` and `namespaces` are maps from a "
            "name (`namespace/name` outside of `default`) to the object as the API shows it. The place is that of the "
            "error inside the expression. An expectation is true or false."
        ),
        example='scenario "which" {\n  expect `podz.size() == 0`\n}\n',
    ),
    "DRA0502": Code(
        title="a selector that no device can change",
        explanation=(
            "The expression is true, or false, whatever the device is: it looks at nothing of the device, or a part of "
            "it settles the result alone. `true` by itself says on purpose that there is no condition."
        ),
        example="class gpu { where `1 == 1` }\n",
    ),
    "DRA0503": Code(
        title="a selector that compares values of different kinds",
        explanation=(
            "A semantic version is not equal to a text that looks like one, nor a quantity to a text or number: the "
            "comparison is false, or an error. The message names a device whose attribute is of the other kind; "
            '`semver("1.2.3")` and `quantity("40Gi")` make values of the right one.'
        ),
        example=(
            "node n\nslice s { driver: a.example.com; nodeName: n; device a { attributes { version: v1.2.3 } } }\n"
            'class gpu { where `device.attributes["a.example.com"].version == "1.2.3"` }\n'
        ),
    ),
    "DRA0504": Code(
        title="a selector that fails where an attribute is missing",
        explanation=(
            "An expression that reads an attribute which a device does not have is an error, and the error ends the "
            "whole attempt: no device is allocated, not even one that has the attribute. A selector is tried on the "
            "devices that the selectors before it admit, those of its class first. Guard it: `has(...) && ...`."
        ),
        example=(
            "node n\nslice s {\n  driver: a.example.com\n  nodeName: n\n"
            '  device a { attributes { model: "x" } }\n  device b\n}\n'
            'class gpu { where `device.attributes["a.example.com"].model == "x"` }\n'
        ),
    ),
}

_RUN: Final[dict[str, Code]] = {
    "DRA0690": Code(
        title="known to the language, not yet to the run",
        explanation=(
            "The file is checked like any other, but this scenario depends on something whose execution is still "
            "missing. It is refused, never skipped: a suite with a refused scenario is not green."
        ),
        example="",
    ),
}

CHECK_CODES: Final[dict[str, Code]] = {**_NAMES, **_VALUES, **_MANIFESTS, **_CEL, **_RUN}
