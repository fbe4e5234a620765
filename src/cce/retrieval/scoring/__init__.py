"""Scoring: the bm25 scores and cosines of chunks, and the one order of results."""
