"""Layout of a document: headings, scene breaks and prose, before chapters are
determined.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from functools import cache

from lrwr.core.model.text import (
    FIGURE_PATTERN,
    NUMERAL_PATTERN,
    LineIndex,
    Span,
    parse_numeral,
)


class HeadingKind(Enum):
    """What the words of a heading announce.

    A chapter with the word ("Chapter 7"), an opening before the first chapter
    ("Prologue"), a named chapter without a number ("Epilogue"), a group of chapters
    ("Part One"), or `OTHER` if they match no pattern.
    """

    CHAPTER = "chapter"
    """A chapter with the word: "Chapter 7", "BOOK ONE, CHAPTER I"."""
    OPENING = "opening"
    """Text before the first chapter: "Prologue", "Preface"."""
    NAMED = "named"
    """A chapter without a number: "Epilogue", "Interlude"."""
    GROUP = "group"
    """A group of chapters: "Volume II", "Part One"."""
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class HeadingMeaning:
    """The meaning of the words of a heading.

    `number` is the chapter's number; `volume` that of the volume, book or part; None if
    the heading has none. `rank` orders groups of chapters: 0 a volume, 1 a book, 2 a
    part or an act; it is 0 for other headings.
    """

    kind: HeadingKind
    volume: int | None = None
    number: int | None = None
    rank: int = 0


# Keyed by the first three letters of the word.
_RANKS = {"vol": 0, "tom": 0, "boo": 1, "par": 2, "act": 2}
_OPENINGS = (
    "preface|foreword|prologue|prelude|introduction|dedication|epigraph"
    "|front[ -]?matter|title[ -]page|half[ -]title|copyright|dramatis person(?:ae|æ)"
)
_UNNUMBERED = "epilogue|afterword|interlude|intermission|intermezzo|coda|postscript"
_SMALL_WORDS = "a an and as at but by for from in into of on or the to upon with"
_TITLE_LIMIT = 100
"""Characters of the longest line that may be a heading."""


@dataclass(frozen=True, slots=True)
class _Patterns:
    """Compiled patterns for titles.

    `chapter` and `group` capture the numeral; `word` matches "chapter" without a
    numeral; `bare` a title that begins with, or is, a numeral; `figures` a lone
    numeral.
    """

    chapter: re.Pattern[str]
    word: re.Pattern[str]
    group: re.Pattern[str]
    opening: re.Pattern[str]
    named: re.Pattern[str]
    bare: re.Pattern[str]
    figures: re.Pattern[str]


@cache
def _patterns() -> _Patterns:
    after = rf"(?=\s*(?:$|[.:,;()–—-]|{NUMERAL_PATTERN}))"
    chapter = rf"\b(?:chapter|chap\.?|ch\.?)\s*[#–—-]?\s*(?:the\s+|no\.?\s*)?({NUMERAL_PATTERN})"
    group = rf"(volume|vol\.?|tome|book|part|act)\s*[#–—-]?\s*(?:the\s+)?({NUMERAL_PATTERN})"
    bare = rf"(?:({FIGURE_PATTERN})(?=\s*(?:$|[.:)–—-]))|({NUMERAL_PATTERN})\.?$)"
    return _Patterns(
        chapter=re.compile(chapter, re.I),
        word=re.compile(r"chapter\b(?!\s+\w+\s+\w+\s+\w)", re.I),
        group=re.compile(group, re.I),
        opening=re.compile(rf"(?:the\s+)?(?:{_OPENINGS})\b{after}", re.I),
        named=re.compile(rf"(?:the\s+)?(?:{_UNNUMBERED})\b{after}", re.I),
        bare=re.compile(bare),
        figures=re.compile(rf"({FIGURE_PATTERN})\.?"),
    )


def parse_heading(title: str) -> HeadingMeaning:
    """Return the meaning of `title`, a heading's text without Markdown's `#`."""
    patterns = _patterns()
    group = patterns.group.match(title)
    chapter = (
        patterns.chapter.search(title, group.end())
        if group
        else patterns.chapter.match(title)
    )
    volume = parse_numeral(group[2]) if group else None
    if chapter:
        return HeadingMeaning(HeadingKind.CHAPTER, volume, parse_numeral(chapter[1]))
    if group:
        return HeadingMeaning(
            HeadingKind.GROUP, volume, rank=_RANKS[group[1][:3].lower()]
        )
    if patterns.word.match(title):
        return HeadingMeaning(HeadingKind.CHAPTER)
    if patterns.opening.match(title):
        return HeadingMeaning(HeadingKind.OPENING)
    if patterns.named.match(title):
        return HeadingMeaning(HeadingKind.NAMED)
    bare = patterns.bare.match(title)
    return HeadingMeaning(
        HeadingKind.OTHER, number=parse_numeral(bare[1] or bare[2]) if bare else None
    )


def parse_heading_line(line: str) -> HeadingMeaning | None:
    """Return the meaning of `line` if it is a heading in plain text; None if it is
    prose.

    Stricter than `parse_heading`, because only the words mark such a line. It has at
    most 100 characters and a number, unless it is a name such as "Prologue". What
    follows is set off by punctuation or capitalized as a title.
    """
    line = line.strip()
    if not line or len(line) > _TITLE_LIMIT:
        return None
    reading = parse_heading(line)
    patterns = _patterns()
    match reading.kind:
        case HeadingKind.CHAPTER:
            match = patterns.chapter.search(line)
        case HeadingKind.GROUP:
            match = patterns.group.match(line)
        case HeadingKind.OPENING:
            match = patterns.opening.match(line)
        case HeadingKind.NAMED:
            match = patterns.named.match(line)
        case _:
            match = None
    return reading if match and _is_title(line[match.end() :]) else None


def parse_lone_number(line: str) -> int | None:
    """Return the number of a line that is only a numeral, such as "IV", "IV." or "4".

    None for other lines.
    """
    match = _patterns().figures.fullmatch(line.strip())
    return parse_numeral(match[1]) if match else None


def _is_title(text: str) -> bool:
    text = text.strip()
    if not text or text[0] in ".:,;()–—-":
        return True
    words = [word for word in re.split(r"[\s–—-]+", text) if word[:1].isalpha()]
    small = _SMALL_WORDS.split()
    titled = all(w[0].isupper() or w.lower() in small for w in words)
    return titled and (text.isupper() or text[-1] not in ".!?,;\"'”’")


def derive_words_from_file_name(name: str) -> str:
    """Return the words in a file name without its ending: `07-the-fog` gives "the
    fog".
    """
    name = re.sub(r"^\d+(?=[-_ .])", "", name)
    return " ".join(re.split(r"[-_\s]+", name)).strip(" .")


def derive_title_from_file_name(name: str) -> str:
    """Return a title made of a file name without its ending: `volume-iii-chapter-vi`
    gives "Volume III Chapter VI".
    """
    words = derive_words_from_file_name(name) or name
    if not words.islower():
        return words
    roman = re.compile(rf"{FIGURE_PATTERN}")
    return " ".join(
        word.upper() if roman.fullmatch(word.upper()) else word[:1].upper() + word[1:]
        for word in words.split()
    )


MAX_HEADING_CHARS = 300
"""Characters of the longest heading; longer ones are prose. Each passage of a chapter
contains the heading, so a long one would be stored as often."""


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading: its span, its text, and its level.

    Level 0 is the title of a book, 1 the top level below it.
    """

    span: Span
    level: int
    title: str


