"""Widgets of the chat screen, and lists that several screens use."""
