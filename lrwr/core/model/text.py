"""Places in a text: spans of characters, and the lines they stand on."""

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """Where something sits in a canonical text: characters, end not included."""

    start: int
    end: int

    def __len__(self) -> int:
        return self.end - self.start

    def holds(self, other: "Span") -> bool:
        """Say whether `other` lies wholly inside this span."""
        return self.start <= other.start and other.end <= self.end


@dataclass(frozen=True, slots=True)
class LineRange:
    """The lines a passage stands on, counted from 1, both included.

    For a `.docx` they are paragraph numbers: what an editor of plain text calls a
    line, Word calls a paragraph.
    """

    first: int
    last: int


@dataclass(frozen=True, slots=True)
class LineIndex:
    """Turns characters of a canonical text into lines of the file.

    `starts` holds the first character of each line, ascending, beginning with 0.
    `numbers` holds the number of each of those lines; empty means 1, 2, 3, ….
    """

    starts: tuple[int, ...]
    numbers: tuple[int, ...] = ()

    @classmethod
    def of(cls, text: str) -> "LineIndex":
        """Count the lines of `text` as an editor does: a line ends at `\\n`."""
        starts, at = [0], text.find("\n")
        while at >= 0:
            starts.append(at + 1)
            at = text.find("\n", at + 1)
        return cls(tuple(starts))

    def line_of(self, offset: int) -> int:
        """Return the number of the line that holds the character at `offset`."""
        row = max(0, bisect_right(self.starts, offset) - 1)
        return self.numbers[row] if self.numbers else row + 1

    def lines_of(self, span: Span) -> LineRange:
        """Return the lines that `span` touches."""
        last = max(span.start, span.end - 1)
        return LineRange(self.line_of(span.start), self.line_of(last))


SentenceSplitter: TypeAlias = Callable[[str], Sequence[Span]]
"""Where each sentence of a text stands, in order."""
