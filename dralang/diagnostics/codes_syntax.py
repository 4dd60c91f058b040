"""The codes of reading a `.dra` text: DRA0101 to DRA0109 characters and files, DRA0110 and up sentences."""

from typing import Final

from dralang.diagnostics.code import Code

_LEXICAL: Final[dict[str, Code]] = {
    "DRA0101": Code(
        title="unexpected character",
        explanation=(
            "Outside of quotes and backticks a `.dra` text consists of words, `{ } ( ) [ ]`, `, ; : =`, `..` and "
            "`'s`. Names hold letters, digits, `-`, `_`, `.`, `/`, ranges, globs and `${...}`; a name with other "
            "characters, or one that ends in `-` or `.`, stands in double quotes. Conditions stand between backticks, "
            "where CEL's operators are at home. Invisible characters (other spaces, byte order marks, carriage "
            "returns without a line feed) come from copying: type the line again."
        ),
        example='node worker@rack-1     # DRA0101\nnode "worker@rack-1"   # right\n',
    ),
    "DRA0102": Code(
        title="text or expression that is not closed",
        explanation=(
            "A text in double quotes ends on the line on which it begins; write `\\n` for a line end in it. A CEL "
            "expression between backticks may span lines, but not past the end of its declaration. The rest of the "
            "line is taken for the text, so that the error does not spread."
        ),
        example='class gpu {\n  where `device.driver == "gpu.example.com"   # DRA0102\n}\n',
    ),
    "DRA0103": Code(
        title="unknown escape",
        explanation=(
            'In a text in double quotes a backslash begins one of `\\"`, `\\\\`, `\\n`, `\\t`, `\\r`, `\\/` and '
            "`\\uXXXX` (four hexadecimal digits, no half of a surrogate pair). Anything else is a mistake: write two "
            "backslashes for one."
        ),
        example='use "manifests\\gpus.yaml"   # DRA0103: write /\n',
    ),
    "DRA0104": Code(
        title="nested too deeply",
        explanation=(
            "Brackets nest at most 64 deep. No object of the Kubernetes API comes near; a text that does is damaged or "
            "generated. Nothing after the place is read."
        ),
        example="pod deep { x: " + "[" * 64 + "]" * 64 + " }\n",
    ),
    "DRA0105": Code(
        title="file too large",
        explanation=(
            "A `.dra` file holds at most 2 MiB (2097152 bytes). Larger sets of objects are read faster from YAML or "
            "JSON: `use` loads them. Specs are split by topic and share declarations with `use` as well."
        ),
        example="yes 'node worker' | head -c 3000000 > large.dra   # makes a file that is refused with DRA0105\n",
    ),
    "DRA0106": Code(
        title="not a UTF-8 text",
        explanation=(
            "A `.dra` file is text in UTF-8, with or without a byte order mark. UTF-16 and UTF-32 (some editors' "
            '"Unicode"), Latin-1 and binary files are refused. The error names the first byte that is wrong, from 0.'
        ),
        example="printf 'node w\\374rfel\\n' > latin-1.dra   # makes a file that is refused with DRA0106\n",
    ),
    "DRA0107": Code(
        title="other quotes",
        explanation=(
            'Texts stand in double quotes `"..."`. Single quotes, and the curly quotes of text processors, are not '
            "used; `'s` is the possessive of `serve's claim gpu`. Inside of CEL both kinds of quotes are right."
        ),
        example="scenario 'first come' {   # DRA0107\n}\n",
    ),
    "DRA0108": Code(
        title="comment of another language",
        explanation=(
            "A comment starts with `#` and ends with its line. There is no block comment. Inside of CEL, between "
            "backticks, comments are CEL's own and start with `//`."
        ),
        example="node worker-1   // DRA0108: write #\n",
    ),
    "DRA0109": Code(
        title="too many errors",
        explanation=(
            "After 50 errors of one kind in a file the rest is not reported, as most of it would follow from the "
            "first ones. A file with so many characters that mean nothing is perhaps no `.dra` file."
        ),
        example="@ " * 50 + "\n",
    ),
}
_SENTENCES: Final[dict[str, Code]] = {
    "DRA0110": Code(
        title="something else was expected",
        explanation=(
            "The words up to the underlined one begin a sentence of the language, and this word cannot continue it. "
            "The error lists what could stand here, most useful first. The statement is left out, and the rest of "
            "the file is checked."
        ),
        example='scenario "one GPU" {\n  expect train rnus on worker-1   # DRA0110: did you mean `runs`?\n}\n',
    ),
    "DRA0111": Code(
        title="missing bracket",
        explanation=(
            "A `{`, `(` or `[` has no counterpart. Where the closing one belongs is told from the indentation: an item "
            "in the first column ends everything before it, and a line that is not indented more than that of a `{` "
            "lies outside of it. The error stands where the bracket was expected, with the place of the opening one."
        ),
        example=(
            'scenario "one GPU" {\n  at 10s {\n    create train   # DRA0111: `}` is missing after this line\n'
            "  expect train runs\n}\n"
        ),
    ),
    "DRA0112": Code(
        title="surplus bracket",
        explanation=(
            "A closing bracket has no opening one. Either it is one too many, or an opening one was lost, or an "
            "earlier `}` closed too much: a `}` stands below the line that it closes, indented like it."
        ),
        example="node worker-1 {\n  cpu: 4\n}\n}   # DRA0112\n",
    ),
    "DRA0113": Code(
        title="unknown statement",
        explanation=(
            "A line begins with a keyword that may stand there, or with a fixture's name and parentheses. At the top "
            "level of a file these are declarations (`pod`, `class`, ...), `use`, `fixture`, `scenario`, `fuzz`, "
            "`always`, `never` and the header; in a scenario declarations, actions (`create`, `delete`, ...), times "
            "(`at`, `after`, ...) and expectations; in a declaration fields (`name: value`) and its sugar."
        ),
        example='scenario "one GPU" {\n  crate train   # DRA0113: did you mean `create`?\n}\n',
    ),
    "DRA0114": Code(
        title="keyword in the wrong place",
        explanation=(
            "The keyword exists, but stands somewhere else: actions and expectations in a scenario or fuzz, `device` "
            "in a slice, `request` in a claim or template, `where` in a class or request, `use`, `fixture` and "
            "`scenario` at the top level. Often a `}` a line earlier closed too much."
        ),
        example="expect train runs   # DRA0114: only in a scenario\n",
    ),
    "DRA0115": Code(
        title="missing colon",
        explanation=(
            "A field is `name: value`, or `name { ... }` if its value is a struct or map. Only the language's own "
            "words (`device`, `request`, `where`, ...) are followed by something else."
        ),
        example="slice gpus {\n  driver gpu.example.com   # DRA0115: write `driver: gpu.example.com`\n}\n",
    ),
    "DRA0116": Code(
        title="`:` and `=` mixed up",
        explanation=(
            "`:` stands between a field and its value and between a request's name and its contents. `=` stands in "
            "taints and labels (`key=value`), for the default of a parameter and after `derive NAME`. Keywords take "
            "neither: `kubernetes 1.37`, `gates { ... }`, `device gpu-0 { ... }`."
        ),
        example="slice gpus {\n  driver = gpu.example.com   # DRA0116: write `driver: gpu.example.com`\n}\n",
    ),
    "DRA0117": Code(
        title="two statements on one line",
        explanation=(
            "Statements end with their line or with `;`; entries of a block and map with their line, `;` or `,`."
        ),
        example='scenario "one GPU" {\n  create train create serve   # DRA0117: `;` is missing\n}\n',
    ),
    "DRA0118": Code(
        title="`{` on a line of its own",
        explanation="A `{` stands at the end of the line of its head, as the head would end with its line otherwise.",
        example='scenario "one GPU"\n{   # DRA0118\n  create train\n}\n',
    ),
}
_NEAR_MISSES: Final[dict[str, Code]] = {
    "DRA0120": Code(
        title="propositions joined by words",
        explanation=(
            "A proposition says one thing: a subject and a predicate. Several subjects are separated by commas "
            "(`expect a, b run`), several propositions are several statements; then the report says which of them "
            "failed. What really is a condition (`or`, `not`, comparisons) is CEL between backticks."
        ),
        example='scenario "one GPU" {\n  expect train runs and serve is pending   # DRA0120\n}\n',
    ),
    "DRA0121": Code(
        title="CEL without backticks",
        explanation=(
            "CEL expressions stand between backticks, and only there: after `where`, after `derive NAME =`, and as a "
            "proposition. In quotes they would be texts, and CEL uses quotes itself."
        ),
        example="class gpu {\n  where \"device.driver == 'gpu.example.com'\"   # DRA0121\n}\n",
    ),
    "DRA0122": Code(
        title="blank before a range",
        explanation=(
            "`gpu-[0..3]` is one word that stands for four names: the bracket touches the name. A `[` after a blank "
            "begins a list."
        ),
        example="slice gpus {\n  device gpu [0..3]   # DRA0122: write `device gpu-[0..3]`\n}\n",
    ),
    "DRA0123": Code(
        title="text without quotes",
        explanation=(
            "Titles of scenarios, reasons of `xfail` and `because`, and messages after `says` are texts in double "
            "quotes."
        ),
        example="scenario first come, first served {   # DRA0123\n}\n",
    ),
    "DRA0124": Code(
        title="malformed time",
        explanation=(
            "A time follows `at` (since the start), `after` (since the previous statement) or `within` (at most so "
            "much later), then comes the statement: `at 10s create serve`. It is one word with a unit: `250ms`, "
            "`10s`, `1m30s`, `2h`."
        ),
        example='scenario "one GPU" {\n  10s create serve   # DRA0124: write `at 10s create serve`\n}\n',
    ),
    "DRA0125": Code(
        title="malformed table",
        explanation=(
            "The head of a scenario can hold one table: `for X in [a, b]`, `for X in 1..3` (both ends included), or "
            "`for (X, Y) in [(1, 2), (3, 4)]` with a row for each scenario. The names are used as `${X}`."
        ),
        example='scenario "row ${X}" for X, Y in [(1, 2)] {   # DRA0125\n}\n',
    ),
    "DRA0126": Code(
        title="word of another language",
        explanation=(
            "The word is common elsewhere, and here another one says it: `runs on` for scheduled, `counters` for "
            "counter, `all pods` for pods, `expect` for assert, `after` for wait."
        ),
        example='scenario "one GPU" {\n  expect train scheduled on worker-1   # DRA0126: write `runs on`\n}\n',
    ),
    "DRA0127": Code(
        title="unknown state",
        explanation=(
            "After `is` and `was` stands a state: pending, running, terminating, gone, free, in-use, settled, ready, "
            "succeeded, failed, allocated, nominated, reserved, tainted, preempted, evicted, or true, false and "
            "unknown of a condition. That a pod runs is said with a verb: `runs on worker-1 with gpu-0`."
        ),
        example='scenario "one GPU" {\n  expect train is run   # DRA0127: write `train runs`\n}\n',
    ),
}
SYNTAX_CODES: Final[dict[str, Code]] = {**_LEXICAL, **_SENTENCES, **_NEAR_MISSES}
