"""Pure steps of ingestion: splitting, excerpts, speakers."""
