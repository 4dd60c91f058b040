"""Names, images and ports of containers.

Source: validateContainers, validateInitContainers and validateContainerPorts in pkg/apis/core/validation (1.37).
"""

import re
from collections.abc import Sequence
from typing import Final

from dralang.api.containers import Container, ContainerPort
from dralang.api.pods import PodSpec
from dralang.api.validation import formats
from dralang.api.validation.errors import Errors, duplicate, invalid, not_supported, out_of_range, required

_HIGHEST_PORT: Final = 65_535
_PROTOCOLS: Final = ("SCTP", "TCP", "UDP")
_RESTART: Final = ("Always", "Never", "OnFailure")
_LONGEST_PORT_NAME: Final = 15
_PORT_NAME: Final = re.compile(r"[-a-z0-9]+", re.ASCII)


def containers(spec: PodSpec, path: str, out: Errors) -> None:
    """What each container is called and what it listens to; requests and claims aside."""
    if not spec.containers:
        out.append(required(f"{path}.containers"))
    names: set[str] = set()
    for index, container in enumerate(spec.containers):
        here = f"{path}.containers[{index}]"
        _container(container, here, out)
        if container.name in names:
            out.append(duplicate(f"{here}.name", container.name))
        names.add(container.name)
        for number, port in enumerate(container.ports if spec.host_network else ()):
            if port.host_port and port.host_port != port.container_port:
                text = "must match `containerPort` when `hostNetwork` is true"
                out.append(invalid(f"{here}.ports[{number}].hostPort", port.host_port, text))
    _host_ports(spec.containers, f"{path}.containers", out)
    for index, container in enumerate(spec.init_containers):
        here = f"{path}.initContainers[{index}]"
        _container(container, here, out)
        if container.name in names:
            out.append(duplicate(f"{here}.name", container.name))
        elif container.name:
            names.add(container.name)
        # One runs after the other. The server calls each the first.
        _host_ports((container,), f"{path}.initContainers", out)


def _container(container: Container, path: str, out: Errors) -> None:
    if not container.name:
        out.append(required(f"{path}.name"))
    else:
        formats.label(container.name, f"{path}.name", out)
    if not container.image:
        out.append(required(f"{path}.image"))
    elif container.image != container.image.strip():
        out.append(invalid(f"{path}.image", container.image, "must not have leading or trailing whitespace"))
    if container.restart_policy is not None and container.restart_policy not in _RESTART:
        out.append(not_supported(f"{path}.restartPolicy", container.restart_policy, _RESTART))
    names: set[str] = set()
    for index, port in enumerate(container.ports):
        _port(port, names, f"{path}.ports[{index}]", out)


def _port(port: ContainerPort, names: set[str], path: str, out: Errors) -> None:
    if port.name:
        problems = _port_name_problems(port.name)
        out += [invalid(f"{path}.name", port.name, problem) for problem in problems]
        if not problems:
            if port.name in names:
                out.append(duplicate(f"{path}.name", port.name))
            names.add(port.name)
    if not port.container_port:
        out.append(required(f"{path}.containerPort"))
    for field, number in (("containerPort", port.container_port), ("hostPort", port.host_port)):
        if number and not 0 < number <= _HIGHEST_PORT:
            out.append(out_of_range(f"{path}.{field}", number, 1, _HIGHEST_PORT))
    if port.protocol and port.protocol not in _PROTOCOLS:
        out.append(not_supported(f"{path}.protocol", port.protocol, _PROTOCOLS))


def _port_name_problems(name: str) -> list[str]:
    problems: list[str] = []
    if len(name.encode()) > _LONGEST_PORT_NAME:
        problems.append(f"must be no more than {_LONGEST_PORT_NAME} characters")
    if not _PORT_NAME.fullmatch(name):
        problems.append("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)")
    if not re.search("[a-z]", name):
        problems.append("must contain at least one letter (a-z)")
    if "--" in name:
        problems.append("must not contain consecutive hyphens")
    if name.startswith("-") or name.endswith("-"):
        problems.append("must not begin or end with a hyphen")
    return problems


def _host_ports(given: Sequence[Container], path: str, out: Errors) -> None:
    taken: set[str] = set()
    for index, container in enumerate(given):
        for number, port in enumerate(container.ports):
            if not port.host_port:
                continue
            text = f"{port.protocol or 'TCP'}/{port.host_ip}/{port.host_port}"
            if text in taken:
                out.append(duplicate(f"{path}[{index}].ports[{number}].hostPort", text))
            taken.add(text)
