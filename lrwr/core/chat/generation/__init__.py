"""Answers written by a language model, and the avatars: the objects that write an
answer, with or without a model.
"""
