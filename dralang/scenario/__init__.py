"""The checked program, as plain data: what a run needs and nothing of how it was written but the places."""
