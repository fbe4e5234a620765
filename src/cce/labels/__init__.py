"""Labels that stay true: lint, pins, re-anchoring, drafts, and the labelling session."""
