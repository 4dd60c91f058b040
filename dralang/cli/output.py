"""Where a command that makes a file writes it: standard output, or `-o FILE`."""

from pathlib import Path

from dralang.cli.arguments import Arguments, UsageError
from dralang.cli.console import Console


def write_result(arguments: Arguments, console: Console, text: str) -> None:
    """Write the result.

    Raises:
        UsageError: the file cannot be written.
    """
    data = text.encode("utf-8")
    target = arguments.text("--output")
    if target is None:
        console.out_bytes(data)
        return
    try:
        Path(target).write_bytes(data)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else "it is no path"
        raise UsageError(f"cannot write `{target}`: {reason.lower()}") from None
