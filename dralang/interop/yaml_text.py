"""Objects as YAML that the Kubernetes tools read as meant.

They read YAML 1.1 in their own way (``y`` is true, ``1e3`` a number), so whether a text may stand without quotes is
asked of ``manifest.reader``, which reads like them.
"""

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any, Final

import yaml

from dralang.api.base import ApiType
from dralang.api.conversion import versioned_json
from dralang.api.encode import to_json
from dralang.api.kinds import KIND_OF_TYPE, type_in_version
from dralang.api.schema import fields_of
from dralang.manifest.reader import plain_scalar

_WIDTH: Final = 1_000_000
_STRING: Final = "tag:yaml.org,2002:str"


class _Dumper(yaml.CSafeDumper):
    """Writes every value out; private to this module."""

    def ignore_aliases(self, data: Any) -> bool:
        """Nothing is written as a reference to what came before."""
        return True


def _represent_text(dumper: _Dumper, text: str) -> yaml.ScalarNode:
    if "\n" in text:
        style = "|" if _is_block(text) else '"'
        return dumper.represent_scalar(_STRING, text, style=style)
    is_plain = plain_scalar(text) if text else None
    # libyaml decides on the characters; here only on what a bare word would mean.
    return dumper.represent_scalar(_STRING, text, style=None if is_plain == text and type(is_plain) is str else '"')


def _is_block(text: str) -> bool:
    """Whether a block of lines keeps a text as it is, whatever reads it."""
    lines = text.split("\n")
    return bool(lines[0]) and lines[0][0] != " " and all(line.isprintable() and line[-1:] != " " for line in lines)


_Dumper.add_representer(str, _represent_text)


def yaml_documents(values: Iterable[Mapping[str, Any]]) -> str:
    """JSON objects as YAML documents."""
    return "---\n".join(
        [
            yaml.dump(
                value, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=_WIDTH, default_flow_style=False
            )
            for value in values
        ]
    )


def exported_json(value: ApiType, version: str | None = None) -> dict[str, Any]:
    """An object as a manifest has it: without the empty fields that a server would write.

    Args:
        value: an object of a kind.
        version: one of the versions of its group; the current one if None.
    """
    info = KIND_OF_TYPE[type(value)]
    wanted = version or info.versions[0]
    return _pruned(type_in_version(info, wanted), versioned_json(value, wanted))


def _pruned(api_type: type[ApiType], json: Mapping[str, Any]) -> dict[str, Any]:
    """Without nulls and empty structs where these mean the same as nothing."""
    result = {}
    fields = fields_of(api_type)
    for name, entry in json.items():
        field = fields.get(name)
        if field is not None and field.struct is not None and entry is not None:
            if field.shape == "list":
                entry = [_pruned(field.struct, item) for item in entry]
            elif field.shape == "map":
                entry = {key: _pruned(field.struct, item) for key, item in entry.items()}
            else:
                entry = _pruned(field.struct, entry)
                if not field.nullable and entry == _empty(field.struct):
                    continue
        if entry is None and field is not None:
            continue
        result[name] = entry
    return result


@cache
def _empty(api_type: type[ApiType]) -> Mapping[str, Any]:
    """What is left of a struct of which nothing is given."""
    return _pruned(api_type, to_json(api_type()))
