"""Upload and download of a library (`lrwr push`, `lrwr pull`) with a Supabase
project.
"""
