"""Scoring large corpora; the only part of scoring that imports numpy."""
