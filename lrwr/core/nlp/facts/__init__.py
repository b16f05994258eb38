"""Facts read from text by rules."""
