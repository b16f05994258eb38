"""Search in one manuscript: story order, retrievers, ranking, confidence, freshness."""
