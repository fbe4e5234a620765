"""Evidence: statistics on differences per case, from the t test to the verdict."""
