"""Watching a manuscript folder and keeping the library up to date."""
