"""Sentences drawn from the grammar itself, so that every rule of it meets the editor's grammar."""

from random import Random
from typing import Any, Final

from dralang.syntax.parser import grammar

_NAMES: Final = (
    "train", "gpu-0", "worker-[1..3]", "gpu-[0..7 as i]", "p-${i}", "${n}Gi", "batch-*", "gpu.example.com/model",
    "team-a/train", "1g.10gb", "3b-00-0", "10", "-5", "80Gi", "1500m", "10s", "1m", "2h30m", "250ms", "50%", "v1.2.3",
    "v1.2.3-rc.1+b", "true", "null", "None", "devices[gpu-0].allNodes", '"quoted: name"', "${a + 1}", "x", "pending",
)  # fmt: skip
_TEXTS: Final = {
    "STRING": ('"a text"', '"with \\"quotes\\" and # no comment"', '"row ${X}"', '""'),
    "CEL": ('`device.driver == "gpu.example.com"`', "`a\n  && b // it's\n`", "`${n} > 1`"),
    "LBRACE": ("{",), "RBRACE": ("}",), "LPAR": ("(",), "RPAR": (")",), "LSQB": ("[",), "RSQB": ("]",),
    "COMMA": (",",), "COLON": (":",), "EQUAL": ("=",), "RANGE": ("..",), "POSSESSIVE": ("'s",),
    "NL": ("\n", "\n", ";", "  # a comment\n"),
}  # fmt: skip
_TIGHT_BEFORE: Final = frozenset({"COLON", "COMMA", "LPAR", "POSSESSIVE", "RPAR", "RSQB", "NL", "EQUAL"})
_TIGHT_AFTER: Final = frozenset({"LPAR", "LSQB", "NL", "EQUAL"})


class SentenceMaker:
    """Derives token sequences from the rules that the parser itself uses, the least used expansion first."""

    def __init__(self, random: Random, names: tuple[str, ...] = _NAMES) -> None:
        self.random = random
        self.names = names
        self.keywords = {terminal: word for word, terminal in grammar().keywords.items()}
        self.expansions: dict[str, list[tuple[str, ...]]] = {}
        rules: list[Any] = list(grammar().conf.callbacks)  # Lark's own type hint says `str`; they are its rules
        for rule in rules:
            self.expansions.setdefault(_name(rule.origin), []).append(tuple([_name(each) for each in rule.expansion]))
        for each in self.expansions.values():
            each.sort()
        self.used = dict.fromkeys([(rule, each) for rule, found in self.expansions.items() for each in found], 0)
        self.depths = self._depths()

    def _depths(self) -> dict[str, int]:
        """How deep the shallowest derivation of every symbol is."""
        depths = dict.fromkeys(self.expansions, 1000)
        while True:
            before = dict(depths)
            for rule, found in self.expansions.items():
                depths[rule] = min(1 + max((depths.get(part, 0) for part in each), default=0) for each in found)
            if depths == before:
                return depths

    def derive(self, symbol: str, budget: int) -> list[str]:
        """The terminals of one derivation, at most about ``budget`` rules deep."""
        if symbol not in self.expansions:
            return [symbol]
        found = self.expansions[symbol]
        cheapest = min(max((self.depths.get(part, 0) for part in each), default=0) for each in found)
        allowed = [
            each
            for each in found
            if max((self.depths.get(part, 0) for part in each), default=0) <= max(budget, cheapest)
        ]
        least = min(self.used[symbol, each] for each in allowed)
        chosen = self.random.choice([each for each in allowed if self.used[symbol, each] <= least + 1])
        self.used[symbol, chosen] += 1
        return [terminal for part in chosen for terminal in self.derive(part, budget - 1)]

    def text(self, terminals: list[str]) -> str:
        """Terminals as an author could write them: indented, so that only items begin at column 1."""
        out = ""
        depth = 0
        previous = "NL"
        for terminal in terminals:
            if terminal in ("RBRACE", "RPAR", "RSQB"):
                depth -= 1
            if terminal == "NAME":
                piece = self.random.choice(self.names)
            else:
                piece = self.keywords.get(terminal) or self.random.choice(_TEXTS[terminal])
            if out.endswith("\n"):
                out += "  " * depth
            elif terminal not in _TIGHT_BEFORE and previous not in _TIGHT_AFTER:
                out += " "
            out += piece
            if terminal in ("LBRACE", "LPAR", "LSQB"):
                depth += 1
                if terminal == "LBRACE" and self.random.random() < 0.4:
                    out += "\n"
            previous = terminal
        return out + "\n"

    def item(self, budget: int) -> str:
        """One item of a file."""
        return self.text(self.derive("item", budget))

    def scenario(self, budget: int) -> str:
        """A scenario with three statements."""
        statements = [terminal for _ in range(3) for terminal in (*self.derive("statement", budget), "NL")]
        return self.text(["SCENARIO", "STRING", "LBRACE", *statements[:-1], "RBRACE"])


def _name(symbol: Any) -> str:
    return str(symbol.name)
