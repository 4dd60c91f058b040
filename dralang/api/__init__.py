"""The Kubernetes kinds as typed, immutable objects."""
