"""Indexing: source files become chunks with token counts, in one process or several, and are cached."""
