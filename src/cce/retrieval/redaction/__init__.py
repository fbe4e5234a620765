"""Redaction: which files are never opened, and what of their text never leaves the corpus."""
