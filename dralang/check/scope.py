"""Names to objects: what a scenario's statements and expectations may speak of."""

from collections.abc import Iterable, Iterator, Mapping, Set
from contextlib import contextmanager
from fnmatch import fnmatchcase
from typing import Final

from msgspec import Struct

from dralang.api.kinds import KIND_OF_KEYWORD, KINDS
from dralang.api.resourceslice import ResourceSlice
from dralang.check import problems
from dralang.check.choices import choices
from dralang.check.expand import Bindings, names
from dralang.diagnostics.diagnostic import Diagnostic, DiagnosticLog
from dralang.diagnostics.source import Span
from dralang.scenario.keys import ObjectKey
from dralang.scenario.model import Declared
from dralang.spelling import nearest
from dralang.syntax import nodes as n

# Where a bare name could mean several kinds, a pod is meant first: most sentences are about pods.
KIND_ORDER: Final = (
    "Pod",
    "ResourceClaim",
    "Node",
    "ResourceSlice",
    "DeviceClass",
    "ResourceClaimTemplate",
    "DeviceTaintRule",
    "PriorityClass",
    "PodGroup",
    "PodDisruptionBudget",
    "Namespace",
    "Workload",
    "ResourcePoolStatusRequest",
)


def spoken_kind(kind: str) -> str:
    """What the language calls a kind: its keyword."""
    return KINDS[kind].keyword or kind


def is_glob(name: str) -> bool:
    """Whether a name stands for all that match it."""
    return "*" in name


class Foreseen(Struct, frozen=True):
    """What a story may come to have, and need not.

    Attributes:
        objects: as they are declared where they are; None where only the name is known.
        devices: of slices among them, by their last name.
        counters: the counter sets of slices among them.
    """

    objects: Mapping[ObjectKey, Declared | None]
    devices: Mapping[str, list[str]]
    counters: Set[str]


