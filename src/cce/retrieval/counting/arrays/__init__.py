"""Counting the tokens of large corpora; the only part of indexing that imports numpy."""
