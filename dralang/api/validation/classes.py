"""DeviceClass.

Source: validateDeviceClassSpec in pkg/apis/resource/validation (1.37); KEP-6406 for capacity requests.
"""

from dralang.api.device import CapacityRequirements
from dralang.api.deviceclass import DeviceClassSpec
from dralang.api.validation import formats, limits
from dralang.api.validation.claims import configuration, selector_list
from dralang.api.validation.context import ValidationContext
from dralang.api.validation.errors import Errors, invalid, too_many


def device_class(spec: DeviceClassSpec, old: DeviceClassSpec | None, context: ValidationContext, out: Errors) -> None:
    """The spec of a class; selectors and configuration that did not change count as stored."""
    stored = old is not None and spec.selectors == old.selectors
    selector_list(spec.selectors, "spec.selectors", context, out, stored=stored)
    stored = old is not None and spec.config == old.config
    if len(spec.config) > limits.CLAIM_MAX_CONFIGS:
        out.append(too_many("spec.config", len(spec.config), limits.CLAIM_MAX_CONFIGS, covered=True))
    else:
        for index, config in enumerate(spec.config):
            configuration(config.opaque, f"spec.config[{index}]", out, stored=stored)
    name = spec.extended_resource_name
    if name is not None and not formats.is_extended_resource_name(name):
        text = "must be a valid extended resource name"
        out.append(invalid("spec.extendedResourceName", name, text, covered=True))
    if spec.extended_resource_capacity_requests is not None:
        _capacity_requests(spec.extended_resource_capacity_requests, out)


def _capacity_requests(requirements: CapacityRequirements, out: Errors) -> None:
    """What KEP-6406 asks for; the same field of a claim's request is not looked at by any released server."""
    path = "spec.extendedResourceCapacityRequests.requests"
    for name, amount in requirements.requests.items():
        formats.qualified_name(name, path, out)
        if amount.sign <= 0:
            out.append(invalid(f"{path}[{name}]", amount, "must be greater than zero"))
