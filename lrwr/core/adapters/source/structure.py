"""Finds chapters and scenes from the headings and scene breaks of a layout."""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from lrwr.core.adapters.source.layout import (
    DocumentLayout,
    Footnote,
    Heading,
    HeadingKind,
    HeadingMeaning,
    ProseRegions,
    parse_heading,
    trim_prose_span,
)
from lrwr.core.model.documents import Chapter, Scene
from lrwr.core.model.text import Span

_NO_LEVELS = (-1, -1)
"""Levels above every heading: no heading begins a chapter."""

_MIN_SECTIONS = 3
"""Numbered sections below one title that make a book; fewer are scenes."""


@dataclass(frozen=True, slots=True)
class OutlineEntry:
    """A heading of a document, and the meaning of its words."""

    heading: Heading
    reading: HeadingMeaning

    @property
    def level(self) -> int:
        """The heading's level; 0 is the title of a book."""
        return self.heading.level

    @property
    def kind(self) -> HeadingKind:
        """What the words of the heading announce."""
        return self.reading.kind

    @property
    def span(self) -> Span:
        """The span of the heading."""
        return self.heading.span

    @property
    def is_numbered(self) -> bool:
        """Whether the heading announces a chapter, by the word "chapter" or by a
        number.
        """
        return self.kind is HeadingKind.CHAPTER or (
            self.kind is HeadingKind.OTHER and self.reading.number is not None
        )


@dataclass(frozen=True, slots=True)
class ChapterStart:
    """Where a chapter starts: the offset `at`, in characters, and its heading `entry`.

    `entry` is None for a chapter without a heading. `volume` and `number` are those in
    the heading, if any. `opening` marks text before the first chapter, such as a
    preface.
    """

    at: int
    entry: OutlineEntry | None
    volume: int | None = None
    number: int | None = None
    opening: bool = False

    @classmethod
    def alone(cls, at: int, entry: OutlineEntry | None) -> "ChapterStart":
        """Return the start, at the offset `at`, of the only chapter of a document.

        `entry` is its heading, None if it has none. The number in a heading such as
        "Part 2" counts as the chapter's number.
        """
        if entry is None:
            return cls(at, None)
        reading, is_group = entry.reading, entry.kind is HeadingKind.GROUP
        return cls(
            at,
            entry,
            volume=None if is_group else reading.volume,
            number=reading.volume if is_group else reading.number,
            opening=entry.kind is HeadingKind.OPENING,
        )


def build_outline_entries(headings: Iterable[Heading]) -> Iterator[OutlineEntry]:
    """Yield each heading with the meaning of its words, in the order of `headings`."""
    return (OutlineEntry(heading, parse_heading(heading.title)) for heading in headings)


def find_chapter_starts(
    outline: Sequence[OutlineEntry], prose: ProseRegions, sections_count: bool
) -> list[ChapterStart]:
    """Return the starts of chapters, in text order; empty if no heading begins a
    chapter.

    `outline` are the headings in text order. The heading of a volume, or the title of a
    book, belongs to the chapter after it. `sections_count` says that lone numerals
    below a single title are chapters.
    """
    low, high = _levels(outline, prose, sections_count)
    begins = [entry for entry in outline if _begins(entry, low, high)]
    return _mark_openings(list(_merge_introductions(begins, prose)))


def _begins(entry: OutlineEntry, low: int, high: int) -> bool:
    if entry.kind is HeadingKind.CHAPTER:
        return True
    return entry.level <= (low if entry.kind is HeadingKind.OTHER else high)


def _levels(
    outline: Sequence[OutlineEntry], prose: ProseRegions, sections_count: bool
) -> tuple[int, int]:
    """Return the deepest level of a chapter's heading: without a name, and with one."""
    numbered = [e.level for e in outline if e.kind is HeadingKind.CHAPTER]
    if numbered:
        return min(numbered), max(numbered)
    groups = [e.level for e in outline if e.kind is HeadingKind.GROUP]
    if groups:
        level = min(_beneath_groups(outline, prose) or groups)
        return level, level
    named_levels = [
        e.level for e in outline if e.kind in (HeadingKind.NAMED, HeadingKind.OPENING)
    ]
    if named_levels:
        return min(named_levels), min(named_levels)
    return _unnamed_levels(outline, sections_count)


def _beneath_groups(outline: Sequence[OutlineEntry], prose: ProseRegions) -> list[int]:
    return [
        after.level
        for entry, after in pairwise(outline)
        if entry.kind is HeadingKind.GROUP
        and after.level > entry.level
        and not prose.any(entry.span.end, after.span.start)
    ]


