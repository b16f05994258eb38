"""Stores of a library in one SQLite file, `.lrwr/library.db`."""
