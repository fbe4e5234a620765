"""What several formats show alike: one row per case, one headline, one share."""
