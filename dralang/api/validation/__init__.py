"""What an API server refuses: the handwritten and the declarative rules, kind by kind."""
