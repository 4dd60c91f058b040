"""The grammar: that of cel-python, patched to what Kubernetes' parser takes, as a table kept on disk.

cel-python's ``cel.lark`` is private to it, so every patch asserts that the text it replaces is there exactly once; the
version is pinned. The tables that Lark computes from it are kept as MessagePack (plain data: loading runs no code) in
the user's cache directory; whatever is wrong with that file, the tables are computed again.
"""

import contextlib
import hashlib
import importlib.util
import os
import tempfile
from pathlib import Path
from typing import Any, Final

import lark
import msgspec
from lark.grammar import Rule
from lark.lexer import TerminalDef

from dralang.cel.lexer import TEXT


def _terminal(pattern: str) -> str:
    return "/" + pattern.replace("/", r"\/") + "/"


# Each pair: what stands in cel.lark, what is to stand there. Rules become one alternative per tree node, with the
# operator kept as a token (its place is where errors point); signs belong to literals only where ANTLR has it so.
_PATCHES: Final = (
    (
        'expr           : conditionalor ["?" conditionalor ":" expr]\n',
        '?expr          : conditionalor | conditionalor QUESTION conditionalor ":" expr -> ternary\n',
    ),
    (
        'conditionalor  : [conditionalor "||"] conditionaland\n',
        "?conditionalor : conditionaland | conditionalor OR conditionaland -> logical\n",
    ),
    (
        'conditionaland : [conditionaland "&&"] relation\n',
        "?conditionaland : relation | conditionaland AND relation -> logical\n",
    ),
    (
        (
            "relation       : [relation_lt | relation_le | relation_ge | relation_gt | relation_eq | relation_ne |"
            " relation_in] addition\n"
        ),
        "?relation      : addition | relation RELATION addition -> binary\n",
    ),
    (
        (
            'relation_lt    : relation "<"\nrelation_le    : relation "<="\nrelation_gt    : relation ">"\n'
            'relation_ge    : relation ">="\nrelation_eq    : relation "=="\nrelation_ne    : relation "!="\n'
            'relation_in    : relation "in"\n'
        ),
        "",
    ),
    (
        "addition       : [addition_add | addition_sub] multiplication\n",
        (
            "?addition      : multiplication | addition PLUS multiplication -> binary"
            " | addition MINUS multiplication -> binary\n"
        ),
    ),
    ('addition_add   : addition "+"\naddition_sub   : addition "-"\n', ""),
    (
        "multiplication : [multiplication_mul | multiplication_div | multiplication_mod] unary\n",
        "?multiplication : unary | multiplication FACTOR unary -> binary\n",
    ),
    (
        (
            'multiplication_mul : multiplication "*"\nmultiplication_div : multiplication "/"\n'
            'multiplication_mod : multiplication "%"\n'
        ),
        "",
    ),
    (
        "unary          : member\n               | unary_not unary\n               | unary_neg unary\n",
        "?unary         : member | NOT+ member -> negation | MINUS+ member -> negation\n",
    ),
    ('unary_not      : "!"\nunary_neg      : "-"\n', ""),
    (
        "member         : member_dot | member_dot_arg | member_index | member_object | primary\n",
        "?member        : member_dot | member_dot_arg | member_index | member_object | primary\n",
    ),
    ('member_dot     : member "." IDENT\n', "member_dot     : member DOT [QUESTION] (IDENT | ESCAPED_IDENT)\n"),
    (
        'member_dot_arg : member "." IDENT "(" [exprlist] ")"\n',
        'member_dot_arg : member DOT IDENT LPAR [exprlist] ")"\n',
    ),
    ('member_index   : member "[" expr "]"\n', 'member_index   : member LSQB [QUESTION] expr "]"\n'),
    ('member_object  : member "{" [fieldinits] "}"\n', 'member_object  : member LBRACE [fieldinits] [","] "}"\n'),
    (
        (
            "primary        : literal | dot_ident_arg | dot_ident | ident_arg\n"
            "               | paren_expr | list_lit | map_lit | ident\n"
        ),
        "?primary       : literal | ident_arg | paren_expr | list_lit | map_lit | ident\n",
    ),
    ('dot_ident_arg  : "." IDENT "(" [exprlist] ")"\ndot_ident      : "." IDENT\n', ""),
    ('ident_arg      : IDENT "(" [exprlist] ")"\n', 'ident_arg      : [DOT] IDENT LPAR [exprlist] ")"\n'),
    ("ident          : IDENT\n", "ident          : [DOT] IDENT\n"),
    ('list_lit       : "[" [exprlist] "]"\n', 'list_lit       : LSQB [listinits] [","] "]"\n'),
    ('map_lit        : "{" [mapinits] "}"\n', 'map_lit        : LBRACE [mapinits] [","] "}"\n'),
    (
        'exprlist       : expr ("," expr)*\n',
        (
            'exprlist       : expr | exprlist "," expr\n\nlistinits      : optexpr | listinits "," optexpr\n\n'
            "optexpr        : [QUESTION] expr\n"
        ),
    ),
    (
        'fieldinits     : IDENT ":" expr ("," IDENT ":" expr)*\n',
        (
            'fieldinits     : fieldinit | fieldinits "," fieldinit\n\n'
            'fieldinit      : [QUESTION] (IDENT | ESCAPED_IDENT) ":" expr\n'
        ),
    ),
    (
        'mapinits       : expr ":" expr ("," expr ":" expr)*\n',
        'mapinits       : mapinit | mapinits "," mapinit\n\nmapinit        : optexpr COLON expr\n',
    ),
    (
        (
            "literal        : UINT_LIT | FLOAT_LIT | INT_LIT | MLSTRING_LIT | STRING_LIT | BYTES_LIT\n"
            "               | BOOL_LIT | NULL_LIT\n"
        ),
        "literal        : UINT_LIT | FLOAT_LIT | INT_LIT | STRING_LIT | BYTES_LIT | WORD_LIT\n",
    ),
    ("INT_LIT        : /-?/ /0x/ HEXDIGIT+ | /-?/ DIGIT+\n", "INT_LIT.2      : /0x[0-9a-fA-F]+|[0-9]+/\n"),
    ("UINT_LIT       : INT_LIT /[uU]/\n", "UINT_LIT.3     : /(?:0x[0-9a-fA-F]+|[0-9]+)[uU]/\n"),
    (
        'FLOAT_LIT      : /-?/ DIGIT+ "." DIGIT* EXPONENT? | /-?/ DIGIT* "." DIGIT+ EXPONENT? | /-?/ DIGIT+ EXPONENT\n',
        r"FLOAT_LIT.4    : /[0-9]*\.[0-9]+(?:[eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+/" + "\n",
    ),
    (
        "DIGIT          : /[0-9]/\n\nHEXDIGIT       : /[0-9abcdefABCDEF]/\n\nEXPONENT       : /[eE]/ /[+-]?/ DIGIT+\n",
        "",
    ),
    (
        "BYTES_LIT      : /[bB]/ MLSTRING_LIT | /[bB]/ STRING_LIT\n",
        f"BYTES_LIT.6    : {_terminal(f'[bB](?:{TEXT})')}\n",
    ),
    (
        'BOOL_LIT       : "true" | "false"\n\nNULL_LIT       : "null"\n\nIDENT          : /[_a-zA-Z][_a-zA-Z0-9]*/\n',
        "WORD_LIT.2     : /(?:true|false|null)(?![_a-zA-Z0-9])/\n\nIDENT          : /[_a-zA-Z][_a-zA-Z0-9]*/\n\n"
        r"ESCAPED_IDENT  : /`[a-zA-Z0-9_.\-\/ ]+`/" + "\n\n"
        "RELATION.2     : /[=!]=|[<>]=?|in(?![_a-zA-Z0-9])/\n\nFACTOR         : /[*%]|\\/(?!\\/)/\n\n"
        'QUESTION       : "?"\n\nCOLON          : ":"\n\nOR             : "||"\n\nAND            : "&&"\n\n'
        'PLUS           : "+"\n\nMINUS          : "-"\n\nNOT            : "!"\n\nDOT            : "."\n\n'
        'LPAR           : "("\n\nLSQB           : "["\n\nLBRACE         : "{"\n',
    ),
    ("COMMENT        : /\\/\\/.*/\n", "COMMENT        : /\\/\\/[^\\n]*/\n"),
)
# From the first line of these to the first line of the next: replaced as a whole.
_SECTIONS: Final = (
    ("STRING_LIT     : /", "BYTES_LIT ", f"STRING_LIT.5   : {_terminal(TEXT)}\n\n"),
    ("RESERVED.0 ", "WHITESPACE ", ""),
)
_OPTIONS: Final[dict[str, Any]] = {
    "parser": "lalr",
    "lexer": "basic",
    "start": "expr",
    "maybe_placeholders": False,
    "propagate_positions": False,
}
_FORMAT: Final = 2
_DIGEST: Final = 32
_WIDEST: Final = 1 << 32


