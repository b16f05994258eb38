"""Records that are kept in memory, for as long as a command runs."""
