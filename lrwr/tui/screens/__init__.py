"""The chat screen, and the modal screens and dialogs that open over it."""
