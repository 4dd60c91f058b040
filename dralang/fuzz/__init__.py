"""Fuzzes: Hypothesis fills the holes, invariants and properties judge, findings are shrunk and written down."""
