"""Embedders: texts become vectors."""
