"""Chunking: a source file becomes functions and classes."""
