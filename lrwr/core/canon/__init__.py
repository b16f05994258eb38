"""The writer's decisions: parse, apply, save, undo."""
