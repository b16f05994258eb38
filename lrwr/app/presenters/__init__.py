"""Text and JSON for the user: the same in commands and in the terminal application."""
