"""Command lines: options and positional arguments, in the manner of pytest and git.

Hand-written rather than argparse, which takes longer to import than the rest of a short command, says nothing of near
misses, and ends with 2. An option's value follows it or is joined to it (``-k EXPR``, ``-kEXPR``, ``--maxfail=2``),
short switches may be joined (``-xv``), and ``--`` ends the options.
"""

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

MAX_DIGITS: Final = 18
"""How long a number may be."""


class UsageError(Exception):
    """The command line, the environment or the configuration asks for something that does not exist."""

    def __init__(self, message: str, way_out: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.help = way_out


class Option(NamedTuple):
    """An option of a command.

    Attributes:
        names: as they are typed; the last is the one by which the command asks for it.
        help: one line.
        metavar: what its value is called; empty for a switch.
        choices: the only values it takes; empty for any.
    """

    names: tuple[str, ...]
    help: str
    metavar: str = ""
    choices: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The name by which the command asks for it."""
        return self.names[-1]


class Arguments:
    """What a command was given: for each option the values of its occurrences, and the positional arguments."""

    def __init__(self) -> None:
        self.values: dict[str, list[str]] = {}
        self.positionals: list[str] = []

    def count(self, name: str) -> int:
        """How often an option was given."""
        return len(self.values.get(name, ()))

    def flag(self, name: str) -> bool:
        """Whether a switch was given."""
        return name in self.values

    def text(self, name: str) -> str | None:
        """The value of an option; the last one wins."""
        values = self.values.get(name)
        return values[-1] if values else None

    def all(self, name: str) -> list[str]:
        """All values of an option."""
        return list(self.values.get(name, ()))

    def number(self, name: str, *, minimum: int = 0) -> int | None:
        """The value of an option as an integer."""
        text = self.text(name)
        return None if text is None else whole_number(text, f"`{name}`", minimum)


def whole_number(text: str, what: str, minimum: int) -> int:
    """An integer from a command line or the environment.

    Raises:
        UsageError: it is none, or smaller than ``minimum``, or longer than any that makes sense.
    """
    digits = text.removeprefix("-")
    is_number = digits.isascii() and digits.isdigit()
    if is_number and len(digits) > MAX_DIGITS:
        limit = f"with at most {MAX_DIGITS} digits"
        raise UsageError(f"{what} takes a whole number from {minimum} on {limit}, not one with {len(digits)}")
    if not is_number or int(text) < minimum:
        raise UsageError(f"{what} takes a whole number from {minimum} on, not `{text}`")
    return int(text)


def read_arguments(words: Sequence[str], options: Iterable[Option], command: str) -> Arguments:
    """Read the words after a command's name.

    Raises:
        UsageError: an unknown option, a missing or surplus value, a value that is no choice.
    """
    return _Reader(words, options, command).read()


class _Reader:
    """One command line; private to this module."""

    def __init__(self, words: Sequence[str], options: Iterable[Option], command: str) -> None:
        self.words = list(words)
        self.known = {name: option for option in options for name in option.names}
        self.command = command
        self.at = 0
        self.result = Arguments()

    def read(self) -> Arguments:
        while self.at < len(self.words):
            word = self.words[self.at]
            self.at += 1
            if word == "--":
                self.result.positionals += self.words[self.at :]
                break
            if word.startswith("--"):
                self._long(word)
            elif word.startswith("-") and word != "-":
                self._short(word)
            else:
                self.result.positionals.append(word)
        return self.result

    def _long(self, word: str) -> None:
        name, equals, value = word.partition("=")
        option = self.known.get(name)
        if option is None:
            raise self._unknown(name)
        if not option.metavar and equals:
            raise UsageError(f"option `{name}` takes no value")
        self._store(option, (value if equals else self._next(name)) if option.metavar else "")

    def _short(self, word: str) -> None:
        letters = word[1:]
        while letters:
            option = self.known.get(f"-{letters[0]}")
            if option is None:
                # The whole word, so that `-maxfail` finds `--maxfail`.
                raise self._unknown(word.partition("=")[0] if letters == word[1:] else f"-{letters[0]}")
            letters = letters[1:]
            if option.metavar:
                self._store(option, letters.removeprefix("=") if letters else self._next(option.names[0]))
                return
            self._store(option, "")

    def _next(self, name: str) -> str:
        if self.at >= len(self.words) or self.words[self.at].partition("=")[0] in self.known:
            raise UsageError(f"option `{name}` needs a value: {self.known[name].metavar}")
        self.at += 1
        return self.words[self.at - 1]

    def _store(self, option: Option, value: str) -> None:
        if option.choices and value not in option.choices:
            raise unknown_choice(f"`{option.name}`", value, option.choices)
        self.result.values.setdefault(option.name, []).append(value)

    def _unknown(self, name: str) -> UsageError:
        way_out = did_you_mean(name, self.known) or f"`dralang {self.command} --help` lists the options"
        return UsageError(f"`dralang {self.command}` has no option `{name}`", way_out)


def unknown_choice(what: str, value: str, choices: Sequence[str]) -> UsageError:
    """A value that is none of those it could be."""
    listed = ", ".join(f"`{choice}`" for choice in choices)
    return UsageError(f"{what} cannot be `{value}`", did_you_mean(value, choices) or f"it can be {listed}")


def those_known(names: Sequence[str]) -> str:
    """What could have been named, as a sentence; nothing where there is nothing."""
    if len(names) == 1:
        return f"there is only `{names[0]}`"
    listed = ", ".join(f"`{name}`" for name in names[:8])
    return f"there are {listed}{', ...' if len(names) > 8 else ''}" if names else ""


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """The question of that name, or nothing."""
    from dralang.spelling import nearest  # brings difflib, which only a mistake needs

    near = nearest(name, known)
    return f"did you mean `{near}`?" if near else ""
