"""Answers without a language model: facts and quotations from the text."""
