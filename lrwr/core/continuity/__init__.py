"""The canon guard: what contradicts what the writer has confirmed. Pure over values."""
