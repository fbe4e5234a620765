"""Formats of other tools: runs, qrels and collections, as text in and text out."""
