"""How far one has read: what of the documents is in sight, and where it stands."""

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice

from lrwr.core.bible.values import TextEvidence
from lrwr.core.model.chunks import ChunkKind
from lrwr.core.model.documents import Chapter, DocumentId, Horizon
from lrwr.core.model.facts import Certainty
from lrwr.core.model.text import Span
from lrwr.core.ports.stores import DocumentText
from lrwr.core.ports.story_stores import DocumentFact
from lrwr.core.retrieval.story import StoryOrder, build_search_scope

OMISSION_MARK = " … "
"""Stands where words between two stretches are left out."""


@dataclass(frozen=True, slots=True)
class _SceneSpan:
    span: Span
    chapter: int
    scene: int


class HorizonView:
    """What a reader who has come to the horizon has seen; with none, everything.

    Under a horizon only the story's own words count: notes and the author's comments
    have no place in it.
    """

    def __init__(
        self,
        order: StoryOrder,
        texts: Mapping[DocumentId, DocumentText],
        horizon: Horizon | None,
    ) -> None:
        self.order = order
        self.texts = texts
        self.bounded = horizon is not None
        scope = build_search_scope(
            order, types=(), horizon=horizon, kinds=(ChunkKind.PROSE,)
        )
        self._documents = scope.documents
        self._until = scope.until
        self._ranks = {document: rank for rank, document in enumerate(order.story)}
        self._own: dict[DocumentId, list[_SceneSpan]] = {}

    def sees(self, document: DocumentId, spans: Sequence[Span]) -> bool:
        """Say whether all of `spans` are there, and in sight."""
        if not spans or not self.opens(document):
            return False
        size = len(self.texts[document].text)
        until = min(size, self._until.get(document, size))
        if not all(0 <= span.start < span.end <= until for span in spans):
            return False
        return not self.bounded or all(
            any(True for _ in self._cut(document, span)) for span in spans
        )

    def knows(self, document_fact: DocumentFact) -> bool:
        """Say whether a fact is visible, and all text that its reader had read for it."""
        if not self.sees(document_fact.document, document_fact.fact.spans):
            return False
        until = self._until.get(document_fact.document)
        return until is None or document_fact.fact.reach <= until

    def opens(self, document: DocumentId) -> bool:
        """Say whether anything of `document` is in sight."""
        if document not in self.order.outlines or document not in self.texts:
            return False
        return self._documents is None or document in self._documents

    def whole(self, document: DocumentId) -> bool:
        """Say whether a document in sight is seen to its end."""
        return document not in self._until

    def tells(self, document: DocumentId) -> bool:
        """Say whether `document` tells the story, and is no note on it."""
        return document in self._ranks

    def key(self, document: DocumentId, start: int) -> tuple[int, str, int]:
        """Return what sorts places into story order; notes come before it all."""
        return self._ranks.get(document, -1), document, start

    def evidence(
        self,
        document: DocumentId,
        spans: Sequence[Span],
        keeper: str,
        certainty: Certainty,
        joint: str = OMISSION_MARK,
    ) -> TextEvidence:
        """Return the evidence at `spans`, which are visible."""
        document_text = self.texts[document]
        stretches = tuple(
            stretch for span in spans for stretch in self._shown(document, span)
        )
        chapter, scene = self.home(document, spans[0])
        chapters = self.order.outlines[document].chapters
        number = self.order.chapter_number(document, chapter)
        title = chapters[chapter].title if chapter < len(chapters) else ""
        return TextEvidence(
            document=document,
            spans=stretches,
            text=joint.join(document_text.text[s.start : s.end] for s in stretches),
            lines=document_text.lines.lines_of(
                Span(stretches[0].start, stretches[-1].end)
            ),
            chapter=number,
            chapter_title=title or self.order.outlines[document].title,
            scene=None if number is None else scene + 1,
            keeper=keeper,
            certainty=certainty,
        )

    def home(self, document: DocumentId, span: Span) -> tuple[int, int]:
        """Return the indexes of the chapter and the scene in which `span` begins."""
        part = next(self._parts_from(document, span.start), None)
        if part is not None and part.span.start <= span.start:
            return part.chapter, part.scene
        chapters = self.order.outlines[document].chapters
        for n, chapter in enumerate(chapters):
            for m, scene in enumerate(chapter.scenes):
                if _begins(span, scene.span):
                    return n, m
        within = (n for n, c in enumerate(chapters) if _begins(span, c.span))
        return next(within, 0), 0

    def scenes(self) -> Iterator[tuple[DocumentId, Chapter, int, int]]:
        """Yield each scene in sight: its chapter, that one's number, its own index."""
        for document, chapter, number in self.order.told():
            for index, scene in enumerate(chapter.scenes):
                if self.opens(document) and self._ends(document, scene.span):
                    yield document, chapter, number, index

    def names(self, name: str) -> bool:
        """Say whether `name` stands in the text in sight; always without a horizon."""
        return not self.bounded or name.casefold() in self._told

    def prefix(self, document: DocumentId) -> str:
        """Return the visible text of the story, one span a line."""
        text = self.texts[document].text
        until = self._until.get(document, len(text))
        visible_spans = (
            part.span for part in self._parts(document) if part.span.start < until
        )
        return "\n".join(
            text[span.start : min(span.end, until)] for span in visible_spans
        )

    @cached_property
    def _told(self) -> str:
        visible_documents = (d for d in self.order.story if self.opens(d))
        return "\n".join(
            self.prefix(document) for document in visible_documents
        ).casefold()

    def _ends(self, document: DocumentId, span: Span) -> bool:
        return span.end <= self._until.get(document, span.end)

    def _shown(self, document: DocumentId, span: Span) -> Iterator[Span]:
        if self.bounded:
            return self._cut(document, span)
        return iter((span,))

    def _cut(self, document: DocumentId, span: Span) -> Iterator[Span]:
        """Yield the stretches of `span` that are no comment."""
        for part in self._parts_from(document, span.start):
            if part.span.start >= span.end:
                break
            start = max(span.start, part.span.start)
            yield Span(start, min(span.end, part.span.end))

    def _parts_from(self, document: DocumentId, at: int) -> Iterator[_SceneSpan]:
        """Yield the document's parts that end after `at`, in order."""
        parts = self._parts(document)
        first = bisect_right(parts, at, key=lambda part: part.span.end)
        return islice(parts, first, None)

    def _parts(self, document: DocumentId) -> list[_SceneSpan]:
        if document not in self._own:
            chapters = self.order.outlines[document].chapters
            self._own[document] = sorted(
                (
                    _SceneSpan(part, n, m)
                    for n, chapter in enumerate(chapters)
                    for m, scene in enumerate(chapter.scenes)
                    for part in scene.parts
                ),
                key=lambda part: part.span,
            )
        return self._own[document]


def _begins(span: Span, within: Span) -> bool:
    return within.start <= span.start < within.end
