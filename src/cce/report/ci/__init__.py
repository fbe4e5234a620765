"""What a CI server shows: annotations and a test tab."""
