"""Implementations of the ports; only here are libraries of services named."""
