"""Vector indexes: exact search in memory, Qdrant Edge, and a Qdrant server."""
