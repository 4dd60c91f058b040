"""Kubernetes scalar types, exact and immutable."""
