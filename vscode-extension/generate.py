"""Writes `syntaxes/dra.tmLanguage.json` from the one table of words, `dralang/syntax/vocabulary.py`.

    python vscode-extension/generate.py

`tests/editor` compares the committed file with a fresh one, and its scopes with what dralang's own parser says of every
token of every spec.

Two principles. Every rule that spans lines gives up at a line that begins at column 1 with a declaration or a
scenario, so a missing bracket colours nothing after its own block. And a name is taken together with the keyword that
announces it (`pod at`, `class all`), so a name that looks like a keyword is a name.
"""

import json
from pathlib import Path
from typing import Final

from grammar_parts import (
    AFTER,
    AFTER_LIST,
    BEFORE,
    COLON,
    COMMA,
    END_OF_ENTRY,
    END_OF_STATEMENT,
    EQUAL,
    FOLLOWS,
    GAP,
    KEYWORD_SCOPES,
    KINDS,
    MISSING,
    MISSING_IN_LIST,
    NAME,
    NO_HOLE,
    PREDICATES,
    RANGE,
    SPACE,
    UNWIND,
    WORD_START,
    Rule,
    any_kind,
    any_of,
    bracketed,
    either,
    joined,
    keyword,
    listed,
    look,
    mark,
    match,
    maybe,
    more,
    name,
    of_kind,
    pick,
    reference,
    region,
    scalar,
    state,
    taint_parts,
    timed,
    use,
    words,
)

from dralang.syntax.vocabulary import CATEGORIES, STATES

TARGET: Final = Path(__file__).parent / "syntaxes" / "dra.tmLanguage.json"


INNER: Final = ("string", "cel", "block", "list")
# Calls to the API server that `fail next` takes.
CALLS: Final = ("create", "update", "delete", "bind")


def lexical() -> dict[str, Rule]:
    """Comments, strings, CEL, words and what is in them."""
    by_category = [
        {"match": words(*entries), "name": KEYWORD_SCOPES[category]} for category, entries in CATEGORIES.items()
    ]
    states = "|".join(sorted(STATES, key=lambda state: (-len(state), state)))
    number = r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)"
    numeric = "constant.numeric"
    return {
        "comment": match_named("#.*$", "comment.line.number-sign.dra"),
        "string": region(
            mark('"', "punctuation.definition.string.begin"),
            until=joined(mark('"', "punctuation.definition.string.end"), look("|$")),
            inside=[
                match_named(r'\\(?:u[0-9a-fA-F]{4}|["\\ntr/])', "constant.character.escape.dra"),
                *use("substitution"),
            ],
            scope="string.quoted.double.dra",
        ),
        "cel": region(
            mark("`", "punctuation.definition.cel.begin"),
            until=joined(mark("`", "punctuation.definition.cel.end"), look(f"|{UNWIND}")),
            inside=[*use("substitution"), {"include": "source.cel.dra"}],
        )
        | {"contentName": "meta.embedded.inline.cel"},
        "substitution": region(
            mark(r"\$\{", "punctuation.section.embedded.begin"),
            until=joined(mark(r"\}", "punctuation.section.embedded.end"), look("|$")),
            inside=[
                *use("string"),
                match_named("[0-9]+", f"{numeric}.integer.dra"),
                match_named("[-+*/%]", "keyword.operator.arithmetic.dra"),
                match_named("[A-Za-z_][A-Za-z0-9_]*", "variable.parameter.dra"),
            ],
            scope="meta.template.expression.dra",
        ),
        "range": region(
            mark(r"(?<=[^ \t,(])\[", "punctuation.section.range.begin"),
            until=joined(mark(r"\]", "punctuation.section.range.end"), look("|$")),
            inside=[
                *use("substitution"),
                match(RANGE),
                match_named(r"-?[0-9]+(?=\.\.|[ \t]|\])", f"{numeric}.integer.dra"),
                match(keyword("as"), SPACE, mark("[A-Za-z_][A-Za-z0-9_]*", "variable.parameter")),
            ],
            scope="meta.range.dra",
        ),
        "wildcard": match_named(r"\*", "constant.other.wildcard.dra"),
        "keyword": {"patterns": by_category},
        "state": match_named(f"{BEFORE}(?:{states}){AFTER}", "variable.other.enummember.state.dra"),
        "reference": match(name("reference")),
        "minutes": match_named(f"{number}m{AFTER}", f"{numeric}.duration.dra"),
        "scalar": {
            "patterns": [
                match_named(f"{BEFORE}(?:true|false){AFTER}", "constant.language.boolean.dra"),
                match_named(f"{BEFORE}null{AFTER}", "constant.language.null.dra"),
                match_named(
                    rf"{BEFORE}v[0-9]+(?:\.[0-9]+){{2}}(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?{AFTER}",
                    f"{numeric}.version.dra",
                ),
                match_named(
                    rf"{number}(?:ms|s|h(?![0-9])|(?:h|m|s)(?=[0-9])[0-9hms.]*[hms]){AFTER}", f"{numeric}.duration.dra"
                ),
                match_named(rf"{number}%{AFTER}", f"{numeric}.percentage.dra"),
                match_named(rf"{number}(?:[KMGTPE]i|[numkMGTPE]){AFTER}", f"{numeric}.quantity.dra"),
                match_named(rf"{number}(?:[eE][+-]?[0-9]+)?{AFTER}", f"{numeric}.dra"),
                match(name("value")),
            ]
        },
    }


