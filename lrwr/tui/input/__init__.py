"""Parsing of keys and prompt input, and the commands of editors."""
