"""What there is: the commands and their options, as data for help, reading and completion."""

from typing import Final, Literal, NamedTuple

from dralang.cli.arguments import Option

Takes = Literal["specs", "spec", "files", "code", "shell", "folder", "command"]

HELP: Final = Option(("-h", "--help"), "show this")
COLOR: Final = Option(("--color",), "when to use colour", "WHEN", ("auto", "always", "never"))
CONFIG: Final = Option(("-c", "--config"), "the configuration file, instead of the nearest one", "FILE")
FORMAT: Final = Option(("--format",), "what to print; json is described in docs/json.md", "FORMAT", ("pretty", "json"))
PAGE_FORMAT: Final = Option(
    ("--format",), "what to print; json is described in docs/json.md", "FORMAT", ("pretty", "json", "html")
)
FAIL_LEVEL: Final = Option(
    ("--fail-level",), "with `warning`, warnings alone end with 6 (default: error)", "LEVEL", ("error", "warning")
)
MODEL: Final = (
    Option(("--k8s",), "the Kubernetes version, over what the files say", "VERSION"),
    Option(("--feature-gates",), "switch feature gates, over what the files say: A=true,B=false", "GATES"),
)
REFERENCE_CEL: Final = Option(
    ("--reference-cel",),
    "let cel-python evaluate the device expressions that it can judge: slow, to find faults of ours",
)
COMMON: Final = (CONFIG, COLOR, HELP)
ORACLES: Final = ("real-allocator", "reference-cel", "from-scratch")
RESOURCE_VERSIONS: Final = ("v1", "v1beta2", "v1beta1")


class Command(NamedTuple):
    """A command.

    Attributes:
        name: as it is typed.
        summary: one line for the list of commands.
        takes: what its positional arguments are.
        usage: them, as help shows them.
        description: a few lines for its own help.
        options: its options.
    """

    name: str
    summary: str
    takes: Takes
    usage: str
    description: str
    options: tuple[Option, ...]


