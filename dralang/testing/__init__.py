"""Finding scenarios, choosing among them, running them, reporting."""
