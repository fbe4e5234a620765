"""Backends: named ways to rank the chunks of an index for a query."""