COMMANDS: Final = (
    Command(
        "test",
        "run scenarios and report what does not hold",
        "specs",
        "[PATH | FILE::SCENARIO | FILE:LINE]...",
        "Runs the scenarios of files and folders (else of `paths` in the configuration, else of this folder).\n"
        "Exit code: 0 all as expected; 1 something failed; 4 something could not be run; 5 nothing was chosen.",
        (
            Option(("-k",), "only scenarios whose file or title contains this: `and`, `or`, `not`, ( )", "EXPR"),
            Option(("-m",), "only scenarios with these tags: `and`, `or`, `not`, ( )", "EXPR"),
            Option(("-x", "--exitfirst"), "stop at the first failure"),
            Option(("--maxfail",), "stop after so many failures", "N"),
            Option(("--lf", "--last-failed"), "only what failed last time; everything if nothing did"),
            Option(("--ff", "--failed-first"), "first what failed last time, then the rest"),
            Option(("--collect-only",), "list the scenarios, do not run them"),
            Option(("-v", "--verbose"), "one line per scenario, longer traces, notes"),
            Option(("-q", "--quiet"), "less; twice: only the last line"),
            Option(("--durations",), "show the N slowest scenarios; 0 for all", "N"),
            Option(("--seed",), "where random choices start; part of every report", "N"),
            FORMAT,
            FAIL_LEVEL,
            REFERENCE_CEL,
            *MODEL,
            *COMMON,
        ),
    ),
    Command(
        "run",
        "run a file's scenarios and show what happens when, and why",
        "spec",
        "FILE[::SCENARIO | :LINE]",
        "Prints the timeline of each scenario and what became of its expectations. `-` reads standard input.\n"
        "With `--format html`: one page that needs nothing else, with lanes for nodes, pods and devices.",
        (
            PAGE_FORMAT,
            FAIL_LEVEL,
            REFERENCE_CEL,
            *MODEL,
            *COMMON,
        ),
    ),
    Command(
        "fuzz",
        "look for stories in which something does not hold",
        "specs",
        "[PATH | FILE::FUZZ | FILE:LINE]...",
        "Fills the holes of every `fuzz` in these files again and again. What is found is shrunk and written as a\n"
        "plain scenario under specs/regressions. Exit code: 0 nothing found; 1 something found; 5 there is no fuzz.",
        (
            Option(("--max-examples",), "examples of each fuzz (default: 1000, with `--time` no limit)", "N"),
            Option(("--time",), "stop after so long: 30s, 10m, 1h", "TIME"),
            Option(("-n", "--workers"), "use so many processes, or `auto`; what is found does not depend on it", "N"),
            Option(("--engine",), "where chunks of examples are played", "ENGINE", ("processes", "dask")),
            Option(("--scheduler",), "the Dask scheduler whose workers are used: tcp://HOST:8786", "ADDRESS"),
            Option(("--stateful",), "draw each next step from what the simulated cluster looks like at that moment"),
            Option(
                ("--against",),
                "also compare with real-allocator (needs Go), reference-cel or from-scratch; may be repeated",
                "ORACLE",
                ORACLES,
            ),
            Option(("--seed",), "where random choices start; part of every report", "N"),
            Option(("-k",), "only fuzzes whose file or title contains this: `and`, `or`, `not`, ( )", "EXPR"),
            Option(("-m",), "only fuzzes with these tags: `and`, `or`, `not`, ( )", "EXPR"),
            FORMAT,
            *MODEL,
            *COMMON,
        ),
    ),
    Command(
        "check",
        "report what is wrong with files without running them",
        "specs",
        "[PATH]...",
        "Exit code: 0 nothing wrong; 4 errors; 6 only warnings, with `--fail-level warning`. `-` reads standard input.",
        (FORMAT, FAIL_LEVEL, *MODEL, *COMMON),
    ),
    Command(
        "fmt",
        "write files in the one way to write them",
        "specs",
        "[PATH]...",
        "Rewrites the files in place; `-` reads standard input and writes to standard output.\n"
        "With --check or --diff nothing is written, and the exit code is 1 if something would change.",
        (
            Option(("--check",), "only say which files would change"),
            Option(("--diff",), "only show what would change"),
            *COMMON,
        ),
    ),
    Command(
        "conform",
        "ask again what real Kubernetes was asked, and compare",
        "files",
        "FILE...",
        "Replays recorded cases (.jsonl, .jsonl.gz, folders of them, or `-`), see docs/conformance.md.\n"
        "Exit code: 0 all as recorded; 1 something differs; 4 something cannot be read or played; 5 nothing chosen.",
        (
            Option(("-k",), "only cases whose id, kind or file contains this: `and`, `or`, `not`, ( )", "EXPR"),
            Option(("-x", "--exitfirst"), "stop at the first difference"),
            Option(("--k8s",), "answer for this version of Kubernetes, whatever the cases say", "VERSION"),
            Option(("--answers",), 'write a line {"id": ..., "answer": ...} for each case', "FILE"),
            Option(("--durations",), "show the N slowest cases; 0 for all", "N"),
            *COMMON,
        ),
    ),
    Command(
        "import",
        "write manifests and cluster dumps as declarations",
        "files",
        "FILE... | -",
        "Reads YAML or JSON (one object or many, lists, dumps of kubectl); writes a `.dra` file to standard output.\n"
        "Exit code: 0 done; 4 something cannot be read; 5 no object of a kind that is modelled.",
        (
            Option(("-o", "--output"), "write to this file instead of standard output", "FILE"),
            Option(("--keep-managed-fields",), "keep `metadata.managedFields`, which nothing here reads"),
            COLOR,
            HELP,
        ),
    ),
    Command(
        "export",
        "write declared objects, or those of a scenario, as YAML",
        "spec",
        "FILE[::SCENARIO | :LINE]",
        "Without a scenario: the objects that the file declares and uses. With one: all objects at the end of its\n"
        "run, or at a time. `-` reads standard input. Exit code: 0 done; 4 something is wrong with the file.",
        (
            Option(("--at",), "the time of the scenario, such as `10s`", "TIME"),
            Option(("--api",), "the version of resource.k8s.io to write (default: v1)", "VERSION", RESOURCE_VERSIONS),
            Option(("-o", "--output"), "write to this file instead of standard output", "FILE"),
            *MODEL,
            *COMMON,
        ),
    ),
    Command(
        "cel",
        "tell what a device expression is, costs and reads, and what it says of devices",
        "files",
        "EXPR [-f FILE...]",
        "Compiles the expression as an API server does with a new one (`-`: from standard input); shows type, cost\n"
        "and what it reads, and for the devices of the files the result and what decided it.\n"
        "Exit code: 0 the API takes it; 1 it does not; 4 a file cannot be used.",
        (
            Option(("-f", "--file"), "`.dra` files, manifests, folders of them, or - for a dump", "FILE"),
            Option(("--device",), "only these devices: DEVICE, POOL/DEVICE or DRIVER/POOL/DEVICE", "DEVICE"),
            Option(("--derived",), "it is the expression of a derived attribute, no selector"),
            FORMAT,
            *MODEL,
            *COMMON,
        ),
    ),
    Command(
        "allocate",
        "allocate claims on a node, or tell why that cannot be",
        "files",
        "FILE... --node NODE --claim CLAIM",
        "Asks the allocator once, as the scheduler would for a pod with these claims. Files are `.dra`, manifests,\n"
        "folders of them, or - for a dump; claims that are allocated there have their devices.\n"
        "Exit code: 0 allocated; 1 not; 4 a file cannot be used.",
        (
            Option(("--node",), "the node", "NODE"),
            Option(("--claim",), "a claim, or a template; several are allocated together", "CLAIM"),
            Option(("--why",), "tell for each device what keeps it from a request, and which quirks counted"),
            Option(("--format",), "what to print", "FORMAT", ("pretty", "json", "yaml")),
            *MODEL,
            *COMMON,
        ),
    ),
    Command(
        "why",
        "tell why a pod waits, or what a claim or node holds, from a cluster dump or a scenario",
        "files",
        "pod/NAME | claim/NAME | node/NAME",
        "Looks at a cluster as the scheduler would now and prints a tree: node, claim, request, device, and the first\n"
        "rule that refused it. The cluster stands in files (manifests, dumps, folders of them, - for a dump)\n"
        "or is that of a scenario at its end or at a time (-f FILE.dra::SCENARIO).\n"
        "Exit code: 0 told; 4 a file cannot be used.",
        (
            Option(("-f", "--file"), "where the cluster stands; may be given several times", "FILE"),
            Option(("-n", "--namespace"), "the namespace of the object (default: default)", "NAMESPACE"),
            Option(("--at",), "let the cluster live until then, or the scenario's time", "TIME"),
            FORMAT,
            *MODEL,
            *COMMON,
        ),
    ),
    Command(
        "evict",
        "tell whom a taint rule would evict from a cluster, and when",
        "files",
        "RULE.yaml -f FILE",
        "Applies the DeviceTaintRule to the cluster of the files, in which nothing else moves; an effect other than\n"
        "NoExecute is taken for it. Exit code: 0 told; 4 a file cannot be used, or taint rules are off.",
        (
            Option(("-f", "--file"), "where the cluster stands; may be given several times", "FILE"),
            FORMAT,
            *MODEL,
            *COMMON,
        ),
    ),
    Command(
        "diff",
        "play scenarios under two versions, sets of gates or files, and tell whose fate changes",
        "specs",
        "A [B]",
        "Plays the scenarios of A with --k8s and --feature-gates, those of B (else of A) with --with-k8s and\n"
        "--with-feature-gates, and compares what becomes of each pod; scenarios are paired by their titles.\n"
        "Exit code: 0 the same; 1 something differs; 4 something could not be run.",
        (
            Option(("--with-k8s",), "the Kubernetes version of the second side", "VERSION"),
            Option(("--with-feature-gates",), "feature gates of the second side: A=true,B=false", "GATES"),
            FORMAT,
            *MODEL,
            *COMMON,
        ),
    ),
    Command(
        "explain",
        "tell the long story of a diagnostic code, or what a quirk does",
        "code",
        "[CODE|QUIRK]...",
        "Without a code, all of them are listed; `quirks` lists all that `quirks { ... }` switches.",
        (HELP,),
    ),
    Command(
        "init",
        "start a project: a configuration and a first spec that passes",
        "folder",
        "[DIR]",
        "Writes dralang.toml and specs/first.dra; what exists is never overwritten.",
        (HELP,),
    ),
    Command(
        "completion",
        "print a shell's completion script",
        "shell",
        "bash | zsh | fish",
        "bash: source <(dralang completion bash)\n"
        "zsh:  dralang completion zsh > a folder of $fpath, as _dralang\n"
        "fish: dralang completion fish > ~/.config/fish/completions/dralang.fish",
        (HELP,),
    ),
    Command(
        "help", "show the help of a command", "command", "[COMMAND]", "The same as `dralang COMMAND --help`.", (HELP,)
    ),
)


