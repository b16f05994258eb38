"""Turns, readings and evaluations that leave a trace: no room knows of it."""
