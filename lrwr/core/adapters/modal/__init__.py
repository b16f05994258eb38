"""Modal: containers that process documents, called from this machine."""
