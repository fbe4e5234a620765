"""Counting: how often each chunk holds each token, in lists for little text and in arrays for much."""
