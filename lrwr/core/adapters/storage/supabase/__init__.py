"""Stores of a library in a Supabase project, with a replica in a SQLite file."""
