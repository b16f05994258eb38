"""The chat screen, and the screens and dialogs that open over it."""
