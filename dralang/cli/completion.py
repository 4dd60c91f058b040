"""`dralang completion`: completion scripts, made from the same table as help and reading."""

from dralang.cli import exits
from dralang.cli.arguments import Arguments, Option, UsageError, unknown_choice
from dralang.cli.commands import COMMANDS, Command
from dralang.cli.console import Console

SHELLS = ("bash", "zsh", "fish")


def run(arguments: Arguments, console: Console) -> int:
    """Run the command."""
    if len(arguments.positionals) != 1:
        raise UsageError("`dralang completion` takes the name of a shell", "it can be `bash`, `zsh`, `fish`")
    shell = arguments.positionals[0]
    if shell not in SHELLS:
        raise unknown_choice("the shell", shell, SHELLS)
    console.out({"bash": bash, "zsh": zsh, "fish": fish}[shell]())
    return exits.OK


def _names() -> str:
    return " ".join(command.name for command in COMMANDS)


# ---- bash -----------------------------------------------------------------------------------------------------------

_BY_LINE = "IFS=$'\\n'; "  # names of files may have spaces
_BASH_ARGUMENTS = {
    "specs": _BY_LINE + 'COMPREPLY=($(compgen -f -X "!*.dra" -- "$current") $(compgen -d -- "$current"))',
    "spec": _BY_LINE + 'COMPREPLY=($(compgen -f -X "!*.dra" -- "$current") $(compgen -d -- "$current"))',
    "files": _BY_LINE + 'COMPREPLY=($(compgen -f -- "$current"))',
    "folder": _BY_LINE + 'COMPREPLY=($(compgen -d -- "$current"))',
    "code": 'COMPREPLY=($(compgen -W "$(dralang explain 2>/dev/null | cut -d \' \' -f 1)" -- "$current"))',
    "shell": f'COMPREPLY=($(compgen -W "{" ".join(SHELLS)}" -- "$current"))',
}


def bash() -> str:
    """The script for bash 3.2 and later."""
    values, options, arguments = [], [], []
    for command in COMMANDS:
        options.append(f'      {command.name}) words="{" ".join(_all_names(command))}" ;;')
        reply = _BASH_ARGUMENTS.get(command.takes, f'COMPREPLY=($(compgen -W "{_names()}" -- "$current"))')
        arguments.append(f"    {command.name}) {reply} ;;")
        for option in command.options:
            if option.metavar:
                reply = (
                    f'COMPREPLY=($(compgen -W "{" ".join(option.choices)}" -- "$current"))'
                    if option.choices
                    else ('COMPREPLY=($(compgen -f -- "$current"))' if option.metavar == "FILE" else ":")
                )
                patterns = "|".join(f"{command.name}:{name}" for name in option.names)
                values.append(f"    {patterns}) {reply}; return ;;")
    lines = [
        "# dralang completion for bash",
        "_dralang() {",
        "  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} command=${COMP_WORDS[1]}",
        "  local words= IFS=$' \\t\\n'",
        "  COMPREPLY=()",
        "  if [[ $COMP_CWORD -eq 1 ]]; then",
        f'    COMPREPLY=($(compgen -W "{_names()} --help --version" -- "$current"))',
        "    return",
        "  fi",
        '  case "$command:$previous" in',
        *values,
        "  esac",
        '  if [[ "$current" == -* ]]; then',
        '    case "$command" in',
        *options,
        "    esac",
        '    COMPREPLY=($(compgen -W "$words" -- "$current"))',
        "    return",
        "  fi",
        '  case "$command" in',
        *arguments,
        "  esac",
        "}",
        "complete -o filenames -F _dralang dralang",
    ]
    return "\n".join(lines) + "\n"


def _all_names(command: Command) -> list[str]:
    return [name for option in command.options for name in option.names]


# ---- zsh ------------------------------------------------------------------------------------------------------------

