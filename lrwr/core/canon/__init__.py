"""The user's decisions about the story: parse, apply, save, undo."""
