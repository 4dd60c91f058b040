"""Static semantics: files loaded, names and types resolved, the tree turned into scenarios."""
