"""Analysts extract facts from excerpts, by rules or with a language model."""
