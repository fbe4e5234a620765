"""Where a labelled text is now: pins recognise a text, traces tell it from its copies.

texts > blocks, chunks > places > surroundings > traces > recognition, similarity > successors > tracker:
each module imports only those to its left. `pins` finds the stale labels.
"""
