"""Reading a story by its chapters, as far as one has come."""

from collections.abc import Iterator
from dataclasses import dataclass

from lrwr.core.model.chunks import Chunk, ChunkKind, Passage, Pipeline, SearchScope
from lrwr.core.model.documents import DocumentId, Horizon
from lrwr.core.model.text import Span
from lrwr.core.ports.stores import PassageStore
from lrwr.core.retrieval.people import is_within_scope
from lrwr.core.retrieval.story import StoryOrder, build_search_scope


@dataclass(frozen=True, slots=True)
class ChapterTitle:
    """A chapter's number in story order, and its title, empty where it has none."""

    number: int
    title: str


class ChapterReader:
    """Reads the chapters of one library, up to a horizon; nothing after it is seen.

    Chapters come as passages of `pipeline`; the author's comments are left out.
    """

    def __init__(
        self,
        store: PassageStore,
        pipeline: Pipeline,
        order: StoryOrder,
        horizon: Horizon | None,
    ) -> None:
        self._store = store
        self._pipeline = pipeline
        self._order = order
        kinds = (ChunkKind.PROSE,)
        self._scope = build_search_scope(order, types=(), horizon=horizon, kinds=kinds)

    def contents(self) -> tuple[ChapterTitle, ...]:
        """Return the chapters that have begun, in story order."""
        return tuple(
            ChapterTitle(number, chapter.title)
            for document, chapter, number in self._order.told()
            if _has_begun(document, chapter.span, self._scope)
        )

    async def chapter(self, number: int) -> tuple[Passage, ...]:
        """Return a chapter's passages in order; none where there is no such chapter."""
        passages: list[Passage] = []
        for document, place in self._places(number):
            chunks = await self._store.chunks_of(document, self._pipeline)
            passages += [
                build_passage(chunk, self._order, 0.0)
                for chunk in chunks
                if chunk.chapter == place
                and chunk.kind is ChunkKind.PROSE
                and is_within_scope(document, chunk.span, self._scope)
            ]
        return tuple(passages)

    def _places(self, number: int) -> Iterator[tuple[DocumentId, int]]:
        for document in self._order.story:
            for place, chapter_number in enumerate(self._order.numbers[document]):
                if chapter_number == number:
                    yield document, place


def build_passage(chunk: Chunk, order: StoryOrder, score: float) -> Passage:
    """Return a chunk with its place in the story."""
    outline = order.outlines[chunk.document]
    titled = outline.chapters[chunk.chapter : chunk.chapter + 1]
    number = order.chapter_number(chunk.document, chunk.chapter)
    return Passage(
        chunk=chunk,
        type=outline.type,
        chapter=number,
        chapter_title=titled[0].title if titled else outline.title,
        scene=None if number is None else chunk.scene + 1,
        score=score,
    )


def _has_begun(document: DocumentId, span: Span, scope: SearchScope) -> bool:
    return is_within_scope(
        document, Span(span.start, min(span.start + 1, span.end)), scope
    )
