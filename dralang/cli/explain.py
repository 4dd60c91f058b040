"""`dralang explain`: the long story of a diagnostic code."""

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
    wanted = [_code(word) for word in arguments.positionals]
    console.out("\n".join([_text(code) for code in wanted]))
    return exits.OK


def _code(word: str) -> str:
    """The code that is meant: `DRA0101`, in any case, or only its number."""
    code = word.upper()
    digits = code.removeprefix("DRA")
    if digits.isascii() and digits.isdigit() and len(digits) <= 4:
        code = f"DRA{int(digits):04d}"
    if code not in CODES:
        way_out = did_you_mean(code, CODES) or "`dralang explain` lists all codes"
        raise UsageError(f"there is no code `{word}`", way_out)
    return code


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
