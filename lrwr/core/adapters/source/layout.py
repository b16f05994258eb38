"""What a format's reader found in a file, before it is cut into chapters."""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from lrwr.core.adapters.source.headings import (
    HeadingKind,
    parse_heading_line,
    parse_lone_number,
)
from lrwr.core.model.text import LineIndex, Span


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading: where it stands, its depth (1 is a chapter's, 0 a book's), its words."""

    span: Span
    level: int
    title: str


@dataclass(frozen=True, slots=True)
class Footnote:
    """A footnote: `span` holds its text, `anchor` is where the story refers to it."""

    span: Span
    anchor: int


@dataclass(frozen=True, slots=True)
class DocumentLayout:
    """A canonical text and what stands where in it.

    `body` is where chapters are: after front matter, before footnotes and comments.
    `headings`, `breaks` and `notes` are in order; notes may lie outside the body.
    `fields` are the front matter's, names in lower case, values as written.
    """

    text: str
    lines: LineIndex
    body: Span
    headings: tuple[Heading, ...] = ()
    breaks: tuple[Span, ...] = ()
    notes: tuple[Span, ...] = ()
    asides: tuple[Footnote, ...] = ()
    fields: Mapping[str, str] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()


_BREAK = (
    r"(?:(?P<mark>\\?\*|[#_⁂•·●○◆◇✦✧★☆❦☙❧※§∞~⸻])(?:[ \t]*(?P=mark))*"
    r"|-(?:[ \t]*-){2,}|<hr[ \t]*/?>)"
)


def is_scene_break(line: str) -> bool:
    """Say whether a line by itself marks the end of a scene: `* * *`, `#`, `⁂`."""
    return re.fullmatch(_BREAK, line.strip(), re.I) is not None


def find_scene_breaks(text: str) -> Iterator[int]:
    """Yield the offset of the first mark of every line that ends a scene."""
    pattern = re.compile(rf"^[ \t]*(?P<all>{_BREAK})[ \t]*$", re.I | re.M)
    return (match.start("all") for match in pattern.finditer(text))


def trim_prose_span(text: str, start: int, end: int) -> Span:
    """Return the span from `start` to `end` without white space at either side."""
    piece = text[start:end]
    indent = len(piece) - len(piece.lstrip())
    return Span(start + indent, max(start + indent, start + len(piece.rstrip())))


class ProseRegions:
    """A text with holes: what is left when notes and scene breaks are cut out."""

    def __init__(self, text: str, cuts: Iterable[Span]) -> None:
        self._text = text
        self._cuts: list[Span] = []
        for cut in sorted(cuts):
            if self._cuts and cut.start <= self._cuts[-1].end:
                last = self._cuts.pop()
                cut = Span(last.start, max(last.end, cut.end))
            self._cuts.append(cut)
        self._ends = [cut.end for cut in self._cuts]

    def parts(self, start: int, end: int) -> tuple[Span, ...]:
        """Return the stretches of prose between two offsets, trimmed, in order."""
        pieces = (trim_prose_span(self._text, *gap) for gap in self._gaps(start, end))
        return tuple(piece for piece in pieces if len(piece))

    def any(self, start: int, end: int) -> bool:
        """Say whether there is any prose between two offsets."""
        gaps = self._gaps(start, end)
        return any(
            not self._text[gap_start:gap_end].isspace() for gap_start, gap_end in gaps
        )

    def _gaps(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        at = bisect_right(self._ends, start)
        while at < len(self._cuts) and self._cuts[at].start < end:
            if self._cuts[at].start > start:
                yield start, self._cuts[at].start
            start = self._cuts[at].end
            at += 1
        if start < end:
            yield start, end


def find_unmarked_headings(
    blocks: Iterable[tuple[Span, str]],
) -> tuple[Heading, ...]:
    """Find chapter headings that nothing but their words marks: "CHAPTER I."

    `blocks` are the paragraphs with their text. A numeral alone is a heading only
    where several count up from one.
    """
    headings: list[Heading] = []
    figures: list[tuple[Heading, int]] = []
    for span, block in blocks:
        if len(block) > 200:
            continue
        first, _, later_lines = block.partition("\n")
        heading = _spoken(span, first, later_lines)
        if heading:
            headings.append(heading)
        elif not later_lines and (number := parse_lone_number(block)) is not None:
            figures.append((Heading(span, 3, block.strip()), number))
    return tuple(sorted([*headings, *_counting(figures)], key=lambda h: h.span))


def _spoken(span: Span, first: str, later_lines: str) -> Heading | None:
    reading = parse_heading_line(first)
    if reading is None or (later_lines and not _is_subtitle(later_lines)):
        return None
    title = " ".join(f"{first} {later_lines}".split())
    return Heading(span, 1 if reading.kind is HeadingKind.GROUP else 2, title)


def _is_subtitle(text: str) -> bool:
    text = text.strip()
    single = "\n" not in text and 0 < len(text) <= 80 and not is_scene_break(text)
    return single and (text.isupper() or text[-1] not in ".!?,;:\"'”’")


def _counting(figures: list[tuple[Heading, int]]) -> Iterator[Heading]:
    """Yield the figures of runs that start at 1 and have two or more members."""
    run: list[Heading] = []
    for heading, number in figures:
        if number == 1 or number != len(run) + 1:
            if len(run) > 1:
                yield from run
            run = []
        if number == len(run) + 1:
            run.append(heading)
    if len(run) > 1:
        yield from run
