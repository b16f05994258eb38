"""LangSmith: traces of turns and ingestions, and experiments of evaluations."""
