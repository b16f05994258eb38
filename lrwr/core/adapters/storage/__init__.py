"""Keepers of the record ports."""
