"""Syntax errors in the words of Kubernetes' parser, which is one that ANTLR made.

It is followed step by step: how it chooses between alternatives, what it reports where none fits, and how it goes on
after an error, because later errors depend on it.

Source: ANTLR 4 runtime, DefaultErrorStrategy and the prediction of alternatives; cel-go parser/parser.go (limits).
"""

import re
from collections.abc import Callable
from typing import Final, NamedTuple

from dralang.cel.depth import RecursionLimitError, room_for
from dralang.cel.issues import Issues
from dralang.cel.lexer import EOF, NAMES, TYPES, Token, tokenize
from dralang.cel.states import END, LEVELS, State, next_tokens, rules, tokens

MAX_DEPTH: Final = 250
_MAX_RECOVERIES: Final = 30
_MAX_LOOKAHEAD: Final = 256
_MAX_REPORTS: Final = 100
_RESERVED = re.compile(r"no viable alternative at input '.(true|false|null)'")
_IDENTIFIER: Final = TYPES["IDENTIFIER"]
_MEMBER_START: Final = next_tokens(rules()["member"])
_OPT_EXPR_START: Final = next_tokens(rules()["optExpr"])
_OPT_FIELD_START: Final = next_tokens(rules()["optField"])
_NUMBERS: Final = tokens("NUM_INT", "NUM_FLOAT")
_Choice = Callable[[State], int]


class _Context(NamedTuple):
    """A rule in progress: from which state it was called, and in which rule."""

    called_from: State
    parent: "_Context | None"


class _Problem(Exception):  # noqa: N818 - what ANTLR calls a recognition exception
    """The parser cannot go on in this rule."""

    def __init__(self, message: str, token: Token) -> None:
        super().__init__(message)
        self.message = message
        self.token = token


class _Stop(Exception):  # noqa: N818 - ends the parse
    """The parser gives up."""


def _set_text(mask: int) -> str:
    names = [NAMES[number] for number in sorted(NAMES) if mask >> number & 1]
    return names[0] if len(names) == 1 else "{" + ", ".join(names) + "}"


