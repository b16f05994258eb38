"""The plain conversation of the command line."""
