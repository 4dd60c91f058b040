"""Device expressions as the allocator sees them: neutral ground between the allocator and the CEL unit.

Source: kubernetes/dynamic-resource-allocation ``cel`` (compile and evaluate), described without its Go types.
"""

from collections.abc import Callable
from typing import Literal, Protocol, TypeAlias, runtime_checkable

from dralang.api.resourceslice import Device, DeviceAttribute


class ExpressionError(Exception):
    """An expression that does not compile, or fails on a device; ``message`` is the text Kubernetes gives."""

    def __init__(self, message: str, phase: Literal["compile", "runtime"]) -> None:
        super().__init__(message)
        self.message = message
        self.phase: Literal["compile", "runtime"] = phase


PreparedDevice: TypeAlias = object
"""A device as the evaluator wants it; only the evaluator that made it looks inside."""


class DeviceExpressions(Protocol):
    """Compiles and evaluates the expressions of one environment (stored expressions of one Kubernetes version)."""

    def prepare(self, driver: str, device: Device) -> PreparedDevice:
        """Return the device in the form the evaluator wants; built once per device and slice generation.

        Never fails: a device that Kubernetes cannot convert (an attribute without a value, a version that is no
        semantic version) makes every evaluation on it fail with an ``ExpressionError``.
        """
        ...

    def selector(self, expression: str) -> Callable[[PreparedDevice], bool]:
        """Return the compiled selector; the same text gives the same object.

        Raises:
            ExpressionError: phase ``compile`` if it does not compile; the returned callable raises phase ``runtime``.
        """
        ...

    def derived(self, expression: str) -> Callable[[PreparedDevice], DeviceAttribute]:
        """Return the compiled derived attribute; errors as for ``selector``."""
        ...


DecidingPart: TypeAlias = tuple[str, tuple[str, ...]]
"""A part of an expression, and what it found on the device, in words."""


@runtime_checkable
class ExplainingExpressions(Protocol):
    """Expressions that can also say why."""

    def deciding_parts(self, expression: str, device: PreparedDevice) -> tuple[DecidingPart, ...]:
        """Return the parts of a selector that make it false on a device."""
        ...


@runtime_checkable
class ForgivingExpressions(Protocol):
    """Expressions that can be told what to make of a device with an attribute that cannot be used."""

    def prepare_as(self, driver: str, device: Device, *, forgiving: bool) -> PreparedDevice:
        """Return the device as ``prepare`` does, whatever the version makes of an attribute that cannot be used.

        Args:
            driver: the driver of the device.
            device: the device.
            forgiving: only expressions that look at such an attribute fail, instead of all.
        """
        ...
