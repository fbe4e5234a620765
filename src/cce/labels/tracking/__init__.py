"""Where a labelled text is now: what its pin keeps, and how it is told from similar ones.

texts > places > surroundings > traces > recognition, similarity > tracker, each knowing those before it;
`pins` tells which labels are stale.
"""