def match_named(regex: str, scope: str) -> Rule:
    """A rule for a single scope."""
    return {"match": regex, "name": scope}


def values() -> dict[str, Rule]:
    """Values, and what may stand in them."""
    holes = [
        match(keyword("any"), SPACE, maybe(keyword("subset"), SPACE), keyword("of"), look(r"(?=[ \t]*\[)")),
        match(keyword("any"), SPACE, scalar(), GAP, RANGE, GAP, scalar()),
        match(any_kind()),
    ]
    of_class = joined(keyword("of"), SPACE, either(any_of(), name("reference")))
    requests = [
        match(keyword("all"), SPACE, of_class),
        match(keyword("any"), SPACE, scalar(), GAP, RANGE, GAP, scalar(), SPACE, of_class),
        match(AFTER_LIST, of_class),
        match(NO_HOLE, scalar(), SPACE, of_class),
        match(keyword("first"), SPACE, keyword("available")),
        match(keyword("where"), look(r"(?=[ \t]*`)")),
    ]
    return {
        "hole": {"patterns": holes},
        "value": {
            "patterns": [
                *use("comment"),
                *requests,
                *use("hole", "string", "cel", "block", "list", "tuple"),
                match(RANGE),
                match(scalar()),
            ]
        },
        "list": bracketed(r"\[", r"\]", "list", [*use("value"), match(COMMA)], MISSING_IN_LIST),
        "tuple": bracketed(r"\(", r"\)", "tuple", [*use("value"), match(COMMA)], MISSING_IN_LIST),
        "block": bracketed(r"\{", r"\}", "block", use("entry")),
    }


def entries() -> dict[str, Rule]:
    """What a block of fields holds: fields, and sugar."""
    closing = use("comment", "block", "cel", "list")
    sugar = [
        # A field that is called like a keyword is a field.
        match(name("field"), look(r"(?=[ \t]*\{)")),
        region(keyword("request"), SPACE, name("declared"), GAP, COLON, until=END_OF_ENTRY, inside=use("value")),
        match(keyword("device", "counters", "consumes"), SPACE, name("declared")),
        match(maybe(keyword("init"), SPACE), keyword("container"), SPACE, name("declared")),
        match(keyword("where"), look(r"(?=[ \t]*`)")),
        match(keyword("match", "distinct"), SPACE, name("key")),
        listed(keyword("across"), SPACE, item=name("reference")),
        region(
            keyword("taint", "tolerate"), FOLLOWS, until=END_OF_ENTRY,
            inside=[*timed(keyword("for")), match(look(r"\G[ \t]+"), NO_HOLE, name("key")), *taint_parts()],
        ),
        *timed(keyword("for")),
        match(keyword("derive"), SPACE, name("key"), GAP, EQUAL),
        match(keyword("claim"), SPACE, name("declared"), SPACE, keyword("from", "is"), SPACE, pick()),
        match(keyword("claim"), SPACE, name("declared"), SPACE, keyword("request"), SPACE, name("reference")),
        match(keyword("claim"), SPACE, name("declared")),
        match(keyword("on"), SPACE, keyword("node"), SPACE, pick()),
    ]  # fmt: skip
    field = region(name("field"), GAP, COLON, until=END_OF_ENTRY, inside=use("value"))
    return {"entry": {"patterns": [*closing, field, *sugar, match(mark("[,;]", "punctuation.separator.entry"))]}}


