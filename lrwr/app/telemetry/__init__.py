"""Traces of turns, ingestions and evaluations, sent only if traces are on."""