@dataclass(frozen=True, slots=True)
class Footnote:
    """A footnote: `span` covers its text; `anchor` is the offset, in characters, at
    which the story text refers to it.
    """

    span: Span
    anchor: int


@dataclass(frozen=True, slots=True)
class DocumentLayout:
    """The text of a document, and the positions of its parts in it.

    `body` contains the chapters: it begins after front matter and ends before footnotes
    and comments. `headings`, `breaks` (scene breaks) and `notes` (the author's
    comments) are in text order; comments may lie outside the body. `fields` are those
    of the front matter, by name in lower case, with values as written. `scene_files`
    are the paths, relative to the file's folder, that an index note lists in story
    order; None if the document is no index.
    """

    text: str
    lines: LineIndex
    body: Span
    headings: tuple[Heading, ...] = ()
    breaks: tuple[Span, ...] = ()
    notes: tuple[Span, ...] = ()
    footnotes: tuple[Footnote, ...] = ()
    fields: Mapping[str, str] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    scene_files: tuple[str, ...] | None = None


_BREAK = (
    r"(?:(?P<mark>\\?\*|[#_⁂•·●○◆◇✦✧★☆❦☙❧※§∞~⸻])(?:[ \t]*(?P=mark))*"
    r"|-(?:[ \t]*-){2,}|<hr[ \t]*/?>)"
)


