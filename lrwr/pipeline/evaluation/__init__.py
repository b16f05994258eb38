"""Evaluation of retrieval and answers on questions with known answers."""
