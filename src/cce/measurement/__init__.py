"""Measurement: labels and rankings in, figures out; it imports neither retrieval nor report."""
