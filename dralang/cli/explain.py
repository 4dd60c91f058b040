"""`dralang explain`: the long story of a diagnostic code, or what a quirk does."""

import textwrap

from dralang.cli import exits
from dralang.cli.arguments import Arguments, UsageError, did_you_mean
from dralang.cli.console import Console
from dralang.diagnostics.codes import CODES


def run(arguments: Arguments, console: Console) -> int:
    """Run the command."""
    if not arguments.positionals:
        console.out("".join(f"{code}  {entry.title}\n" for code, entry in CODES.items()))
        return exits.OK
    console.out("\n".join([_story(word) for word in arguments.positionals]))
    return exits.OK


def _story(word: str) -> str:
    code = _code(word)
    if code in CODES:
        return _text(code)
    from dralang.allocator.quirks import QUIRKS
    from dralang.readings import READ_IN, READINGS

    if word == "quirks":
        effects = {name: quirk.effect for name, quirk in QUIRKS.items()}
        effects |= {name: reading.effect for name, reading in READINGS.items()}
        return "".join(f"{name}  {effect}\n" for name, effect in effects.items())
    if word in QUIRKS:
        quirk = QUIRKS[word]
        kind = f"a fault of Kubernetes {', '.join(sorted(quirk.versions))}, on by default there"
        return _quirk(f"{word}: {kind}", quirk.effect, quirk.off, quirk.source)
    if word in READINGS:
        reading = READINGS[word]
        kind = f"the other reading of {reading.kep}, off by default, for Kubernetes {READ_IN}"
        return _quirk(f"{word}: {kind}", reading.effect, reading.off, f"docs/findings.md, finding {reading.finding}")
    raise UsageError(
        f"there is no code or quirk `{word}`",
        did_you_mean(code, CODES)
        or did_you_mean(word, (*QUIRKS, *READINGS))
        or "`dralang explain` lists all codes, `dralang explain quirks` all quirks",
    )


def _code(word: str) -> str:
    """The code that is meant: `DRA0101`, in any case, or only its number."""
    code = word.upper()
    digits = code.removeprefix("DRA")
    return f"DRA{int(digits):04d}" if digits.isascii() and digits.isdigit() and len(digits) <= 4 else code


def _quirk(title: str, effect: str, off: str, source: str) -> str:
    lines = [title, "", f"with it:    {effect}", f"without it: {off}"]
    return "\n".join([*lines, f"source:     {source}"] if source else lines) + "\n"


def _text(code: str) -> str:
    entry = CODES[code]
    lines = [f"{code}: {entry.title}", ""]
    for paragraph in entry.explanation.strip().split("\n\n"):
        is_prose = not paragraph.startswith((" ", "```", "- ", "|", "#"))
        lines += textwrap.wrap(paragraph, 88, break_on_hyphens=False) if is_prose else paragraph.splitlines()
        lines.append("")
    if entry.example.strip():
        lines += ["example:", "", *[f"    {line}".rstrip() for line in entry.example.strip("\n").splitlines()]]
    return "\n".join(lines).rstrip() + "\n"
