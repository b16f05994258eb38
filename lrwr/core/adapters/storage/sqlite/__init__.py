"""Records in one SQLite file inside `.lrwr/`."""