def _unnamed_levels(
    outline: Sequence[OutlineEntry], sections_count: bool
) -> tuple[int, int]:
    levels = [e.level for e in outline if e.level > 0] or [e.level for e in outline]
    if not levels:
        return _NO_LEVELS
    top = min(levels)
    if levels.count(top) > 1:
        return top, top
    below = [e for e in outline if e.level > top and e.is_numbered]
    numbers = [e.reading.number for e in below if e.level == below[0].level]
    counts = numbers == list(range(1, len(numbers) + 1))
    if sections_count and counts and len(numbers) >= _MIN_SECTIONS:
        return below[0].level, below[0].level
    return _NO_LEVELS


def _merge_introductions(
    begins: Sequence[OutlineEntry], prose: ProseRegions
) -> Iterator[ChapterStart]:
    """Yield the chapters; headings that only introduce a chapter are merged into it."""
    at: int | None = None
    volume: OutlineEntry | None = None
    for i, entry in enumerate(begins):
        after = begins[i + 1] if i + 1 < len(begins) else None
        at = entry.span.start if at is None else at
        leads = after is not None and _leads_to(entry, after, prose, first=i == 0)
        if entry.kind is HeadingKind.GROUP and (leads or _is_over(entry, after)):
            volume = _outer_group(volume, entry)
        if leads:
            continue
        start = ChapterStart.alone(at, entry)
        if volume is not None and start.volume is None:
            number = None if entry is volume else start.number
            start = replace(start, volume=volume.reading.volume, number=number)
        yield start
        at = None


def _is_over(entry: OutlineEntry, after: OutlineEntry | None) -> bool:
    return after is not None and after.level > entry.level


def _outer_group(current: OutlineEntry | None, entry: OutlineEntry) -> OutlineEntry:
    """Return which heading is the volume: "Book Two" remains it when "Part 1" follows."""
    if current is None:
        return entry
    old = (current.level, current.reading.rank)
    return entry if (entry.level, entry.reading.rank) <= old else current


def _leads_to(
    entry: OutlineEntry, after: OutlineEntry, prose: ProseRegions, *, first: bool
) -> bool:
    """Return whether a heading only introduces the heading `after` it."""
    if entry.kind is HeadingKind.GROUP and after.kind is HeadingKind.CHAPTER:
        return True
    if prose.any(entry.span.end, after.span.start):
        return False
    if entry.kind is HeadingKind.GROUP:
        same = (after.level, after.reading.rank) == (entry.level, entry.reading.rank)
        return not (after.kind is HeadingKind.GROUP and same)
    if entry.kind is HeadingKind.OTHER:
        return entry.level < after.level or (
            first and after.kind is not HeadingKind.OTHER
        )
    return False


def _mark_openings(starts: list[ChapterStart]) -> list[ChapterStart]:
    """Mark the starts before the first chapter as opening."""
    at = 0
    first = next(
        (i for i, s in enumerate(starts) if s.entry and s.entry.is_numbered), 0
    )
    before_one = bool(starts) and starts[first].number in (1, None)
    while at < len(starts) and (
        starts[at].opening or (at < first and before_one and _is_other(starts[at]))
    ):
        at += 1
    return [replace(start, opening=i < at) for i, start in enumerate(starts)]


def _is_other(start: ChapterStart) -> bool:
    return start.entry is not None and start.entry.kind is HeadingKind.OTHER


