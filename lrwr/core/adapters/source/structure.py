"""A layout cut into chapters and scenes."""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import replace

from lrwr.core.adapters.source.layout import (
    DocumentLayout,
    Footnote,
    ProseRegions,
    trim_prose_span,
)
from lrwr.core.adapters.source.outline import (
    ChapterStart,
    OutlineEntry,
    build_outline_entries,
    find_chapter_starts,
)
from lrwr.core.model.documents import Chapter, Scene
from lrwr.core.model.text import Span


class ChapterFinder:
    """Finds the chapters of one layout.

    `sections_count` says that numerals alone, below one title, are chapters: so in a
    whole book, not in a file that is itself one of several chapters.
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
        """Return the chapters in order, footnotes laid where they are referred to."""
        starts = self._starts()
        ends = [start.at for start in starts[1:]] + [self._layout.body.end]
        chapters = [self._chapter(*edges) for edges in zip(starts, ends, strict=True)]
        return self._finish([chapter for chapter in chapters if chapter])

    def whole(self) -> tuple[Chapter, ...]:
        """Return one chapter that holds everything, its scenes split at headings."""
        body = self._layout.body
        chapter = self._chapter(
            ChapterStart(body.start, self.first_heading()), body.end
        )
        return self._finish([chapter] if chapter else [])

    def first_heading(self) -> OutlineEntry | None:
        """Return the first heading of the highest rank."""
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
        """Say whether words that are no heading stand before the first chapter."""
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
        """Cut at breaks and headings; notes between breaks join the scene before."""
        scenes: list[Scene] = []
        waiting: Span | None = None
        for segment_start, segment_end in self._segments(start, end):
            span = trim_prose_span(self._layout.text, segment_start, segment_end)
            parts = self._prose.parts(segment_start, segment_end)
            if parts:
                first = waiting.start if waiting else span.start
                scenes.append(Scene(Span(first, span.end), parts))
                waiting = None
            elif len(span) and scenes:
                last = scenes.pop()
                scenes.append(Scene(Span(last.span.start, span.end), last.parts))
            elif len(span):
                waiting = Span(waiting.start if waiting else span.start, span.end)
        return [Scene(waiting, ())] if waiting else scenes

    def _segments(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        """Yield what lies between breaks, and between headings that follow prose."""
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

    def _finish(self, chapters: list[Chapter]) -> tuple[Chapter, ...]:
        """Lay each footnote in the scene that refers to it."""
        asides = self._layout.asides
        if asides and not chapters:
            first = asides[0].span
            chapters = [Chapter("", first, (Scene(first, ()),))]
        by_chapter: dict[int, list[Footnote]] = {}
        starts = [chapter.span.start for chapter in chapters]
        for aside in asides:
            by_chapter.setdefault(_holder(starts, aside.anchor), []).append(aside)
        for at, chapter_asides in by_chapter.items():
            scenes = _with_asides(chapters[at].scenes, chapter_asides)
            chapters[at] = replace(chapters[at], scenes=scenes)
        return tuple(chapters)


def _with_asides(
    scenes: tuple[Scene, ...], asides: Sequence[Footnote]
) -> tuple[Scene, ...]:
    extra: dict[int, list[Span]] = {}
    starts = [scene.span.start for scene in scenes]
    for aside in asides:
        extra.setdefault(_holder(starts, aside.anchor), []).append(aside.span)
    return tuple(
        Scene(scene.span, (*scene.parts, *extra.get(at, ())))
        for at, scene in enumerate(scenes)
    )


def _holder(starts: Sequence[int], anchor: int) -> int:
    return max(0, bisect_left(starts, anchor + 1) - 1)
