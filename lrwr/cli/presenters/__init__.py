"""Text and JSON for what commands print."""
