"""The codes of recorded cases."""

from typing import Final

from dralang.diagnostics.code import Code

CONFORM_CODES: Final[dict[str, Code]] = {
    "DRA0701": Code(
        title="a file of cases that cannot be read",
        explanation=(
            "Cases stand in JSON Lines files: one JSON object a line, UTF-8, compressed with gzip if the name ends in "
            "`.gz`. Files are read up to 1 GiB (decompressed), lines up to 32 MiB. After 20 lines that are no cases "
            "the rest of a file is left alone. docs/conformance.md describes the format."
        ),
        example="",
    ),
    "DRA0702": Code(
        title="a line that is no case",
        explanation=(
            "A case is a JSON object with a `kind` (`validation`, `cel`, `allocation`, `scheduling`), an `id`, the "
            "version of Kubernetes that answered, the input of its kind, and `want`, the recorded answer. The message "
            "says what is missing or of the wrong type, and where in the object. The other lines of the file are "
            "played."
        ),
        example='{"kind": "cel", "id": "a", "kubernetes": "1.37", "expression": "true", "purpose": "selector"}\n',
    ),
    "DRA0703": Code(
        title="a case that cannot be played",
        explanation=(
            "The case is well formed, but contradicts itself or asks for what does not exist: a step on a node that is "
            "not among the objects, an object that does not decode, feature gates with which no server starts."
        ),
        example=(
            '{"kind": "allocation", "id": "no-node", "kubernetes": "1.37", "objects": [], '
            '"steps": [{"node": "a", "allocate": []}]}\n'
        ),
    ),
}
