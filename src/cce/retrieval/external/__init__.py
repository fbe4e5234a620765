"""Systems outside of the index: programs, services, objects and saved runs, and the door they enter by."""
