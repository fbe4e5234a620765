"""Scoring many chunks: numpy is imported here, and only for corpora that need it."""
