"""Evaluations run from the command line."""
