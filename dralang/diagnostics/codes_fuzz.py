"""The codes of fuzzing."""

from typing import Final

from dralang.diagnostics.code import Code

FUZZ_CODES: Final[dict[str, Code]] = {
    "DRA0801": Code(
        title="the real allocator cannot be had",
        explanation=(
            "`dralang fuzz --against real-allocator` asks the allocator of Kubernetes itself, a small program in Go "
            "that comes with dralang as source. It is built once, into `.dralang_cache` of the project: that needs Go "
            "and, the first time, the modules of Kubernetes that its `go.mod` names. Install Go, let it reach a module "
            "proxy (`go env GOPROXY`), or leave out this oracle. What was built elsewhere from the same version of "
            "dralang may be copied: the folder `.dralang_cache/real-allocator-...`."
        ),
        example="",
    ),
    "DRA0802": Code(
        title="a fuzz of another version than the real allocator's",
        explanation=(
            "The allocator that `--against real-allocator` asks is that of one version of Kubernetes. Others answer "
            "otherwise, so a fuzz of another version is not played. Play it as of that version (`--k8s 1.37`), choose "
            "other fuzzes, or leave out this oracle."
        ),
        example="",
    ),
}
