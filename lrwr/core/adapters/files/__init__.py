"""Stores of manuscript files: a local folder, and Supabase Storage."""
