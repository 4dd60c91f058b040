"""Manifests that somebody has broken: import refuses them with a place, or what it writes means what was read."""

import random

from counts import count
from reading import MANIFESTS, elaborated

from dralang.diagnostics.diagnostic import DiagnosticLog
from dralang.diagnostics.render import render_text
from dralang.diagnostics.source import SourceFile
from dralang.interop.importing import import_manifests

TEXTS = [path.read_text(encoding="utf-8") for path in sorted(MANIFESTS.rglob("*.yaml"))]
PIECES = [
    *"{}[]:,-?&*!|>%@`\"'#\\\t ~=",
    "\n", "\r\n", "---\n", "...\n", "- ", "? ", ": ", "{{ .Values.x }}", "{{", "${x}", "&a", "*a", "<<: *a",
    "!!binary ", "!!float ", "!x ", "null", "true", "0x1f", "1e3", "1e999", ".inf", ".nan", "-0.0", "9" * 30, "1_0",
    "9" * 5000, "08", "[" * 120, "{a: " * 70, "- " * 70, "\u2028", "\x85", "\ufeff", "\x00", "\ud7ff", "\U0001f600",
    "é", "a" * 3000, "kind: List\nitems: []\n", "kind: Pod\n", "apiVersion: resource.k8s.io/v1beta1\n", "name: a/b\n",
    "spec: 1\n",
]  # fmt: skip


def mutated(random_source: random.Random) -> str:
    """A manifest with one or two faults."""
    text = random_source.choice(TEXTS)
    for _ in range(random_source.randint(1, 2)):
        at = random_source.randrange(len(text) + 1)
        end = min(len(text), at + random_source.choice((0, 1, 1, 3, 20, 200)))
        line_start = text.rfind("\n", 0, at) + 1
        line_end = text.find("\n", at) + 1 or len(text)
        line = text[line_start:line_end]
        match random_source.randrange(8):
            case 0:
                text = text[:at] + text[end:]
            case 1:
                text = text[:at] + random_source.choice(PIECES) + text[end:]
            case 2:
                text = text[:line_start] + text[line_end:]
            case 3:
                text = text[:line_end] + line + text[line_end:]
            case 4:
                text = text[:line_start] + " " * random_source.randint(1, 4) + text[line_start:]
            case 5:
                text = text[:line_start] + line.lstrip(" ") + text[line_end:]
            case 6:
                value = line.partition(":")[0] + ": " + random_source.choice(PIECES) + "\n"
                text = text[:line_start] + value + text[line_end:]
            case _:
                other = random_source.choice(TEXTS)
                text = text[:line_start] + other[random_source.randrange(len(other)) :]
    return text


def test_a_mutated_manifest_is_refused_or_means_what_it_says():
    random_source = random.Random(20260131)
    taken = 0
    for _ in range(count(400, 5000)):
        text = mutated(random_source)
        log = DiagnosticLog()
        found = import_manifests([SourceFile("dump.yaml", text)], log)
        if found is None:
            assert log.has_errors, text
            render_text(log.sorted(), color=False, width=100)
        elif found.count:
            taken += 1
            assert len(elaborated(found.text)) == found.count, text
    # Otherwise the mutations are too wild to say anything about what is taken.
    assert taken > count(400, 5000) / 10
