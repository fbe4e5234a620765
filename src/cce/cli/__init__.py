"""The command line: options become a plan, a report becomes an exit code."""
