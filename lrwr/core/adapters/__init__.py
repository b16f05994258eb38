"""Keepers of the ports; the only place where vendor libraries are named."""