def declarations() -> list[Rule]:
    """Items: what a file consists of, apart from scenarios."""
    return [
        match(keyword("kubernetes"), SPACE, scalar()),
        region(keyword("gates", "quirks", "scheduler"), until=END_OF_STATEMENT, inside=use("comment", "block")),
        match(keyword("use"), SPACE, name("module"), maybe(SPACE, keyword("as"), SPACE, name("module"))),
        region(
            keyword("fixture"), SPACE, name("fixture"), GAP, mark(r"\(", "punctuation.section.parameters.begin"),
            until=joined(mark(r"\)", "punctuation.section.parameters.end"), look(f"|{MISSING}")),
            inside=[
                *use("comment"),
                region(EQUAL, until=rf"(?=[,)])|{MISSING}", inside=use("value")),
                match(COMMA),
                match(name("parameter")),
            ],
        ),
        region(
            keyword(*KINDS), SPACE, name("declared"), until=END_OF_STATEMENT,
            inside=[
                *use("comment", "block"),
                region(COLON, until=rf"(?=\{{)|{END_OF_STATEMENT}", inside=use("value")),
                # A pod's claim in a file that is not indented.
                match(keyword("from", "is"), SPACE, name("reference")),
            ],
        ),
    ]  # fmt: skip


def heads() -> list[Rule]:
    """Scenarios and what their heads hold; the body follows by itself."""
    bound = joined(SPACE, scalar(), GAP, RANGE, GAP, scalar())
    table = joined(keyword("for"), GAP, mark(r"\(", "punctuation.section.tuple.begin"))
    return [
        match(keyword("scenario", "fuzz"), look(r'(?=[ \t]*")')),
        listed(keyword("tagged"), SPACE, item=name("tag")),
        match(keyword("xfail"), look(r'(?=[ \t]*")')),
        match(keyword("for"), SPACE, name("parameter"), SPACE, keyword("in"), maybe(bound)),
        region(
            table, until=joined(mark(r"\)", "punctuation.section.tuple.end"), look(f"|{MISSING}")),
            inside=[*use("comment"), match(COMMA), match(name("parameter"))],
        ),
        match(keyword("in"), look(r"(?=[ \t]*\[)")),
        match(keyword("from"), SPACE, look(rf"(?={NAME}[ \t]*\()")),
        region(
            name("fixture"), GAP, mark(r"\(", "punctuation.section.arguments.begin"),
            until=joined(mark(r"\)", "punctuation.section.arguments.end"), look(f"|{MISSING}")),
            inside=[match(name("parameter"), GAP, COLON), *use("value"), match(COMMA)],
        ),
    ]  # fmt: skip


