"""Answers written by a language model, and the avatars that answer."""
