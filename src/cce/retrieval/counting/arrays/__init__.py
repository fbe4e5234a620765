"""Counting the tokens of large corpora; the only part of counting that imports numpy."""
