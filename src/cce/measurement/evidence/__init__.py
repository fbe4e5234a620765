"""Evidence: what differences per case can say, from the t test to the verdict."""
