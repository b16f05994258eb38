"""Citations: numbering, locating cited words, and checking answers against them."""
