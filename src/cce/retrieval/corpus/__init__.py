"""The corpus: which files of a directory are read, and why others are not."""
