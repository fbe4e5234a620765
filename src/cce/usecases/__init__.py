"""Use cases, one file per verb: the only room that sees both wings. A command plans, a use case does."""
