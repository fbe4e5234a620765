"""Measure how good a code search ranking is, and whether a change to it is an improvement or noise."""
