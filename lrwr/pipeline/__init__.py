"""Manuscript in, knowledge out."""
