"""Reads that the screens request from the services."""
