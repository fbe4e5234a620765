"""Metrics: the match of a case in, a figure out. `catalog` is the table of them."""