def command_named(name: str) -> Command | None:
    """A command, or None."""
    return next((command for command in COMMANDS if command.name == name), None)


def overview() -> str:
    """The help of `dralang` itself."""
    lines = [
        "dralang: executable scenarios for Kubernetes Dynamic Resource Allocation",
        "",
        "usage: dralang COMMAND [OPTION]... [ARGUMENT]...",
        "",
        "commands:",
        *[f"  {command.name:<12}{command.summary}" for command in COMMANDS],
        "",
        "options:",
        "  --version   show the version",
        "  -h, --help  show this; after a command, its help",
        "",
        "Configuration: dralang.toml, or [tool.dralang] in pyproject.toml; DRALANG_K8S and the like stand above it,",
        "options above both. `dralang test` takes options from DRALANG_ADDOPTS too (docs/configuration.md).",
    ]
    return "\n".join(lines) + "\n"


def help_of(command: Command) -> str:
    """The help of a command."""
    shown = []
    for option in command.options:
        names = ", ".join(option.names)
        value = "|".join(option.choices) or option.metavar
        shown.append((f"{names} {value}".rstrip(), option.help))
    width = max(len(left) for left, _ in shown) + 2
    lines = [
        f"usage: dralang {command.name} [OPTION]... {command.usage}",
        "",
        f"{command.summary[0].upper()}{command.summary[1:]}.",
        command.description,
        "",
        "options:",
        *[f"  {left:<{width}}{right}" for left, right in shown],
    ]
    return "\n".join(lines) + "\n"
