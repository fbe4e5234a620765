"""Markdown for a pull request."""
