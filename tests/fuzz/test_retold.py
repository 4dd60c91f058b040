"""Oracles that tell a story otherwise find nothing in sound stories, and pass over what they cannot tell soundly."""

import pytest

from dralang.api.resourceslice import ResourceSlice
from dralang.check.analysis import Analyzer
from dralang.fuzz import retold
from dralang.fuzz.renaming import renaming_of
from dralang.fuzz.retold import ORACLES, objects_of
from dralang.run.player import play
from dralang.run.workshop import Workshop

ORACLE = {each.name: each for each in ORACLES}
HEAD = """kubernetes {version}
gates {{ {gates} }}
node w
class gpu {{ where `{where}` }}
"""
IS_GPU = 'device.driver == "gpu.example.com"'


def story(body, version="1.37", gates="", where=IS_GPU):
    text = HEAD.format(version=version, gates=gates, where=where) + body
    analysis = Analyzer().text(None, "t.dra", text.encode())
    assert [each.message for each in analysis.diagnostics if each.severity == "error"] == []
    [scenario] = analysis.scenarios
    assert play(scenario, Workshop()).failures == ()
    return scenario


def found(name, scenario):
    failure = retold.ask(ORACLE[name], scenario, Workshop())
    return None if failure is None else failure.actual


def slices(pool, *devices):
    """A pool of slices, each with the devices of a text."""
    return "".join(
        f"slice s{number} {{ driver: gpu.example.com; nodeName: w; "
        f"pool: {{ name: {pool}, resourceSliceCount: {len(devices)} }}; {each} }}\n"
        for number, each in enumerate(devices)
    )


def many(count, first=0):
    return "; ".join(f"device d-{number}" for number in range(first, first + count))


# ---- useless devices ------------------------------------------------------------------------------------------------

TWO = """template t { request one: 2 of gpu }
pod p { claim c from t }
scenario "s" { create p; settle; expect p runs }
"""


@pytest.mark.parametrize("version", ["1.34", "1.35", "1.36", "1.37", "1.38"])
@pytest.mark.parametrize(
    "devices",
    [
        ["device a; device b"],
        ["device a", "device b; device c"],
        ["device a", "device b", "device c", "device zz-useless-1"],
        [many(64)],
        [many(63), many(64, 100)],
        [many(128)],
    ],
)
def test_useless_devices_make_no_pool_invalid(devices, version):
    scenario = story(slices("beta", *devices) + TWO, version)
    told = retold._with_useless_devices(scenario, Workshop().environment(scenario.settings).profile)
    names = [
        device.name
        for each in objects_of(told.other)
        if isinstance(each, ResourceSlice)
        for device in each.spec.devices
    ]
    assert len(names) == len(set(names))
    assert found("useless-devices-change-nothing", scenario) is None


def test_useless_devices_stand_in_what_is_published_later():
    later = "publish slice s0 { driver: gpu.example.com; nodeName: w; pool: { name: beta }; device b; device c }"
    body = slices("beta", "device a") + TWO.replace("create p", f"create p; {later}")
    assert found("useless-devices-change-nothing", story(body)) is None


# ---- other names ----------------------------------------------------------------------------------------------------

ONE_GPU = (
    "slice g { driver: gpu.example.com; nodeName: w; device g-0 { attributes { numa: 1; name: gpu.example.com } } }\n"
)
ENDING = """pod p { claim c from t }
scenario "s" { create p; settle; expect p runs }
"""
DERIVED = """template t {
  request r: 1 of gpu { derive NAME = `EXPRESSION` }
  match NAME
}
"""
WITH_DERIVED = "DRADerivedAttributes: true"


@pytest.mark.parametrize("name", ["derived/n", "gpu.example.com/n"])
@pytest.mark.parametrize(
    "expression",
    [
        'device.attributes["gpu.example.com"].numa',
        'device.driver == "gpu.example.com" ? device.attributes["gpu.example.com"].numa : 0',
        '"gpu.example.com" in device.attributes',
        "device.driver",
        'device.driver + "x"',
        '"gpu.example.com" == device.driver',
    ],
)
def test_derived_attributes_have_other_names_too(name, expression):
    body = ONE_GPU + DERIVED.replace("NAME", name).replace("EXPRESSION", expression) + ENDING
    assert found("names-do-not-matter", story(body, gates=WITH_DERIVED)) is None


@pytest.mark.parametrize(
    ("expression", "follows"),
    [
        (IS_GPU, True),
        ('"gpu.example.com" == device.driver', True),
        ('true && "gpu.example.com" == device.driver', True),
        ('device.driver in ["gpu.example.com", "a"]', True),
        ("device.attributes['gpu.example.com'].numa == 1", True),
        ('"gpu.example.com" in device.attributes', True),
        ('device.attributes["gpu.example.com"].name.startsWith("gpu")', True),
        ('!device.allowMultipleAllocations && device.attributes["gpu.example.com"].name != \'a"b\'', True),
        ('device.attributes["gpu.example.com"].name == "gpu.example.com"', False),
        ('device.driver == device.attributes["gpu.example.com"].name', False),
        ('device.attributes["gpu.example.com"].name == device.driver', False),
        ('device.driver.startsWith("gpu")', False),
        ('device.driver < "h"', False),
        ('device.driver == "gpu" + ".example.com"', False),
        ('"gpu." + "example.com" == device.driver', False),
        ('["gpu.example.com"].exists(d, d == device.driver)', False),
        ('device.attributes.exists(k, k.startsWith("gpu"))', False),
        ('device.attributes["gpu." + "example.com"].numa == 1', False),
        ('device.driver == "gpu.example.com" // the GPU\'s driver', False),
    ],
)
def test_an_expression_has_other_names_or_the_story_is_passed_over(expression, follows):
    body = ONE_GPU + "template t { request r: 1 of gpu }\n" + ENDING
    scenario = story(body, where=expression)
    assert (renaming_of(objects_of(scenario), scenario.steps) is not None) == follows
    assert found("names-do-not-matter", scenario) is None


def test_labels_with_the_domain_of_a_driver_keep_their_names():
    body = """node x { labels { gpu.example.com/kind: big } }
slice g {
  driver: gpu.example.com
  nodeSelector {
    nodeSelectorTerms: [{ matchExpressions: [{ key: gpu.example.com/kind, operator: In, values: [big] }] }]
  }
  device g-0
}
template t { request r: 1 of gpu }
pod p { claim c from t; nodeSelector { gpu.example.com/kind: big } }
scenario "s" { create p; settle; expect p runs on x }
"""
    assert found("names-do-not-matter", story(body)) is None


def test_pods_share_the_claim_of_a_group_with_other_names_too():
    body = (
        ONE_GPU
        + """template t { request r: 1 of gpu }
podgroup many {
  schedulingPolicy { basic {} }
  resourceClaims: [{ name: c, resourceClaimTemplateName: t }]
}
pod p-[1..2] {
  schedulingGroup { podGroupName: many }
  resourceClaims: [{ name: c, resourceClaimTemplateName: t }]
}
scenario "s" { create many; create p-1; create p-2; settle; expect p-1, p-2 run }
"""
    )
    gates = "GenericWorkload: true, DRAWorkloadResourceClaims: true"
    assert found("names-do-not-matter", story(body, gates=gates)) is None
