"""The code of the formatter: the one fault that it finds in itself."""

from dralang.diagnostics.code import Code

FORMATTER_CODES: dict[str, Code] = {
    "DRA0190": Code(
        title="formatting would change what the file says",
        explanation=(
            "The formatter reads its own result and compares it with the file: the same statements, the same values, "
            "the same comments in the same order. Here they differ, so the file has been left as it is. That is a "
            "fault of the formatter, never of the file; please report it together with the file. The file itself can "
            "be checked and run as usual."
        ),
        example="dralang fmt gpus.dra   # DRA0190: gpus.dra stays as it is\n",
    ),
}
