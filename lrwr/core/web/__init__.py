"""The web, beside the book and never in it."""
