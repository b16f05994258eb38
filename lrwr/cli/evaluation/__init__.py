"""The evaluation commands of the command line."""
