"""Widgets of the chat screen and of lists."""
