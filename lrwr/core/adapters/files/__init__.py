"""Keepers of the manuscript's files: a folder here, and Supabase Storage."""
