"""Where a library keeps the writer's questions, and what became of them."""

from pathlib import Path

from lrwr.core.settings.library import Library

QUESTIONS = "questions.jsonl"
EVALUATIONS = "evaluations"


def locate_questions_file(library: Library) -> Path:
    """Return where the writer's questions are, whether the file exists or not."""
    return library.state_dir / QUESTIONS


def locate_evaluations_folder(library: Library) -> Path:
    """Return where runs are kept, whether the folder exists or not."""
    return library.state_dir / EVALUATIONS
