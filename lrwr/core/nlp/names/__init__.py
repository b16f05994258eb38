"""Named-entity recognition and coreference of people's names."""
