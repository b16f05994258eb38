"""Watches a manuscript's folders and keeps the library up to date."""
