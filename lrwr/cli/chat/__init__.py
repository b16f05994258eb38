"""The chat of the command line, line by line (`lrwr chat --plain`)."""