def is_scene_break(line: str) -> bool:
    """Return whether `line` is a scene break, such as `* * *`, `#` or `⁂`."""
    return re.fullmatch(_BREAK, line.strip(), re.I) is not None


def find_scene_breaks(text: str) -> Iterator[int]:
    """Yield the offset of the first character of every scene break, in text order."""
    pattern = re.compile(rf"^[ \t]*(?P<all>{_BREAK})[ \t]*$", re.I | re.M)
    return (match.start("all") for match in pattern.finditer(text))


def trim_prose_span(text: str, start: int, end: int) -> Span:
    """Return the span of `text` from `start` to `end`, without white space at either
    end.

    The offsets are in characters; `end` is exclusive.
    """
    piece = text[start:end]
    indent = len(piece) - len(piece.lstrip())
    return Span(start + indent, max(start + indent, start + len(piece.rstrip())))


class ProseRegions:
    """The parts of `text` outside of the spans `cuts` (comments and scene breaks)."""

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
        """Return the spans of prose between the offsets `start` and `end`, in text
        order.

        They have no white space at either end. Empty if there is only white space.
        """
        pieces = (trim_prose_span(self._text, *gap) for gap in self._gaps(start, end))
        return tuple(piece for piece in pieces if len(piece))

    def any(self, start: int, end: int) -> bool:
        """Return whether there is prose other than white space between the offsets
        `start` and `end`.
        """
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
    """Return the chapter headings of a plain text, in text order.

    Only their words mark them, such as "CHAPTER I.". `blocks` are the paragraphs with
    their spans. A lone numeral is a heading only in a series that counts up from 1 and
    has at least two members.
    """
    headings: list[Heading] = []
    figures: list[tuple[Heading, int]] = []
    for span, block in blocks:
        if len(block) > 200:  # too long for a heading with its subtitle
            continue
        first, _, later_lines = block.partition("\n")
        heading = _unmarked_heading(span, first, later_lines)
        if heading:
            headings.append(heading)
        elif not later_lines and (number := parse_lone_number(block)) is not None:
            figures.append((Heading(span, 3, block.strip()), number))
    return tuple(sorted([*headings, *_counting_runs(figures)], key=lambda h: h.span))


def _unmarked_heading(span: Span, first: str, later_lines: str) -> Heading | None:
    reading = parse_heading_line(first)
    if reading is None or (later_lines and not _is_subtitle(later_lines)):
        return None
    title = " ".join(f"{first} {later_lines}".split())
    return Heading(span, 1 if reading.kind is HeadingKind.GROUP else 2, title)


def _is_subtitle(text: str) -> bool:
    text = text.strip()
    single = "\n" not in text and 0 < len(text) <= 80 and not is_scene_break(text)
    return single and (text.isupper() or text[-1] not in ".!?,;:\"'”’")


def _counting_runs(figures: list[tuple[Heading, int]]) -> Iterator[Heading]:
    """Yield the headings of runs that count up from 1 and have two or more members."""
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
