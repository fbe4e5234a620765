"""Saved reports: reading, checking, and pairing case by case."""
