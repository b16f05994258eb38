"""Answers made of facts and quotations, without a language model."""
