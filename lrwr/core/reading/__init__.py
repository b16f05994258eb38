"""Books that the user reads, up to the reading position and no further."""
