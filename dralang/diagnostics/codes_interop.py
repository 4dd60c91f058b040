"""Codes of import and export."""

from typing import Final

from dralang.diagnostics.code import Code

INTEROP_CODES: Final[dict[str, Code]] = {
    "DRA0409": Code(
        title="a template instead of a manifest",
        explanation=(
            "`dralang import` reads YAML and JSON. A Helm chart holds templates (`{{ .Values.name }}`): what they come "
            "to depends on values that only Helm knows. Render it first: `helm template RELEASE CHART | dralang import "
            "-`. Other templates need the tool that they were written for."
        ),
        example="metadata:\n  name: {{ .Release.Name }}\n",
    ),
    "DRA0410": Code(
        title="something that no declaration can hold",
        explanation=(
            "`dralang import` writes every field of every object. It cannot write a name with a slash, values that "
            "are nested more than 63 levels deep, and numbers that JSON does not have (`.inf`, `.nan`)."
        ),
        example="apiVersion: v1\nkind: Namespace\nmetadata:\n  name: a/b\n",
    ),
}
