"""Fuzzes: Hypothesis fills the holes, invariants and properties judge, findings are shrunk and written down."""

from dralang.fuzz.strategies import clusters, scenarios

__all__ = ["clusters", "scenarios"]
