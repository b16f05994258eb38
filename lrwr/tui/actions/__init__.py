"""What the writer can do in the room, a module for each kind of deed."""
