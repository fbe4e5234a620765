"""Indexing: source files become chunks with their tokens, in one process or several, cached between runs."""
