"""Text units: prose, scenes, passage types and markers."""
