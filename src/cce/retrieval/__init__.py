"""Retrieval: a directory becomes rankings. Knows nothing of labels or metrics."""
