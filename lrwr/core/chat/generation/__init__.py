"""Avatars, which write the answer of a turn, and prompts for a language model."""
