"""Extraction of facts by rules."""
