"""Parses keys and prompt input, and builds the commands of editors."""
