"""Declared objects, settings and scenarios."""

from collections.abc import Mapping
from typing import Any, Final

from msgspec import Struct

from dralang.api.base import ApiType
from dralang.api.located import Located
from dralang.diagnostics.diagnostic import Diagnostic
from dralang.diagnostics.source import Span
from dralang.scenario.keys import ObjectKey
from dralang.scenario.propositions import Proposition
from dralang.scenario.scheduler_config import SchedulerConfig
from dralang.scenario.steps import Step

REGRESSION: Final = "regression"
"""The tag of scenarios that a fuzz has found: they are judged like fuzzes, until all is at rest."""


class Declared(Struct, frozen=True):
    """An object that a file declares, in `.dra` or as YAML.

    Attributes:
        key: kind, namespace, name.
        object: the object in its v1 form.
        located: the same with places, for errors that are found later.
        span: its name in the text.
        own: declared in the file that is tested, not in one that it uses.
        api_version: the ``apiVersion`` of a manifest; empty in `.dra`, where the language has only one form.
    """

    key: ObjectKey
    object: ApiType
    located: Located
    span: Span
    own: bool = True
    api_version: str = ""


class Settings(Struct, frozen=True):
    """What the model is: header statements, a scenario's over its file's.

    Attributes:
        version: as in ``kubernetes 1.37``.
        gates: overrides of feature gates.
        quirks: overrides of quirks.
        scheduler: None if nothing was said.
    """

    version: str
    gates: Mapping[str, bool]
    quirks: Mapping[str, bool]
    scheduler: SchedulerConfig | None = None


class Property(Struct, frozen=True):
    """``always``, ``never`` or ``witness`` with its proposition."""

    keyword: str
    proposition: Proposition
    span: Span


class Scenario(Struct, frozen=True):
    """A scenario, or one row of its table.

    Attributes:
        file: the name of its file.
        title: with the row's values put in.
        line: where it starts, from 1.
        last_line: where it ends.
        tags: its tags.
        xfail: why it is expected to fail; None if it is not.
        settings: version, gates, quirks.
        initial: what exists at time 0, in order of declaration.
        declared: what its statements may name: everything declared for it.
        steps: what happens.
        properties: hold after every event, from the start.
        missing: what it needs that this version cannot run; it is refused then.
        fuzz: whether it is a fuzz.
        span: its head.
        template: of a fuzz, ``scenario.holes.Template``: what is drawn before it is played.
    """

    file: str
    title: str
    line: int
    last_line: int
    tags: tuple[str, ...]
    xfail: str | None
    settings: Settings
    initial: tuple[Declared, ...]
    declared: Mapping[ObjectKey, Declared]
    steps: tuple[Step, ...]
    properties: tuple[Property, ...]
    missing: tuple[Diagnostic, ...]
    fuzz: bool
    span: Span
    template: Any | None = None

    @property
    def node_id(self) -> str:
        """``file::title``, as pytest would call it."""
        return f"{self.file}::{self.title}"
