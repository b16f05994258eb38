"""Questions made from a manuscript, each with the words that answer it."""
