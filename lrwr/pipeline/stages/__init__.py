"""Steps of ingestion without side effects: splitting, excerpts, speakers."""
