"""Objects, devices and claims may be called what the language uses as words."""

import json
import re

import pytest
from reading import elaborated, meanings, written

from dralang.api.decode import from_json
from dralang.api.kinds import KINDS
from dralang.syntax.vocabulary import KEYWORDS, STATES

# `W` is the word.
SHAPES = {
    "Node": {"metadata": {"labels": {"W": "W"}}, "spec": {"taints": [{"key": "W", "value": "W", "effect": "W"}]}},
    "ResourceSlice": {
        "spec": {
            "driver": "W",
            "nodeName": "W",
            "pool": {"name": "W"},
            "devices": [
                {
                    "name": "W",
                    "attributes": {"W": {"string": "W"}},
                    "capacity": {"W": {"value": 1}},
                    "consumesCounters": [{"counterSet": "W", "counters": {"W": {"value": 1}}}],
                }
            ],
            "sharedCounters": [{"name": "W", "counters": {"W": {"value": 1}}}],
        }
    },
    "DeviceClass": {"spec": {"config": [{"opaque": {"driver": "W", "parameters": {"W": {"W": ["W", "W"]}}}}]}},
    "ResourceClaim": {
        "spec": {
            "devices": {
                "requests": [
                    {
                        "name": "W",
                        "exactly": {
                            "deviceClassName": "W",
                            "tolerations": [{"key": "W", "value": "W", "effect": "W", "tolerationSeconds": 1}],
                        },
                    },
                    {"name": "Ws", "firstAvailable": [{"name": "W", "deviceClassName": "W", "allocationMode": "All"}]},
                ],
                "constraints": [{"matchAttribute": "W", "requests": ["W", "W"]}, {"distinctAttribute": "W"}],
            }
        }
    },
    "Pod": {
        "spec": {
            "nodeSelector": {"kubernetes.io/hostname": "W", "W": "W"},
            "schedulerName": "W",
            "resourceClaims": [
                {"name": "W", "resourceClaimName": "W"},
                {"name": "Ws", "resourceClaimTemplateName": "W"},
            ],
            "containers": [{"name": "W", "resources": {"claims": [{"name": "W", "request": "W"}]}, "args": ["W", "W"]}],
            "initContainers": [{"name": "W", "resources": {"claims": [{"name": "W"}], "limits": {"W": 1}}}],
        }
    },
    **{kind: {} for kind in ("Namespace", "PriorityClass", "Workload", "PodGroup", "ResourcePoolStatusRequest")},
}


@pytest.mark.parametrize("kind", SHAPES)
def test_words_of_the_language_are_names_too(kind):
    for word in sorted({*KEYWORDS, *STATES, "null", "true", "inf"}):
        shape = json.loads(re.sub(r'"W(s?)"', rf'"{word}\1"', json.dumps(SHAPES[kind])))
        value = from_json(KINDS[kind].type, {**shape, "metadata": {**shape.get("metadata", {}), "name": word}})
        text = written([value])
        assert meanings(elaborated(text)) == meanings([value]), text
