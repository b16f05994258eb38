"""Rerankers: one on this machine, and Cohere."""
