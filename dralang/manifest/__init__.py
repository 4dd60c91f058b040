"""YAML and JSON documents with the place of every value."""
