"""Second stages: rerankers, the passages they score, and the order that follows."""
