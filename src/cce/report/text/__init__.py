"""Text for a terminal: the same bytes on every system."""