def actions() -> list[Rule]:
    """What happens in a scenario."""
    start = look(r"\G[ \t]+")
    ref = reference()
    labelled = joined(name("key"), GAP, EQUAL, maybe(GAP, NO_HOLE, name("value")))
    on_device = joined(keyword("device"), SPACE, pick())
    condition = joined(keyword("set"), SPACE, keyword("condition"), SPACE)
    of_claim = joined(keyword("of"), SPACE, ref)
    target = joined(
        SPACE, either(any_kind(), joined(keyword("device", "node"), SPACE, either(any_of(), name("reference"))))
    )
    tail = region(COLON, until=END_OF_STATEMENT, inside=[*use("because", "value")])
    call = joined(keyword(*CALLS), SPACE, keyword("of"), SPACE, ref)
    return [
        match(keyword("settle")),
        match(keyword("maybe"), FOLLOWS),
        *timed(keyword("at", "after")),
        *timed(keyword("within")),
        *timed(keyword("repeat")),
        match(keyword("as"), SPACE, name("parameter")),
        match(keyword("any"), SPACE, keyword("order"), SPACE, keyword("of")),
        match(keyword("fail"), SPACE, keyword("next"), SPACE, any_of()),
        match(
            keyword("fail"), SPACE, keyword("next"), SPACE, keyword("any"), SPACE, scalar(), GAP, RANGE, GAP, scalar(),
            SPACE, call,
        ),
        match(
            keyword("fail"), SPACE, keyword("next"), SPACE, maybe(look(f"(?!{words(*CALLS)})"), scalar(), SPACE), call,
        ),
        match(AFTER_LIST, call),
        region(
            keyword("create", "delete", "finish", "fail", "cordon", "uncordon"), FOLLOWS, until=END_OF_STATEMENT,
            inside=[
                *use("comment"),
                match(start, ref),
                match(keyword("like"), SPACE, ref),
                more(ref),
                *use("block", "list"),
            ],
        ),
        region(
            condition, either(any_of(), joined(name("field"), SPACE, of_claim)), until=END_OF_STATEMENT,
            inside=[*use("comment", "list"), match(AFTER_LIST, of_claim), match(on_device), tail],
        ),
        region(
            keyword("set"), SPACE, ref, SPACE, name("field"), GAP, look("(?=:)"), until=END_OF_STATEMENT,
            inside=[tail],
        ),
        region(
            keyword("set"), SPACE, ref, until=END_OF_STATEMENT,
            inside=[*use("comment", "list", "block"), match(name("field"), GAP, look("(?=:)")), tail],
        ),
        match(keyword("publish"), FOLLOWS),
        region(
            keyword("taint"), target, until=END_OF_STATEMENT,
            inside=[match(keyword("with"), SPACE, either(any_of(), name("key"))), *taint_parts()],
        ),
        region(
            keyword("untaint"), target, until=END_OF_STATEMENT,
            inside=[
                match(either(start, AFTER_LIST), NO_HOLE, name("key")),
                *taint_parts(),
            ],
        ),
        region(
            keyword("label"), SPACE, ref, SPACE, labelled, until=END_OF_STATEMENT,
            inside=[*use("comment", "hole", "list"), more(labelled)],
        ),
        region(
            keyword("label"), SPACE, ref, until=END_OF_STATEMENT,
            inside=[*use("comment", "hole", "list"), more(labelled), match(labelled)],
        ),
        match(keyword("pause", "resume", "restart", "delay"), SPACE, any_of()),
        match(keyword("pause", "resume", "restart"), SPACE, name("component")),
        *timed(AFTER_LIST, keyword("by")),
        *timed(keyword("delay"), SPACE, name("component"), SPACE, keyword("by")),
        region(keyword("compare"), SPACE, keyword("with"), until=END_OF_STATEMENT, inside=use("comment", "block")),
    ]  # fmt: skip


