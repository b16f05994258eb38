"""Actions of the chat screen, and the table of all actions."""
