"""A line of what a writer is told, before anybody shows it."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from lrwr.core.bible.values import Evidence

Tone: TypeAlias = Literal["plain", "strong", "faint", "place", "good", "bad"]
"""What a piece of text is to the reader; a meaning, not a colour."""


@dataclass(frozen=True, slots=True)
class Styled:
    """A piece of a line that is shown in a tone of its own."""

    text: str
    tone: Tone = "plain"


Piece: TypeAlias = str | Styled


@dataclass(frozen=True, slots=True)
class Line:
    """A line or paragraph, `indent` columns from the left.

    Nothing in it is cleaned yet. `evidence` are the words that it shows or rests on
    first, None where it rests on none.
    """

    pieces: tuple[Piece, ...]
    indent: int = 0
    evidence: "Evidence | None" = None
