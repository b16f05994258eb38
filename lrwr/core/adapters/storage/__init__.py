"""Stores of a library: SQLite on this machine, Supabase, and memory."""
