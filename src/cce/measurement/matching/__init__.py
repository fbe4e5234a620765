"""Matching: which hits match which anchors, and the ideal ranking of the whole index."""
