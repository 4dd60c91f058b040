"""Images that nodes have already: a pod had better run where its images are.

Source: kubernetes pkg/scheduler/framework/plugins/imagelocality, pkg/scheduler/backend/cache/cache.go (image states).
"""

from collections.abc import Sequence

from dralang.api.nodes import Node
from dralang.api.pods import Pod
from dralang.scheduler.framework import MAX_NODE_SCORE, SKIP, SUCCESS, CycleState, Plugin, StateKey, Status
from dralang.scheduler.node_info import NodeCache, NodeInfo, PodInfo

_MIB = 1024 * 1024
_LEAST = 23 * _MIB
"""Images that are smaller together make no difference."""
_MOST = 1000 * _MIB
"""Per image: what is larger counts no more."""


class ImageWorth:
    """What each image of a pod is worth on a node that has it."""

    __slots__ = ("worth",)

    def __init__(self, worth: dict[str, int]) -> None:
        self.worth = worth

    def clone(self) -> "ImageWorth":
        """The same object: nobody changes it."""
        return self


WORTH = StateKey[ImageWorth]("ImageLocality")


class ImageLocality(Plugin):
    """Prefers nodes with large images of the pod, the more the more nodes have them."""

    name = "ImageLocality"
    has_score = True

    def __init__(self, cache: NodeCache) -> None:
        self._cache = cache

    def pre_score(self, state: CycleState, info: PodInfo, nodes: Sequence[NodeInfo]) -> Status:
        """What each image of the pod is worth; without images on any node all nodes are the same."""
        if not self._cache.with_images:
            return SKIP
        everywhere = self._cache.nodes()
        sizes: dict[str, list[int]] = {name: [] for name in _images_of(info.pod)}
        for node in everywhere:
            for name, size in _sizes_on(node.api).items():
                if name in sizes:
                    sizes[name].append(size)
        # Of nodes that disagree about the size of an image, the first is believed.
        worth = {name: int(found[0] * (len(found) / len(everywhere))) for name, found in sizes.items() if found}
        state.write(WORTH, ImageWorth(worth))
        return SUCCESS

    def score(self, state: CycleState, info: PodInfo, node: NodeInfo) -> int:
        """The size of the pod's images that are there, each by the share of nodes that have it."""
        images = _images_of(info.pod)
        found = state.read(WORTH)
        if not images or found is None:
            return 0
        there = _sizes_on(node.api)
        total = sum([found.worth[name] for name in images if name in there])
        most = _MOST * len(images)
        return MAX_NODE_SCORE * (min(max(total, _LEAST), most) - _LEAST) // (most - _LEAST)


def _sizes_on(node: Node) -> dict[str, int]:
    """The images of a node."""
    result: dict[str, int] = {}
    for image in node.status.images:
        for name in image.names:
            result.setdefault(name, image.size_bytes)
    return result


def _images_of(pod: Pod) -> list[str]:
    """The images of the containers and of image volumes."""
    spec = pod.spec
    volumes = [volume.image.reference for volume in spec.volumes if volume.image is not None]
    named = [each.image for each in (*spec.init_containers, *spec.containers)]
    return [_with_tag(name) for name in (*named, *volumes)]


def _with_tag(name: str) -> str:
    return name if name.rfind(":") > name.rfind("/") else f"{name}:latest"
