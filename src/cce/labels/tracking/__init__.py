"""Where a labelled text is now: pins recognise a text, traces tell it from its copies.

texts > places > surroundings > traces > recognition, similarity > tracker: each module imports only
those to its left. `pins` finds the stale labels.
"""
