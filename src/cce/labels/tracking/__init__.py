"""Where a labelled text is now: what a pin keeps of it, and how it is recognised among its like.

texts > places > surroundings > traces > recognition, similarity > tracker, each knowing those before it;
`pins` tells which labels are stale.
"""
