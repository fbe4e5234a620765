"""Measurement: labels and rankings become numbers. Knows nothing of files, parsers or backends."""
