"""The story bible: characters, world, relationships, timeline, quotes, scenes and gaps."""
