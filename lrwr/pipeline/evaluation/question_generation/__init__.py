"""Generation of evaluation questions from a manuscript."""
