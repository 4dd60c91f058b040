"""The codes of reading Kubernetes objects: fields, types and values that the API does not decode."""

from dralang.diagnostics.code import Code

API_CODES: dict[str, Code] = {
    "DRA0301": Code(
        title="unknown field",
        explanation=(
            "The API type has no field of this name. An API server refuses such an object when fields are validated "
            "strictly, as kubectl asks for by default; otherwise it would silently ignore the field. Field names are "
            "case-sensitive and are those of the API version of the object: `resource.k8s.io/v1` wraps a plain request "
            "in `exactly`, for example. Names that may have been meant are listed with the error."
        ),
        example=("class gpu {\n  where `true`\n  extendedResource: example.com/gpu\n}\n"),
    ),
    "DRA0302": Code(
        title="value of the wrong type",
        explanation=(
            "The field holds another type: a list where one value stands, text where a number is needed, a number "
            'where text is needed. Kubernetes converts nothing: `"2"` is no integer, and `1.5` is none either. The '
            "`string` of an attribute needs quotes in YAML where the text looks like a number or a boolean."
        ),
        example=("class gpu { where `true` }\nclaim shared {\n  request gpu: 1 of gpu { adminAccess: sometimes }\n}\n"),
    ),
    "DRA0303": Code(
        title="malformed quantity",
        explanation=(
            "A quantity is a number with an optional suffix: `n` `u` `m` `k` `M` `G` `T` `P` `E` (powers of ten), "
            "`Ki` `Mi` `Gi` `Ti` `Pi` `Ei` (powers of 1024), or an exponent such as `e3`. There is no space before the "
            "suffix, and case counts: `1m` is one thousandth, `1M` a million, and `1K` and `1GB` are no quantities."
        ),
        example=(
            "node worker-1\n"
            "\n"
            "slice gpus {\n"
            "  driver: gpu.example.com\n"
            "  nodeName: worker-1\n"
            "  device gpu-0 { capacity { memory: 80GB } }\n"
            "}\n"
        ),
    ),
    "DRA0304": Code(
        title="number out of range",
        explanation=(
            "Integers of the API have 64 bits, or 32 where the API says so (ports, priorities, replicas). A larger or "
            "smaller number cannot be read."
        ),
        example=("priority high: 3000000000\n"),
    ),
    "DRA0305": Code(
        title="malformed time",
        explanation=(
            "Times are RFC 3339: date, `T`, time of day in whole seconds or with a fraction, and `Z` or an offset such "
            "as `+02:00`. They are shown in UTC."
        ),
        example=(
            "taintrule broken {\n"
            "  deviceSelector { driver: gpu.example.com }\n"
            '  taint { key: gpu.example.com/unhealthy; effect: NoExecute; timeAdded: "2026-01-31 12:00" }\n'
            "}\n"
        ),
    ),
    "DRA0306": Code(
        title="refused by the API server",
        explanation=(
            "The object can be read, but an API server of the chosen version, with the chosen feature gates, would not "
            "store it. The text behind the field is the server's own. Fields of features that are off are dropped "
            "before the server looks, so a request may be refused because its `firstAvailable` is gone, for example."
        ),
        example=('class gpu {\n  where `device.drivr == "gpu.example.com"`\n}\n'),
    ),
    "DRA0312": Code(
        title="a remark of the API server",
        explanation=(
            "An API server takes the object, and warns of it: the warning that `kubectl apply` would print. Names of "
            "drivers should be lowercase, older versions of an API go away at some time. Objects that were captured "
            "from a cluster often have lost the UIDs of their owners: a server would refuse them, a spec takes them as "
            "they are."
        ),
        example=("node worker-1\n\nslice gpus {\n  driver: GPU.example.com\n  nodeName: worker-1\n  device gpu-0\n}\n"),
    ),
}
