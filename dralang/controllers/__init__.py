"""The control loops around the scheduler: each reads the store, decides about one object, and writes to the store."""
