"""Matching: which results touch which anchors, and what the whole index could have given."""
