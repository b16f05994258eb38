"""Implementations of the ports; the only package that names the libraries of
services.
"""
