"""Recorded answers of real Kubernetes, asked again: cases read, answered and compared."""
