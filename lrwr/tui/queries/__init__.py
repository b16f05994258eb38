"""Library reads and changes for the screens, run in the service thread."""
