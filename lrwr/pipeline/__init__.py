"""Ingestion of a manuscript, watch, diff and evaluation."""
