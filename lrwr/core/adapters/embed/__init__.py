"""Embedding models: the one that comes with lrwr, and models on servers."""