class GrammarError(Exception):
    """The installed cel-python is not the one this was written for."""


def grammar_text() -> str:
    """cel-python's grammar with all patches.

    Raises:
        GrammarError: cel-python is missing or its grammar has changed.
    """
    spec = importlib.util.find_spec("celpy")
    if spec is None or spec.origin is None:
        raise GrammarError("cel-python is not installed")
    text = Path(spec.origin).with_name("cel.lark").read_text(encoding="utf-8")
    for first, last, new in _SECTIONS:
        if text.count("\n" + first) != 1 or text.count("\n" + last) != 1:
            raise GrammarError(f"the grammar of cel-python has no single section `{first}`")
        start, end = text.index("\n" + first) + 1, text.index("\n" + last) + 1
        text = text[:start] + new + text[end:]
    for old, new in _PATCHES:
        if text.count(old) != 1:
            raise GrammarError(f"the grammar of cel-python has no single `{old.splitlines()[0]}`")
        text = text.replace(old, new)
    return text


def cache_folder() -> Path | None:
    """Where tables are kept: ``$XDG_CACHE_HOME/dralang``, by default ``~/.cache/dralang``; None if there is no home."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    if base and os.path.isabs(base):
        return Path(base) / "dralang"
    try:
        return Path.home() / ".cache" / "dralang"
    except RuntimeError:
        return None


def _load(path: Path, transformer: object) -> lark.Lark | None:
    try:
        stored = path.read_bytes()
        digest, packed = stored[:_DIGEST], stored[_DIGEST:]
        if hashlib.sha256(packed).digest() != digest:
            return None
        content = msgspec.msgpack.decode(packed, strict=False)
        data, memo = content["data"], content["memo"]
        loaded: lark.Lark = lark.Lark.__new__(lark.Lark)
        # Lark's own loading of plain data, as its stand-alone parsers use it.
        loaded._load({"data": data, "memo": memo}, transformer=transformer)
    except Exception:
        return None
    return loaded


def _store(path: Path, built: lark.Lark) -> None:
    """Write the tables beside their place and move them there; a folder that cannot be written is no error."""
    data, memo = built.memo_serialize([TerminalDef, Rule])
    packed = msgspec.msgpack.encode(_plain({"data": data, "memo": memo}))
    content = hashlib.sha256(packed).digest() + packed
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=path.name)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content)
            os.replace(name, path)
        except OSError:
            os.unlink(name)
            raise


def _plain(value: object) -> object:
    """As MessagePack can hold it; Lark gives unbounded terminals a width of more than 64 bits."""
    if isinstance(value, dict):
        return {_plain(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (set, frozenset)):
        return sorted(value)
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, int) and not isinstance(value, bool):
        return min(value, _WIDEST)
    return value


def build(transformer: object, folder: Path | None) -> lark.Lark:
    """The parser, from the kept tables where there are good ones.

    Args:
        transformer: its methods are called for each rule while parsing.
        folder: where to keep the tables; None: nowhere.

    Raises:
        GrammarError: see ``grammar_text``.
    """
    text = grammar_text()
    if folder is None:
        return lark.Lark(text, transformer=transformer, **_OPTIONS)
    key = hashlib.sha256(f"{_FORMAT} {lark.__version__} {sorted(_OPTIONS.items())} {text}".encode()).hexdigest()[:20]
    path = folder / f"cel-{key}.msgpack"
    loaded = _load(path, transformer)
    if loaded is not None:
        return loaded
    _store(path, lark.Lark(text, **_OPTIONS))
    return lark.Lark(text, transformer=transformer, **_OPTIONS)
