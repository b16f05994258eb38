"""Keyboard, prompt parsing and input history."""
