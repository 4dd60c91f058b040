"""Any file gets a clear diagnostic: 5,000 mutated files in `.ci/long`, a sample of them in every run.

A mutated file is analysed and, if it still has scenarios, played. Allowed is every answer but a traceback or a hang.
"""

import random
import time
from pathlib import Path

import pytest
from counts import count

from dralang.check.analysis import Analyzer
from dralang.diagnostics.diagnostic import DiagnosticLog
from dralang.diagnostics.render import render_json, render_text
from dralang.formatter.format import format_source
from dralang.run.player import play
from dralang.run.workshop import Workshop

ROOT = Path(__file__).resolve().parent.parent.parent
SPECS = sorted([*(ROOT / "specs").rglob("*.dra"), *(ROOT / "tests" / "data" / "examples").glob("*.dra")])
MANIFESTS = sorted((ROOT / "specs" / "manifests").rglob("*.yaml"))
SECONDS = 10
CHUNKS = 25


def truncated(rng: random.Random, data: bytes) -> bytes:
    return data[: rng.randrange(len(data) + 1)]


def doubled(rng: random.Random, data: bytes) -> bytes:
    start = rng.randrange(len(data))
    end = min(len(data), start + rng.randrange(1, 200))
    return data[:end] + data[start:end] * rng.choice([1, 2, 50]) + data[end:]


def deleted(rng: random.Random, data: bytes) -> bytes:
    start = rng.randrange(len(data))
    return data[:start] + data[start + rng.randrange(1, 40) :]


def random_bytes(rng: random.Random, data: bytes) -> bytes:
    at = rng.randrange(len(data))
    return data[:at] + rng.randbytes(rng.randrange(1, 30)) + data[at:]


def special_bytes(rng: random.Random, data: bytes) -> bytes:
    at = rng.randrange(len(data))
    what = rng.choice(
        [b"\0", b"\r", b"\xef\xbb\xbf", b"\x1b[31m", b"\xe2\x80\xae", b"\xf0\x9f\x92\xa9", b"\x85", b"\xc2\xa0", b"\t"]
    )
    return data[:at] + what + data[at:]


def punctuation(rng: random.Random, data: bytes) -> bytes:
    at = rng.randrange(len(data))
    what = rng.choice(
        [
            b"{",
            b"}",
            b"(",
            b")",
            b"[",
            b"]",
            b'"',
            b"`",
            b"${",
            b"${x}",
            b":",
            b";",
            b",",
            b"..",
            b"[0..9]",
            b"#",
            b"'s ",
            b"*",
        ]
    )
    return data[:at] + what + data[at:]


def words(rng: random.Random, data: bytes) -> bytes:
    parts = data.split(b" ")
    first, second = rng.randrange(len(parts)), rng.randrange(len(parts))
    parts[first], parts[second] = parts[second], parts[first]
    return b" ".join(parts)


def numbers(rng: random.Random, data: bytes) -> bytes:
    places = [index for index, byte in enumerate(data) if 48 <= byte <= 57]
    if not places:
        return data
    at = rng.choice(places)
    what = rng.choice([b"9" * 5000, b"-1", b"99999999999999999999", b"1e999", b"0x", b"1.5", b"00"])
    return data[:at] + what + data[at + 1 :]


def encoded(rng: random.Random, data: bytes) -> bytes:
    encoding = rng.choice(["utf-16", "utf-16-le", "utf-32", "utf-7", "utf-8-sig", "cp037"])
    return data.decode("utf-8", "replace").encode(encoding, "replace")


def lines(rng: random.Random, data: bytes) -> bytes:
    rows = data.split(b"\n")
    rng.shuffle(rows)
    return b"\n".join(rows)


MUTATIONS = [truncated, doubled, deleted, random_bytes, special_bytes, punctuation, words, numbers, encoded, lines]


def read_and_play(data: bytes, path: Path) -> None:
    """Everything that a command does with a spec."""
    analysis = Analyzer().text(path, path.name, data)
    render_text(analysis.diagnostics, color=False, width=100)
    render_json(analysis.diagnostics)
    log = DiagnosticLog()
    format_source(analysis.source, log)
    workshop = Workshop()
    for scenario in analysis.scenarios[:3]:
        play(scenario, workshop)


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_mutated_spec(chunk):
    rng = random.Random(chunk)
    for _ in range(count(175, 3500) // CHUNKS):
        path = rng.choice(SPECS)
        data = path.read_bytes()
        for _ in range(rng.choice([1, 1, 2, 4])):
            data = rng.choice(MUTATIONS)(rng, data) if data and b"\0" not in data else data
        begin = time.monotonic()
        read_and_play(data, path)
        assert time.monotonic() - begin < SECONDS, f"too slow: {path.name}, chunk {chunk}"


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_mutated_manifest(chunk, tmp_path):
    rng = random.Random(chunk)
    for _ in range(count(75, 1500) // CHUNKS):
        path = rng.choice(MANIFESTS)
        data = path.read_bytes()
        for _ in range(rng.choice([1, 1, 2, 4])):
            data = rng.choice(MUTATIONS)(rng, data) if data and b"\0" not in data else data
        target = tmp_path / "x.yaml"
        target.write_bytes(data)
        (tmp_path / "dralang.toml").touch()
        begin = time.monotonic()
        read_and_play(b'use "x.yaml"\nscenario "s" { expect all pods are settled }\n', tmp_path / "s.dra")
        assert time.monotonic() - begin < SECONDS, f"too slow: {path.name}, chunk {chunk}"


def test_there_is_something_to_mutate():
    assert len(SPECS) >= 10
    assert len(MANIFESTS) >= 5
