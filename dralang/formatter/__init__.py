"""The one way to write a scenario file."""
