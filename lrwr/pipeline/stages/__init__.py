"""Pure steps from text to knowledge."""
