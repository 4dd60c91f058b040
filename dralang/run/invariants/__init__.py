"""What must hold whatever happens (`std.invariants`): looked at with every write, and when a story has come to rest."""
