"""JSON for programs: every field spelled out."""
