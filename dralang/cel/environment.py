"""Environments: what an expression may use, by Kubernetes version, feature gates and whether it is new or stored.

Source: k8s.io/dynamic-resource-allocation cel/compile.go; k8s.io/apiserver pkg/cel/environment/base.go.
"""

from functools import cache
from typing import Final

from msgspec import Struct

from dralang.cel import types
from dralang.cel.check import Scope
from dralang.cel.declarations import functions
from dralang.cel.macros import macro_names
from dralang.cel.suggestions import Catalog
from dralang.cel.types import Type

OLDEST: Final = 34
NEWEST: Final = 38
DEFAULT: Final = 37
_LISTS_SINCE: Final = 36
_LATEST_SINCE: Final = 38
_ESCAPES_SINCE: Final = 37
_STANDARD_TYPES: Final = (
    *("bool", "bytes", "double", "google.protobuf.Duration", "int", "list", "map", "null_type", "string"),
    *("google.protobuf.Timestamp", "type", "uint"),
)


class Environment(Struct, frozen=True):
    """One environment.

    Attributes:
        minor: the minor version of Kubernetes.
        new: for new or changed expressions, where gates count; otherwise for stored ones.
        lists: gate DRAListTypeAttributes.
        multiple: gate DRAConsumableCapacity.
    """

    minor: int = DEFAULT
    new: bool = False
    lists: bool = True
    multiple: bool = True

    @property
    def list_functions(self) -> bool:
        """Whether cel-go's list library is there: new expressions get a library one version late."""
        return self.minor > OLDEST or not self.new

    @property
    def list_attributes(self) -> bool:
        """Whether the values of devices may be lists."""
        return self.minor >= 37 or (self.minor == _LISTS_SINCE and self.lists)

    @property
    def dynamic(self) -> bool:
        """Whether attributes have type dyn (then macros take them); before, and with the gate off, it is any."""
        if self.minor == _LISTS_SINCE:
            # There, the gate counts for stored expressions as well.
            return self.lists
        return self.minor > _LISTS_SINCE and (self.lists or not self.new)

    @property
    def includes(self) -> bool:
        """Whether ``includes`` is there."""
        if self.minor >= 38:
            return True
        return self.minor >= _LISTS_SINCE and (self.lists or not self.new)

    @property
    def escaped_names(self) -> bool:
        """Whether names behind a dot may stand in backticks."""
        return self.minor >= _ESCAPES_SINCE

    @property
    def attribute_type(self) -> Type:
        """The static type of an attribute."""
        return types.DYN if self.dynamic else types.ANY

    @property
    def lists_derived(self) -> bool:
        """Whether a derived attribute may be a list."""
        return self.lists or not self.new


def parse_minor(version: str) -> int:
    """The minor version that ``1.37`` or ``v1.37.2`` means.

    Raises:
        ValueError: not a version that is modelled.
    """
    parts = version.removeprefix("v").split(".")
    if len(parts) < 2 or parts[0] != "1" or not parts[1].isdigit() or not OLDEST <= int(parts[1]) <= NEWEST:
        raise ValueError(f"no CEL environment for Kubernetes `{version}`; there are 1.{OLDEST} to 1.{NEWEST}")
    return int(parts[1])


@cache
def scope_of(environment: Environment) -> Scope:
    """What the checker must know of an environment."""
    attributes = types.map_of(types.STRING, types.map_of(types.STRING, environment.attribute_type))
    fields = {
        "driver": types.STRING,
        "attributes": attributes,
        "capacity": types.map_of(types.STRING, types.map_of(types.STRING, types.QUANTITY)),
    }
    if environment.multiple or not environment.new:
        fields["allowMultipleAllocations"] = types.BOOL
    latest = environment.minor >= _LATEST_SINCE
    known = functions(
        lists=environment.list_functions,
        includes=environment.includes,
        masks=latest and not environment.new,
        wide=latest,
    )
    catalog = Catalog({"device", *known, *_STANDARD_TYPES, *macro_names()}) if latest else None
    return Scope(known, fields, container="" if latest else " (in container '')", strict=latest, catalog=catalog)
