"""Settings, the library that they locate, consent and API keys."""