class ChapterFinder:
    """Finds the chapters and scenes of one document.

    `sections_count` says that lone numerals below a single title are chapters. That is
    so in a whole book, but not in a file that is itself one of several chapters.
    """

    def __init__(self, layout: DocumentLayout, *, sections_count: bool) -> None:
        self._layout = layout
        self._sections_count = sections_count
        self._prose = ProseRegions(layout.text, (*layout.notes, *layout.breaks))
        self._outline = tuple(build_outline_entries(layout.headings))
        self._marks = sorted(
            [(cut.start, cut.end, True) for cut in layout.breaks]
            + [(h.span.start, h.span.end, False) for h in layout.headings]
        )

    def chapters(self) -> tuple[Chapter, ...]:
        """Return the chapters with their scenes, in text order; empty if there is no
        prose.

        Each footnote belongs to the scene that refers to it.
        """
        starts = self._starts()
        ends = [start.at for start in starts[1:]] + [self._layout.body.end]
        chapters = [self._chapter(*edges) for edges in zip(starts, ends, strict=True)]
        return self._attach_footnotes([chapter for chapter in chapters if chapter])

    def whole(self) -> tuple[Chapter, ...]:
        """Return the whole body as one chapter, with scenes split at scene breaks and
        headings.

        Empty if there is no prose.
        """
        body = self._layout.body
        chapter = self._chapter(
            ChapterStart(body.start, self.first_heading()), body.end
        )
        return self._attach_footnotes([chapter] if chapter else [])

    def first_heading(self) -> OutlineEntry | None:
        """Return the first of the document's headings with the lowest level number.

        Level 0 is the title of a book, 1 the top level below it. None if there are no
        headings.
        """
        top = min((entry.level for entry in self._outline), default=0)
        return next((e for e in self._outline if e.level == top), None)

    def _starts(self) -> list[ChapterStart]:
        body = self._layout.body
        starts = find_chapter_starts(self._outline, self._prose, self._sections_count)
        if not starts:
            return [ChapterStart.alone(body.start, self.first_heading())]
        if len(starts) == 1:
            return [
                replace(
                    ChapterStart.alone(body.start, starts[0].entry),
                    volume=starts[0].volume,
                )
            ]
        first = starts[0]
        if self._has_text_before(first.at):
            before = [e for e in self._outline if e.span.end <= first.at]
            entry = before[0] if before else None
            return [ChapterStart(body.start, entry, opening=True), *starts]
        return [replace(first, at=body.start), *starts[1:]]

    def _has_text_before(self, end: int) -> bool:
        """Return whether prose other than headings stands before the first chapter."""
        at = self._layout.body.start
        for entry in self._outline:
            if entry.span.start >= end or self._prose.any(at, entry.span.start):
                break
            at = entry.span.end
        return self._prose.any(at, end)

    def _chapter(self, start: ChapterStart, end: int) -> Chapter | None:
        scenes = tuple(self._scenes(start.at, end))
        if not scenes:
            return None
        return Chapter(
            title=start.entry.heading.title if start.entry else "",
            span=trim_prose_span(self._layout.text, start.at, end),
            scenes=scenes,
            opening=start.opening,
            volume=start.volume,
            number=None if start.opening else start.number,
        )

    def _scenes(self, start: int, end: int) -> list[Scene]:
        """Return the scenes, cut at breaks and headings.

        A comment between two breaks joins the scene before it.
        """
        scenes: list[Scene] = []
        leading: Span | None = None
        for segment_start, segment_end in self._segments(start, end):
            span = trim_prose_span(self._layout.text, segment_start, segment_end)
            parts = self._prose.parts(segment_start, segment_end)
            if parts:
                first = leading.start if leading else span.start
                scenes.append(Scene(Span(first, span.end), parts))
                leading = None
            elif len(span) and scenes:
                last = scenes.pop()
                scenes.append(Scene(Span(last.span.start, span.end), last.parts))
            elif len(span):
                leading = Span(leading.start if leading else span.start, span.end)
        return [Scene(leading, ())] if leading else scenes

    def _segments(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        """Yield the offsets between breaks, and between headings that follow prose."""
        segment_start = at = start
        for mark_start, mark_end, is_break in self._marks_between(start, end):
            if is_break or self._prose.any(at, mark_start):
                yield segment_start, mark_start
                segment_start = mark_end if is_break else mark_start
            at = mark_end
        yield segment_start, end

    def _marks_between(self, start: int, end: int) -> Sequence[tuple[int, int, bool]]:
        first = bisect_left(self._marks, (start, 0, False))
        return self._marks[first : bisect_left(self._marks, (end, 0, False))]

    def _attach_footnotes(self, chapters: list[Chapter]) -> tuple[Chapter, ...]:
        """Add each footnote to the scene that refers to it."""
        footnotes = self._layout.footnotes
        if footnotes and not chapters:
            first = footnotes[0].span
            chapters = [Chapter("", first, (Scene(first, ()),))]
        by_chapter: dict[int, list[Footnote]] = {}
        starts = [chapter.span.start for chapter in chapters]
        for footnote in footnotes:
            by_chapter.setdefault(_index_before(starts, footnote.anchor), []).append(
                footnote
            )
        for at, chapter_footnotes in by_chapter.items():
            scenes = _add_footnotes(chapters[at].scenes, chapter_footnotes)
            chapters[at] = replace(chapters[at], scenes=scenes)
        return tuple(chapters)


def _add_footnotes(
    scenes: tuple[Scene, ...], footnotes: Sequence[Footnote]
) -> tuple[Scene, ...]:
    extra: dict[int, list[Span]] = {}
    starts = [scene.span.start for scene in scenes]
    for footnote in footnotes:
        extra.setdefault(_index_before(starts, footnote.anchor), []).append(
            footnote.span
        )
    return tuple(
        Scene(scene.span, (*scene.parts, *extra.get(at, ())))
        for at, scene in enumerate(scenes)
    )


def _index_before(starts: Sequence[int], anchor: int) -> int:
    return max(0, bisect_left(starts, anchor + 1) - 1)
