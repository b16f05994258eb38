"""How sure lrwr is of what it says."""

from enum import StrEnum


class Certainty(StrEnum):
    """How sure a thing is, surest first."""

    CONFIRMED = "confirmed"
    """The writer said so: in the canon file, in notes, in front matter."""
    VERIFIED = "verified"
    """Strong evidence stands in the text, and its place is known."""
    PROBABLE = "probable"
    """Weaker evidence speaks for it."""
    NOT_EVALUATED = "not evaluated"
    """Nobody looked, or nobody can tell."""
