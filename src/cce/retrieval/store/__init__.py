"""The store: an index as one JSON file, written whole and believed only after it was checked."""
