"""Settings, the library that they define, consent and API keys."""
