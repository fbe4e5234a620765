"""Counting tokens of many files: numpy is imported here, and only for corpora that need it."""
