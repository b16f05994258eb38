"""Numbers in words: how many, and what they cost."""

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from lrwr.core.bible.values import TextEvidence
    from lrwr.core.model.language_model import Usage


def format_count(number: int, noun: str) -> str:
    """Return a number and its noun: "1 word", "2 words"."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def format_age(seconds: float) -> str:
    """Return how long ago something was, as one says it."""
    if seconds < 2:
        return "just now"
    if seconds < 60:
        return f"{seconds:.0f} s ago"
    if seconds < 3600:
        return f"{seconds // 60:.0f} min ago"
    return f"{seconds // 3600:.0f} h ago"


def format_tokens_and_price(usage: "Usage", cost: float | None, *, about: bool) -> str:
    """Return the tokens and their price; `about` says that they are an estimate."""
    return (
        f"{'about ' if about else ''}{usage.prompt_tokens:,} tokens sent,"
        f" {usage.completion_tokens:,} answered ({format_dollars(cost)})"
    )


def format_dollars(cost: float | None) -> str:
    """Return a price; what is spent is never said to be nothing."""
    if cost is None:
        return "price unknown"
    return "less than $0.01" if 0 < cost < 0.005 else f"${cost:.2f}"


_ESCAPES = re.compile(
    r"""
      (?: \x1b\[ | \x9b ) [0-?]* [ -/]* [@-~]?               # colours, cursor moves
    | (?: \x1b[\]P^_X] | [\x90\x98\x9d-\x9f] )               # titles, links, clipboard:
      [^\x07\x1b\x9c\n]* (?: \x07 | \x1b\\ | \x9c )?         #   to their end, or the line's
    | \x1b [ -/]* [0-~]?                                     # every other escape
    """,
    re.VERBOSE,
)
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def sanitize_text(text: str) -> str:
    """Return `text` without escapes, control characters and turned directions.

    Line ends become `\\n`; tabs stay.
    """
    text = text.replace("\r\n", "\n")
    return _CONTROLS.sub("", _ESCAPES.sub("", text))


def sanitize_line(text: str) -> str:
    """Return `text` with a sign for each end of a line, as a file's name may hold."""
    return re.sub(r"\r\n|[\n\r]", "␊", text)


EXCERPT_CHARACTERS = 200
"""Characters of a claim's words that are shown."""


def shorten_excerpt(text: str) -> str:
    """Return a text on one line, cut at a word."""
    line = " ".join(text.split())
    if len(line) <= EXCERPT_CHARACTERS:
        return line
    return line[:EXCERPT_CHARACTERS].rsplit(" ", 1)[0] + " …"


Tone: TypeAlias = Literal["plain", "strong", "faint", "place", "good", "bad"]
"""What a piece of text is to the reader; a meaning, not a colour."""


@dataclass(frozen=True, slots=True)
class StyledText:
    """A piece of a line that is shown in a tone of its own."""

    text: str
    tone: Tone = "plain"


LinePiece: TypeAlias = str | StyledText


@dataclass(frozen=True, slots=True)
class StyledLine:
    """A line or paragraph, `indent` columns from the left.

    Nothing in it is cleaned yet. `evidence` are the words that it shows or rests on
    first, None where it rests on none.
    """

    pieces: tuple[LinePiece, ...]
    indent: int = 0
    evidence: "TextEvidence | None" = None
