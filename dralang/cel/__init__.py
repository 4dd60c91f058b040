"""Kubernetes' device expressions: parsed, checked, costed and compiled to Python."""
