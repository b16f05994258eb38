"""Decides which sources a question needs, by rules or with a language model."""