def expectations() -> dict[str, Rule]:
    """Propositions, after the keyword that says when they must hold."""
    start = look(r"\G[ \t]+")
    subject = reference(subject=True)
    number = joined(SPACE, scalar(), look(rf"(?=[ \t]+(?!{PREDICATES}){WORD_START})"))
    quantified = [
        match(start, keyword("exactly"), number),
        match(start, keyword("at"), SPACE, keyword("least", "most"), number),
        match(start, keyword("more", "fewer"), SPACE, keyword("than"), number),
        match(start, keyword("none"), look(rf"(?=[ \t]+{words('of', 'pods', 'pod')})")),
        match(start, keyword("none", "all", "no"), look(rf"(?=[ \t]+(?!{PREDICATES}){WORD_START})")),
        match(keyword("of"), SPACE, subject),
        match(state(), SPACE, keyword("pod", "pods"), look(rf"(?=[ \t]+{PREDICATES})")),
        match(keyword("pod", "pods"), look(rf"(?=[ \t]+{PREDICATES})")),
    ]
    first = [
        match(start, keyword("condition"), SPACE, name("field"), SPACE, keyword("of"), SPACE, subject),
        match(start, subject),
    ]
    possessive = mark("'s", "keyword.operator.possessive")
    after_state = words("on", "by", "for", "consuming", "because")
    predicates = [
        match(GAP, possessive, SPACE, keyword("claim"), SPACE, name("reference")),
        match(keyword("does", "do"), SPACE, keyword("not"), SPACE, keyword("run")),
        match(keyword("runs", "run")),
        match(
            keyword("is", "are", "was", "were"), SPACE, maybe(keyword("not"), SPACE), state(),
            maybe(SPACE, look(rf"(?!{after_state})(?={WORD_START})"), of_kind("device")),
        ),
        match(keyword("preempted"), SPACE, reference()),
        match(keyword("has", "have"), SPACE, scalar(), SPACE, name("field"), SPACE, keyword("left")),
        match(keyword("says"), look(r'(?=[ \t]*")')),
        match(keyword("can"), SPACE, name("value")),
        listed(keyword("with"), SPACE, item=of_kind("device")),
        listed(keyword("for"), SPACE, item=of_kind("device", "pod")),
        match(keyword("on"), SPACE, of_kind("node")),
        match(keyword("by"), SPACE, reference()),
        match(keyword("consuming"), look(r"(?=[ \t]*\{)")),
        match(keyword("because"), look(r'(?=[ \t]*")')),
    ]  # fmt: skip
    # What a device or node is tainted with, on a line of its own.
    taint = region(
        keyword("with"), SPACE, either(any_of(), joined(name("key"), GAP, look("(?=[=:])"))), until=END_OF_STATEMENT,
        inside=taint_parts(),
    )  # fmt: skip
    inside = [
        *use("comment"),
        *quantified[:5],
        *first,
        *quantified[5:],
        *predicates,
        more(subject),
        *use(*INNER),
    ]
    return {
        "because": match(keyword("because"), look(r'(?=[ \t]*")')),
        "expectation": region(
            keyword("expect", "always", "never", "witness"), FOLLOWS, until=END_OF_STATEMENT, inside=inside
        ),
        # A line that begins with one of these continues the line before.
        "continuation": region(
            look(r"^[ \t]*(?=(?:because|consuming|with|for)[ \t])(?![a-z]+[ \t]*:)"),
            look(rf"(?!for[ \t]+(?:\(|{NAME}[ \t]+in[ \t]))"),
            until=END_OF_STATEMENT,
            inside=[*use("comment"), taint, *predicates, more(subject), *use(*INNER)],
        ),
    }  # fmt: skip


def statements() -> dict[str, Rule]:
    """What stands at the top level and in the bodies of fixtures and scenarios.

    Blocks of fields belong to the rule of their statement, so a `{` that is met here opens a body.
    """
    return {
        "statement": {
            "patterns": [
                *use("comment"),
                *heads(),
                *use("string"),
                *use("continuation", "expectation"),
                *declarations(),
                *actions(),
                *use("hole", "list", "body"),
                match(mark(";", "punctuation.terminator.statement")),
            ]
        },
        "body": bracketed(r"\{", r"\}", "body", use("statement"), escape=UNWIND),
    }


def grammar() -> Rule:
    """The whole TextMate grammar."""
    return {
        "information_for_contributors": [
            "Generated by vscode-extension/generate.py from dralang/syntax/vocabulary.py: change those, generate again."
        ],
        "name": "dralang scenario",
        "scopeName": "source.dra",
        "fileTypes": ["dra"],
        "patterns": use("statement"),
        "repository": {**lexical(), **values(), **entries(), **expectations(), **statements()},
    }


def render() -> str:
    """The text of the grammar file."""
    return json.dumps(grammar(), indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    TARGET.write_text(render(), encoding="utf-8", newline="\n")
