"""Whatever ranks, by its name: backends, variants of them, programs, services, objects and saved runs."""
