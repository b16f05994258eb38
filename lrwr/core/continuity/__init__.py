"""Detection of contradictions with confirmed canon, by rules and by a language model."""
