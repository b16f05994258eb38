"""Manuscripts on disk: folders, Markdown, Word and plain text."""
