"""Manuscript sources: folders, git revisions, and parsers for Markdown, Word and text."""