class Scope:
    """The objects that names may mean. Grows while a scenario is elaborated; owned by that elaboration."""

    def __init__(
        self,
        declared: Iterable[Declared],
        aliases: Mapping[str, str],
        log: DiagnosticLog,
        broken: Set[str] = frozenset(),
        *,
        fuzz: bool = False,
    ) -> None:
        self.log = log
        # Whether holes may stand for names.
        self.fuzz = fuzz
        # Declared, but with an error of their own: what speaks of them is no second error.
        self.broken = broken
        self.aliases = aliases
        # None is an object that may come into being, or will only later: its name is known, and no more.
        self.objects: dict[ObjectKey, Declared | None] = {}
        # What is known of those all the same: how they are declared in another direction of the story.
        self.foreseen: dict[ObjectKey, Declared] = {}
        self.by_name: dict[str, list[ObjectKey]] = {}
        self.used: set[ObjectKey] = set()
        # Whom the statements are about, and where they are named first; a glob as it stands.
        self.spoken: dict[ObjectKey, Span] = {}
        self.devices: dict[str, list[str]] = {}
        self.counters: set[str] = set()
        for item in declared:
            self.add(item.key, item)

    def add(self, key: ObjectKey, declared: Declared | None) -> None:
        """A new object becomes known; a slice with its devices and counter sets."""
        if key not in self.objects:
            self.by_name.setdefault(key.name, []).append(key)
        self.objects[key] = declared
        if declared is not None and isinstance(declared.object, ResourceSlice):
            spec = declared.object.spec
            for device in spec.devices:
                full = f"{spec.driver}/{spec.pool.name}/{device.name}"
                known = self.devices.setdefault(device.name, [])
                if full not in known:
                    known.append(full)
            self.counters.update(counter_set.name for counter_set in spec.shared_counters)

    def copy(self, log: DiagnosticLog) -> "Scope":
        """A scope with the same objects, to go on in another direction; what is used, is used in both."""
        other = Scope((), self.aliases, log, self.broken, fuzz=self.fuzz)
        other.objects = dict(self.objects)
        other.foreseen = dict(self.foreseen)
        other.by_name = {name: list(keys) for name, keys in self.by_name.items()}
        other.devices = {name: list(known) for name, known in self.devices.items()}
        other.counters = set(self.counters)
        other.used = self.used
        return other

    def beyond(self, base: "Scope") -> Foreseen:
        """What is known here and not there."""
        objects = {key: self.declared(key) for key in self.objects if key not in base.objects}
        devices = {
            name: [device for device in known if device not in base.devices.get(name, ())]
            for name, known in self.devices.items()
        }
        return Foreseen(objects, {name: new for name, new in devices.items() if new}, self.counters - base.counters)

    def foresee(self, foreseen: Foreseen) -> None:
        """Know the names of what another direction of the story has: here they may mean what does not exist."""
        for key, declared in foreseen.objects.items():
            if key in self.objects:
                continue
            self.add(key, None)
            if declared is not None:
                self.foreseen[key] = declared
        for name, devices in foreseen.devices.items():
            known = self.devices.setdefault(name, [])
            known += [device for device in devices if device not in known]
        self.counters |= foreseen.counters

    def declared(self, key: ObjectKey) -> Declared | None:
        """How an object is declared, or would be if it came into being."""
        return self.objects.get(key) or self.foreseen.get(key)

    @contextmanager
    def knowing(self, keys: Iterable[ObjectKey]) -> Iterator[None]:
        """For a while, know objects too that come into being only later."""
        added = [key for key in keys if key not in self.objects]
        for key in added:
            self.add(key, None)
        yield
        for key in added:
            del self.objects[key]
            self.by_name[key.name].remove(key)

    @contextmanager
    def as_models(self) -> Iterator[None]:
        """For a while, names are used without anything being said of those that have them."""
        before = dict(self.spoken)
        yield
        self.spoken = before

    # ---- objects ----------------------------------------------------------------------------------------------------

    def resolve(self, ref: n.Ref, bindings: Bindings, kinds: tuple[str, ...], *, globs: bool = True) -> list[ObjectKey]:
        """The objects that a reference means: one for each name of its range; a glob stays one key.

        ``kinds`` are those that make sense in the sentence, the likeliest first; a kind word narrows them. A hole
        means its first choice, and every choice must exist.
        """
        if ref.kind:
            info = KIND_OF_KEYWORD.get(ref.kind)
            if info is None or info.name not in kinds:
                spoken = " or ".join(f"a {spoken_kind(kind)}" for kind in kinds[:4]) or "a device or counters"
                self.log.add(problems.wrong_value(f"this needs {spoken}, not a {ref.kind}", ref.span))
                return []
            kinds = (info.name,)
        if not isinstance(ref.name, n.Word):
            chosen = [
                self.resolve(each, bindings, kinds, globs=globs) if isinstance(each.name, n.Word) else []
                for each in self.chosen(ref)
            ]
            return chosen[0] if chosen else []
        found = (self._one(name.text, name.span, kinds, globs=globs) for name in names(ref.name, bindings, self.log))
        return [key for key in found if key is not None]

    def chosen(self, ref: n.Ref) -> list[n.Ref]:
        """What a reference may become: itself, or one for each choice of its hole; none after a diagnostic."""
        found = []
        for choice in choices(ref.name, self.log, fuzz=self.fuzz):
            if isinstance(choice, n.Word | n.AnyKind):
                kind = choice.kind if isinstance(choice, n.AnyKind) else ref.kind
                found.append(n.Ref(choice.span, kind, choice))
            else:
                self.log.add(problems.wrong_value("a name is needed here", choice.span, "write `any of [a, b]`"))
        return found

    def _one(self, text: str, span: Span, kinds: tuple[str, ...], *, globs: bool) -> ObjectKey | None:
        namespace, name = self._split(text)
        if is_glob(name):
            if globs:
                return self._glob(text, namespace, name, span, kinds)
            self.log.add(problems.bad_name(f"`{text}` stands for several objects; one is needed here", span))
            return None
        candidates = [
            key
            for key in self.by_name.get(name, ())
            if key.kind in kinds and (key.namespace == namespace or not key.namespace)
        ]
        if not candidates:
            if name not in self.broken:
                self.log.add(self._undefined(text, span, kinds))
            return None
        if len(candidates) > 1 and len(kinds) > 1:
            # The likeliest kind is meant where the sentence has a preference; else the author must say.
            first = min(candidates, key=lambda key: kinds.index(key.kind))
            if kinds.index(first.kind) != 0:
                choices = sorted(f"{spoken_kind(key.kind)} {name}" for key in candidates)
                self.log.add(problems.ambiguous(name, span, choices))
                return None
            candidates = [first]
        self.used.add(candidates[0])
        self.spoken.setdefault(candidates[0], span)
        return candidates[0]

    def _split(self, text: str) -> tuple[str, str]:
        for alias in self.aliases:
            if text.startswith(alias + "."):
                text = text[len(alias) + 1 :]
                break
        namespace, slash, name = text.rpartition("/")
        return (namespace, name) if slash else ("default", text)

    def _glob(self, text: str, namespace: str, glob: str, span: Span, kinds: tuple[str, ...]) -> ObjectKey | None:
        for kind in kinds:
            matching = [
                key
                for key in self.objects
                if key.kind == kind and fnmatchcase(key.name, glob) and (key.namespace in (namespace, ""))
            ]
            if matching:
                self.used.update(matching)
                meant = ObjectKey(kind, matching[0].namespace, glob)
                self.spoken.setdefault(meant, span)
                return meant
        self.log.add(
            problems.undefined(
                " or ".join(spoken_kind(kind) for kind in kinds[:3]),
                text,
                span,
                [],
                way_out="no name of this file matches; is the pattern right?",
            )
        )
        return None

    def _undefined(self, text: str, span: Span, kinds: tuple[str, ...]) -> Diagnostic:
        spoken = " or ".join(spoken_kind(kind) for kind in kinds[:3]) if len(kinds) < 6 else "object"
        known = [_written(key) for key in self.objects if key.kind in kinds]
        elsewhere = sorted(key for key in self.objects if key.name == text)
        way_out = ""
        other = [key for key in elsewhere if key.kind in kinds and key.namespace not in ("", "default")]
        if other:
            # A bare name is in `default`; manifests often have a namespace of their own.
            way_out = f"did you mean `{other[0].namespace}/{text}`?"
        elif elsewhere:
            way_out = f"`{text}` is a {spoken_kind(elsewhere[0].kind)}"
        elif text == "pods":
            way_out = "did you mean `all pods`?"
        elif nearest(text, known) is None and kinds[0] == "Pod":
            way_out = f"declare it: `pod {text} {{ ... }}`"
        return problems.undefined(spoken, text, span, known, way_out=way_out)

    # ---- devices and counters ---------------------------------------------------------------------------------------

    def device(self, text: str, span: Span) -> str | None:
        """A device by a suffix of driver/pool/device; checked against the slices that the file knows."""
        last = text.rpartition("/")[2]
        matching = [full for full in self.devices.get(last, ()) if full == text or full.endswith("/" + text)]
        if len(matching) == 1:
            return text
        if matching:
            shortest = sorted(_shortest_suffix(full, matching) for full in matching)
            self.log.add(problems.ambiguous(text, span, shortest))
            return None
        if last in self.broken:
            return None
        known = [*self.devices, *(full.split("/", 1)[1] for group in self.devices.values() for full in group)]
        self.log.add(
            problems.undefined("device", text, span, known, way_out="no slice of this file has a device of that name")
        )
        return None

    def counter_set(self, text: str, span: Span) -> str | None:
        """A counter set by its name."""
        if text in self.counters:
            return text
        if text in self.broken:
            return None
        self.log.add(problems.undefined("counter set", text, span, self.counters, way_out="no slice declares it"))
        return None


def _shortest_suffix(full: str, all_full: list[str]) -> str:
    parts = full.split("/")
    for count in range(1, len(parts) + 1):
        suffix = "/".join(parts[-count:])
        if sum(other == suffix or other.endswith("/" + suffix) for other in all_full) == 1:
            return suffix
    return full


def _written(key: ObjectKey) -> str:
    return key.name if key.namespace in ("", "default") else f"{key.namespace}/{key.name}"
