"""Saved reports: read back, checked and paired case by case."""
