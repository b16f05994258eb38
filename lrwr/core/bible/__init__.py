"""The story bible: what is known of the story, drawn from facts at any moment of it."""
