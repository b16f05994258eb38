"""Traces of turns, ingestions and evaluations, sent only where traces are on."""
