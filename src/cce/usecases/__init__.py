"""Use cases, one file a verb: the only room that sees both wings. A command plans, a use case does."""
