"""One module a command; heavy imports stay inside the bodies."""