_ZSH_ARGUMENTS = {
    "specs": "\"*:file:_files -g '*.dra(-.)'\"",
    "spec": "\"1:file:_files -g '*.dra(-.)'\"",
    "files": '"*:file:_files"',
    "folder": '"1:folder:_files -/"',
    "code": "\"*:code:($(dralang explain 2>/dev/null | cut -d ' ' -f 1))\"",
    "shell": f'"1:shell:({" ".join(SHELLS)})"',
}


def zsh() -> str:
    """The script for zsh, to be put into a folder of ``$fpath`` as ``_dralang``."""
    lines = [
        "#compdef dralang",
        "# dralang completion for zsh",
        "_dralang() {",
        "  local -a commands",
        "  commands=(",
        *[f"    {_quoted(f'{command.name}:{_zsh_text(command.summary)}')}" for command in COMMANDS],
        "  )",
        "  if (( CURRENT == 2 )); then",
        "    _describe command commands",
        "    return",
        "  fi",
        "  local command=$words[2]",
        "  shift words",
        "  (( CURRENT-- ))",
        "  case $command in",
    ]
    for command in COMMANDS:
        argument = _ZSH_ARGUMENTS.get(command.takes, f'"1:command:({_names()})"')
        specs = [spec for option in command.options for spec in _zsh_option(option)]
        lines += [f"    {command.name})", "      _arguments -S \\", *[f"        {spec} \\" for spec in specs]]
        lines += [f"        {argument}", "      ;;"]
    lines += [
        "  esac",
        "}",
        'if [[ $zsh_eval_context[-1] == loadautofunc ]]; then _dralang "$@"; else compdef _dralang dralang; fi',
    ]
    return "\n".join(lines) + "\n"  # fmt: skip


def _zsh_option(option: Option) -> list[str]:
    value = ""
    if option.choices:
        value = f":{option.metavar}:({' '.join(option.choices)})"
    elif option.metavar:
        value = f":{option.metavar}:{'_files' if option.metavar == 'FILE' else ' '}"
    joined = {True: "=", False: ""}
    return [
        _quoted(f"*{name}{joined[bool(option.metavar) and name.startswith('--')]}[{_zsh_text(option.help)}]{value}")
        for name in option.names
    ]


def _zsh_text(text: str) -> str:
    return text.replace("`", "").replace("[", "(").replace("]", ")").replace(":", "\\:")


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


# ---- fish -----------------------------------------------------------------------------------------------------------

_FISH_ARGUMENTS = {
    "specs": "-F",
    "spec": "-F",
    "files": "-F",
    "folder": "-a '(__fish_complete_directories)'",
    "code": "-a '(dralang explain 2>/dev/null | string replace -r \" +\" \\t)'",
    "shell": f"-a '{' '.join(SHELLS)}'",
}


def fish() -> str:
    """The script for fish."""
    lines = [
        "# dralang completion for fish",
        "complete -c dralang -f",
        "complete -c dralang -n __fish_use_subcommand -l help -s h -d 'show this'",
        "complete -c dralang -n __fish_use_subcommand -l version -d 'show the version'",
    ]
    for command in COMMANDS:
        lines.append(f"complete -c dralang -n __fish_use_subcommand -a {command.name} -d {_quoted(command.summary)}")
        seen = f"-n '__fish_seen_subcommand_from {command.name}'"
        arguments = _FISH_ARGUMENTS.get(command.takes, f"-a '{_names()}'")
        lines.append(f"complete -c dralang {seen} {arguments}")
        for option in command.options:
            names = [f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}" for name in option.names]
            value = ""
            if option.choices:
                value = f" -x -a '{' '.join(option.choices)}'"
            elif option.metavar:
                value = " -r -F" if option.metavar == "FILE" else " -x"
            lines.append(f"complete -c dralang {seen} {' '.join(names)}{value} -d {_quoted(option.help)}")
    return "\n".join(lines) + "\n"
