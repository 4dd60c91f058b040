"""Which device class serves an extended resource name.

Source: k8s.io/dynamic-resource-allocation deviceclass/extendedresourcecache.
"""

from dralang.api.deviceclass import DeviceClass

IMPLICIT_PREFIX = "deviceclass.resource.kubernetes.io/"


class ClassNames:
    """Extended resource names and their classes. Only the scheduler's informer changes it.

    Args:
        recomputes: whether the mapping always follows from all existing classes (1.38). In 1.37 a class that loses a
            clash gets no entry at all, and a name that is given up does not go to another class that has it.
    """

    def __init__(self, *, recomputes: bool) -> None:
        self._recomputes = recomputes
        self._classes: dict[str, DeviceClass] = {}
        self._by_name: dict[str, DeviceClass] = {}

    def class_for(self, resource: str) -> DeviceClass | None:
        """The class that serves a resource name, or None."""
        return self._by_name.get(resource)

    def update(self, old: DeviceClass | None, new: DeviceClass | None) -> None:
        """A class was added, changed or deleted."""
        if old is not None:
            self._classes.pop(old.metadata.name, None)
        if new is not None:
            self._classes[new.metadata.name] = new
        if self._recomputes:
            self._by_name = {}
            for name in sorted(self._classes):
                class_ = self._classes[name]
                if not self._loses(class_):
                    self._enter(class_)
                self._by_name[IMPLICIT_PREFIX + name] = class_
        elif new is None:
            if old is not None:
                self._leave(old)
        elif not self._loses(new):
            if old is not None:
                self._leave(old)
            self._enter(new)

    def _loses(self, candidate: DeviceClass) -> bool:
        explicit = candidate.spec.extended_resource_name
        holder = self._by_name.get(explicit) if explicit else None
        return holder is not None and not _wins(candidate, holder)

    def _enter(self, class_: DeviceClass) -> None:
        if class_.spec.extended_resource_name:
            self._by_name[class_.spec.extended_resource_name] = class_
        self._by_name[IMPLICIT_PREFIX + class_.metadata.name] = class_

    def _leave(self, class_: DeviceClass) -> None:
        if class_.spec.extended_resource_name:
            self._by_name.pop(class_.spec.extended_resource_name, None)
        self._by_name.pop(IMPLICIT_PREFIX + class_.metadata.name, None)


def _wins(candidate: DeviceClass, holder: DeviceClass) -> bool:
    """Newer classes win, then the smaller name; a class does not win against itself."""
    mine = candidate.metadata.creation_timestamp or ""
    theirs = holder.metadata.creation_timestamp or ""
    if mine != theirs:
        return mine > theirs
    return candidate.metadata.name < holder.metadata.name
