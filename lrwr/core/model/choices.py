"""What users choose by settings and options: the pipeline, and who answers."""

from enum import StrEnum


class Pipeline(StrEnum):
    """How passages are made: `a` fixed-size chunks, `b` semantic chunks with story
    data.
    """

    NAIVE = "a"
    AGENTIC = "b"


class AnswerMode(StrEnum):
    """Who answers: lrwr as an analyst of the story, or a character."""

    ANALYTICAL = "analytical"
    IN_CHARACTER = "in_character"