class _Follower:
    """Follows the real parser through a text."""

    def __init__(self, text: str, issues: Issues) -> None:
        self.text = text
        self.issues = issues
        self.tokens, errors = tokenize(text)
        self.reports = 0
        self.unreadable = errors
        for error in errors:
            self._report(error.offset, f"token recognition error at: '{error.text}'")
        self.at = 0
        self.state = rules()["start"]
        self.context: _Context | None = None
        self.recovering = False
        self.error_at = -1
        self.error_states: set[int] = set()
        self.recoveries = 0
        self.depths: dict[str, int] = {}
        self.choices: dict[str, _Choice] = {
            "one-token": self._by_token,
            "repeat": self._repeat,
            "relation": self._precedence_loop,
            "calc": self._precedence_loop,
            "member": self._precedence_loop,
            "calc-body": self._by_token,
            "member-body": self._member_body,
            "unary": self._unary,
            "minus": self._minus,
            "primary": self._primary,
            "literal": self._literal,
            "more": self._more,
        }
        self.level = 0

    # Reports

    def _report(self, offset: int, message: str) -> None:
        if self.reports >= _MAX_REPORTS:
            self.issues.add(offset, f"Syntax error: More than {_MAX_REPORTS} syntax errors")
            raise _Stop
        self.reports += 1
        message = _RESERVED.sub(lambda found: f"mismatched input '{found[1]}' expecting IDENTIFIER", message)
        self.issues.add(offset, f"Syntax error: {message}")

    def _shown(self, token: Token) -> str:
        text = "<EOF>" if token.type == EOF else self.text[token.start : token.end]
        return "'" + text.replace("\t", "\\t").replace("\n", "\\n").replace("\r", "\\r") + "'"

    # Tokens

    def _look(self, ahead: int = 1) -> int:
        at = min(self.at + ahead - 1, len(self.tokens) - 1)
        return self.tokens[at].type

    def _current(self) -> Token:
        return self.tokens[self.at]

    def _consume(self) -> None:
        if self.at < len(self.tokens) - 1:
            self.at += 1

    # Sets

    def _expected(self) -> int:
        """What may come next, here and, where the rule may end, behind it."""
        following = next_tokens(self.state)
        expected = following & ~END
        context = self.context
        while context is not None and following & END:
            following = next_tokens(_after(context.called_from))
            expected |= following & ~END
            context = context.parent
        return expected | 1 << EOF if following & END else expected

    def _full_next(self, state: State) -> int:
        following = next_tokens(state)
        expected = following & ~END
        context = self.context
        while following & END:
            if context is None:
                return expected | 1 << EOF
            following = next_tokens(_after(context.called_from))
            expected |= following & ~END
            context = context.parent
        return expected

    def _recovery_set(self) -> int:
        found = 0
        context = self.context
        while context is not None:
            found |= next_tokens(_after(context.called_from))
            context = context.parent
        return found & ~END

    def _consume_until(self, mask: int) -> None:
        count = 0
        while self._look() != EOF and not mask >> self._look() & 1:
            self._count_lookahead(count)
            count += 1
            self._consume()

    def _count_lookahead(self, count: int) -> None:
        if count >= _MAX_LOOKAHEAD:
            self.issues.add(-1, f"error recovery token lookahead limit exceeded: {_MAX_LOOKAHEAD}")
            raise _Stop

    # Recovery

    def _check_recoveries(self) -> None:
        if self.recoveries == _MAX_RECOVERIES:
            self.recoveries += 1
            self._report(self._current().start, f"error recovery attempt limit exceeded: {_MAX_RECOVERIES}")
            raise _Stop
        self.recoveries += 1

    def _recover(self) -> None:
        self._check_recoveries()
        if self.error_at == self.at and id(self.state) in self.error_states:
            # The same error at the same place: something must be consumed.
            self._consume()
        self.error_at = self.at
        self.error_states.add(id(self.state))
        self._consume_until(self._recovery_set())

    def _matched(self) -> None:
        self.recovering = False
        self.error_at = -1
        self.error_states = set()

    def _unwanted(self) -> None:
        if self.recovering:
            return
        self.recovering = True
        token = self._current()
        self._report(token.start, f"extraneous input {self._shown(token)} expecting {_set_text(self._expected())}")

    def _delete_one(self) -> bool:
        """Leave out a token if the one behind it fits."""
        if not self._expected() >> self._look(2) & 1:
            return False
        self._unwanted()
        self._consume()
        self._matched()
        return True

    def _mismatch(self) -> _Problem:
        token = self._current()
        message = f"mismatched input {self._shown(token)} expecting {_set_text(self._expected())}"
        return _Problem(message, token)

    def _recover_inline(self) -> None:
        self._check_recoveries()
        if self._delete_one():
            self._consume()
            return
        if self._full_next(self.state.moves[0][3]) >> self._look() & 1:
            if not self.recovering:
                self.recovering = True
                token = self._current()
                missing = _set_text(self._expected())
                self._report(token.start, f"missing {missing} at {self._shown(token)}")
            return
        raise self._mismatch()

    def _sync(self) -> None:
        if self.recovering:
            return
        following = next_tokens(self.state)
        if following & END or following >> self._look() & 1:
            return
        if self.state.kind in {"plus-back", "star-back"}:
            self._unwanted()
            self._consume_until(self._expected() | self._recovery_set())
        elif not self._delete_one():
            raise self._mismatch()

    # Choices: the number of the move to take

    def _no_alternative(self, ahead: int) -> _Problem:
        start = self._current()
        offending = self.tokens[min(self.at + ahead - 1, len(self.tokens) - 1)]
        text = "<EOF>" if start.type == EOF else self._readable(start.start, offending.end)
        shown = text.replace("\t", "\\t").replace("\n", "\\n").replace("\r", "\\r")
        return _Problem(f"no viable alternative at input '{shown}'", offending)

    def _readable(self, start: int, end: int) -> str:
        """The text without what is no token."""
        for offset, wrong in reversed(self.unreadable):
            if start <= offset < end:
                return self._readable(start, offset) + self._readable(offset + len(wrong), end)
        return self.text[start:end]

    def _by_token(self, state: State) -> int:
        last = len(state.moves) - 1
        for number, (_, _, _, target) in enumerate(state.moves):
            if not (state.optional and number == last) and next_tokens(target) >> self._look() & 1:
                return number
        if state.optional:
            return last
        raise self._no_alternative(1)

    def _repeat(self, state: State) -> int:
        return 0 if next_tokens(state.moves[0][3]) >> self._look() & 1 else 1

    def _precedence_loop(self, state: State) -> int:
        body = state.moves[0][3]
        levels = LEVELS[state.rule_name]
        for (_, _, _, start), level in zip(body.moves, levels, strict=True):
            if next_tokens(start) >> self._look() & 1 and level >= self.level:
                return 0
        return 1

    def _member_body(self, _state: State) -> int:
        if self._look() == TYPES["["]:
            return 2
        second = self._look(2)
        if second == _IDENTIFIER:
            return 1 if self._look(3) == TYPES["("] else 0
        if second in {TYPES["?"], TYPES["ESC_IDENTIFIER"]}:
            return 0
        raise self._no_alternative(2)

    def _unary(self, _state: State) -> int:
        first, second = self._look(), self._look(2)
        if first == TYPES["!"]:
            return 1
        if first != TYPES["-"]:
            return 0
        if _NUMBERS >> second & 1:
            return 0
        if second == TYPES["-"] or (_MEMBER_START >> second & 1):
            return 2
        raise self._no_alternative(2)

    def _minus(self, _state: State) -> int:
        if self._look() != TYPES["-"]:
            return 1
        if self._look(2) == TYPES["-"] or _MEMBER_START >> self._look(2) & 1:
            return 0
        raise self._no_alternative(2)

    def _primary(self, _state: State) -> int:
        first = self._look()
        simple = {TYPES["("]: 2, TYPES["["]: 3, TYPES["{"]: 4}.get(first)
        if simple is not None:
            return simple
        if first not in {TYPES["."], _IDENTIFIER}:
            return 6
        ahead = 2 if first == TYPES["."] else 1
        if self._look(ahead) != _IDENTIFIER:
            raise self._no_alternative(ahead)
        if self._look(ahead + 1) == TYPES["("]:
            return 1
        while self._look(ahead + 1) == TYPES["."] and self._look(ahead + 2) == _IDENTIFIER:
            ahead += 2
        return 5 if self._look(ahead + 1) == TYPES["{"] else 0

    def _literal(self, _state: State) -> int:
        first = self._look()
        if first == TYPES["-"]:
            second = self._look(2)
            if not _NUMBERS >> second & 1:
                raise self._no_alternative(2)
            return 0 if second == TYPES["NUM_INT"] else 2
        names = ("NUM_INT", "NUM_UINT", "NUM_FLOAT", "STRING", "BYTES", "true", "false", "null")
        for number, name in enumerate(names):
            if first == TYPES[name]:
                return number
        raise self._no_alternative(1)

    def _more(self, state: State) -> int:
        if self._look() != TYPES[","]:
            return 1
        start = _OPT_FIELD_START if state.rule_name == "fieldInitializerList" else _OPT_EXPR_START
        return 0 if start >> self._look(2) & 1 else 1

    # Rules

    def _enter(self, name: str) -> None:
        depth = self.depths.get(name, 0) + 1
        self.depths[name] = depth
        if depth > MAX_DEPTH:
            raise RecursionLimitError(f"expression recursion limit exceeded: {MAX_DEPTH}")

    def run(self, name: str, level: int = 0) -> None:
        """Follow one rule from its first state to its end, or to where it gives up."""
        outer_level, self.level = self.level, level
        entered = self.depths.get(name, 0)
        self._enter(name)
        self.state = rules()[name]
        try:
            while self.state.kind != "stop":
                self._step(level)
        except _Problem as problem:
            if not self.recovering:
                self.recovering = True
                self._report(problem.token.start, problem.message)
            self._recover()
        self.depths[name] = entered
        self.level = outer_level

    def _step(self, level: int) -> None:
        state = self.state
        number = 0
        if state.kind == "star-back":
            self._sync()
            state = state.moves[0][3]
            number = self.choices[state.decision](state)
        elif state.decision or state.kind == "plus":
            self._sync()
            if state.decision:
                number = self.choices[state.decision](state)
        wanted, rule, precedence, target = state.moves[number]
        if wanted:
            if wanted >> self._look() & 1:
                self._matched()
                self._consume()
            else:
                self.state = state
                self._recover_inline()
        elif rule:
            self.context = _Context(state, self.context)
            self.run(rule, precedence)
            assert self.context is not None
            self.context = self.context.parent
            self.level = level
        self.state = target


def _after(called_from: State) -> State:
    """The state behind the call of a rule."""
    return called_from.moves[0][3]


def follow(text: str, issues: Issues) -> None:
    """Parse as the real parser does and report its syntax errors.

    Raises:
        RecursionLimitError: nested too deep.
    """
    follower = _Follower(text, issues)
    with room_for(MAX_DEPTH * 20):
        follower.run("start")


def report_syntax_errors(text: str, issues: Issues) -> None:
    """Find what is wrong with a text that does not parse."""
    try:
        follow(text, issues)
    except RecursionLimitError as problem:
        issues.add(-1, str(problem))
    except _Stop:
        pass
    if not issues.items:
        # The two parsers differ; the message at least says what kind of error it is.
        issues.add(0, "Syntax error: the expression cannot be parsed")
