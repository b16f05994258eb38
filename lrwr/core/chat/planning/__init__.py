"""Decides what kind of answer and which sources a question needs, by rules or with a
language model.
"""
