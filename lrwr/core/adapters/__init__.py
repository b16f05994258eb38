"""Implementations of the ports; vendor libraries are imported only here."""
