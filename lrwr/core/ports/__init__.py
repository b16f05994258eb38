"""Interfaces of storage, models, indexes, sources and jobs, which adapters implement."""
