"""The commands, one module for each group; imported when a command is called."""
