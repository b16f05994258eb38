"""Settings: what may be set, where each value came from."""
