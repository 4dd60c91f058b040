"""The mutable world: the object store, the clock, the queue of what happens next, and the journal of what happened."""
