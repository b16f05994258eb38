"""The writer's decisions: read by everyone, changed only here, undone when asked."""
