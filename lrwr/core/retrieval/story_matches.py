"""Searches without a ranking: exact words, scenes that pass filters, story order, and
the lines around a passage.
"""

import re
import unicodedata
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from lrwr.core.model.choices import Pipeline
from lrwr.core.model.chunks import Chunk, ChunkId, Passage, SearchScope
from lrwr.core.model.documents import DocumentId, DocumentOutline
from lrwr.core.model.errors import NotFound
from lrwr.core.model.text import WORD_PATTERN, Span
from lrwr.core.ports.stores import PassageStore
from lrwr.core.retrieval.search_model import PassageSort, SearchRequest, SearchResult
from lrwr.core.retrieval.story import StoryOrder, build_passage, is_within_scope

_APOSTROPHES = "['’‘ʼ]"
_MAX_HEADING_PREFIX = 30
"""Characters before the title in a heading, such as "Chapter Twenty-Seven: ", at most."""
_BETWEEN_WORDS = r"[\W_]{1,12}"
"""Spaces, line breaks, punctuation and Markdown emphasis between two words."""


@dataclass(frozen=True, slots=True)
class ExactMatch:
    """A chunk and where it contains the words searched for.

    `spans` are character ranges in the chunk's document, in text order; the last one
    may end in the next chunk of the same scene.
    """

    chunk: Chunk
    spans: tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class ContextLines:
    """A passage extended to whole lines, and the lines around it, in text order.

    All are character ranges in the passage's document.
    """

    before: tuple[Span, ...]
    passage: Span
    after: tuple[Span, ...]


async def find_chapter_chunks(
    request: SearchRequest, order: StoryOrder, store: PassageStore
) -> frozenset[ChunkId]:
    """Return the chunks of the chapters that `request` names; it must name some.

    Raises:
        StoreProblem: The library cannot be read.
    """
    chapters = request.chapters or ()
    documents = [d for d in order.story if {*order.numbers[d]} & {*chapters}]
    chunks = [await store.chunks_of(d, request.pipeline) for d in documents]
    return frozenset(
        chunk.id
        for chunk in chain.from_iterable(chunks)
        if order.chapter_number(chunk.document, chunk.chapter) in chapters
    )


async def select_allowed_chunks(
    conditions: Sequence[frozenset[ChunkId]] | None,
    scope: SearchScope,
    store: PassageStore,
) -> frozenset[ChunkId] | None:
    """Return the chunks in `scope` that fulfil all `conditions`; None without any.

    Raises:
        StoreProblem: The library cannot be read.
    """
    if conditions is None:
        return None
    chunks = await store.chunks(sorted(frozenset.intersection(*conditions)))
    return frozenset(
        chunk.id
        for chunk in chunks
        if chunk.kind in scope.kinds
        and is_within_scope(chunk.document, chunk.span, scope)
    )


async def list_passages(
    request: SearchRequest,
    conditions: Sequence[frozenset[ChunkId]] | None,
    order: StoryOrder,
    scope: SearchScope,
    store: PassageStore,
) -> SearchResult:
    """List the passages within `scope` that contain the exact words of `request`;
    without words, one passage of each scene that fulfils all `conditions`.

    `conditions` are sets of chunks, None for no filter. With words, a passage must be
    in each of them. Story text comes before notes. Sorted by relevance, passages with
    more matches come first. Scenes are those of the story only, unless `request.types`
    names types of notes.

    Raises:
        StoreProblem: The library cannot be read.
    """
    spans: dict[ChunkId, tuple[Span, ...]] = {}
    if request.question:
        exact_matches = await find_exact_words(
            request.question,
            store=store,
            order=order,
            scope=scope,
            pipeline=request.pipeline,
        )
        chunks = [
            match.chunk
            for match in exact_matches
            if all(match.chunk.id in ids for ids in conditions or ())
        ]
        spans = {match.chunk.id: match.spans for match in exact_matches}
    else:
        chunks = await _list_scene_chunks(
            request, conditions or (), order, scope, store
        )
    passages = [
        build_passage(chunk, order, float(len(spans.get(chunk.id, ()))))
        for chunk in chunks
    ]
    if request.sort is PassageSort.RELEVANCE:
        passages.sort(key=lambda p: (p.chapter is None, -p.score))
    shown = passages[: request.limit]
    return SearchResult(
        tuple(shown),
        total=len(passages),
        total_matches=sum(len(spans[chunk.id]) for chunk in chunks)
        if request.question
        else None,
        matches={p.chunk.id: spans[p.chunk.id] for p in shown if p.chunk.id in spans},
    )


async def _list_scene_chunks(
    request: SearchRequest,
    conditions: Sequence[frozenset[ChunkId]],
    order: StoryOrder,
    scope: SearchScope,
    store: PassageStore,
) -> list[Chunk]:
    """Return a chunk with text of each scene that fulfils all `conditions`."""
    ids = sorted(frozenset[ChunkId]().union(*conditions))
    in_scope = [
        chunk
        for chunk in await store.chunks(ids)
        if chunk.document in (order.outlines if request.types else order.numbers)
        and chunk.kind in scope.kinds
        and is_within_scope(chunk.document, chunk.span, scope)
    ]
    return [
        await _skip_heading(chunk, request.pipeline, order, store)
        for chunk in select_scene_chunks(in_scope, conditions, order)
    ]


async def _skip_heading(
    chunk: Chunk, pipeline: Pipeline, order: StoryOrder, store: PassageStore
) -> Chunk:
    """Return the next chunk of the scene that has more than a heading; `chunk` if it has
    more itself, or if none has.
    """
    title = order.outlines[chunk.document].chapters[chunk.chapter].title
    if _has_story_text(chunk, title):
        return chunk
    scene = [
        other
        for other in await store.chunks_of(chunk.document, pipeline)
        if _scene_of(other) == _scene_of(chunk) and other.kind == chunk.kind
    ]
    return next((other for other in scene if _has_story_text(other, title)), chunk)


def _has_story_text(chunk: Chunk, title: str) -> bool:
    lines = chunk.text.split("\n")
    return any(is_story_sentence(line, title) for line in lines)


def is_story_sentence(words: str, title: str) -> bool:
    """Return whether `words`, a line or sentence, are no heading, table row or scene
    break.

    In a `.docx` a heading has no mark: a line that ends with the `title` of the chapter
    and has few other words is one.
    """
    words = words.strip()
    if words[:1] in {"#", "|"} or not any(map(str.isalnum, words)):
        return False
    extra = len(words) - len(title)
    return not (title and words.endswith(title) and extra <= _MAX_HEADING_PREFIX)


def build_exact_pattern(words: str) -> re.Pattern[str] | None:
    """Return a pattern that matches `words` verbatim, in their order.

    Case, punctuation, line breaks and the shape of apostrophes do not matter; function
    words do, and the first and last word must be whole words. None if `words` has no
    word.
    """
    found = WORD_PATTERN.findall(unicodedata.normalize("NFC", words).replace("_", " "))
    if not found:
        return None
    parts = (
        re.sub("['’‘ʼ]", lambda _: _APOSTROPHES, re.escape(word)) for word in found
    )
    return re.compile(
        rf"(?<![^\W_]){_BETWEEN_WORDS.join(parts)}(?![^\W_])", re.IGNORECASE
    )


async def find_exact_words(
    words: str,
    *,
    store: PassageStore,
    order: StoryOrder,
    scope: SearchScope,
    pipeline: Pipeline,
) -> list[ExactMatch]:
    """Return the chunks of `pipeline` within `scope` that contain `words` verbatim (see
    `build_exact_pattern`), in story order, those of notes last.

    Words that continue in the next chunk of the same scene are found too.

    Raises:
        StoreProblem: The library cannot be read.
    """
    pattern = build_exact_pattern(words)
    exact_matches: list[ExactMatch] = []
    if pattern is None:
        return exact_matches
    for document in sorted(order.outlines, key=lambda d: _rank_document(d, order)):
        if scope.documents is not None and document not in scope.documents:
            continue
        try:
            text = (await store.text(document)).text
        except NotFound:  # deleted since the story order was read
            continue
        spans = [Span(*match.span()) for match in pattern.finditer(text)]
        if spans:
            chunks = await store.chunks_of(document, pipeline)
            exact_matches += _locate_in_chunks(spans, chunks, scope)
    return exact_matches


def _locate_in_chunks(
    spans: Sequence[Span], chunks: Sequence[Chunk], scope: SearchScope
) -> list[ExactMatch]:
    """Return the chunks within `scope` that contain `spans`, in text order.

    A span across two scenes, or across text and a comment out of scope, is left out.
    """
    allowed = [
        chunk
        for chunk in chunks
        if chunk.kind in scope.kinds
        and is_within_scope(chunk.document, chunk.span, scope)
    ]
    spans_by_chunk: dict[ChunkId, list[Span]] = {}
    for span in spans:
        # Chunks of pipeline a overlap: prefer one that contains all of the words.
        whole = next((c for c in allowed if c.span.holds(span)), None)
        first = whole or _find_chunk_at(span.start, allowed)
        last = whole or _find_chunk_at(span.end - 1, allowed)
        if first and last and _scene_of(first) == _scene_of(last):
            spans_by_chunk.setdefault(first.id, []).append(span)
    return [
        ExactMatch(chunk, tuple(spans_by_chunk[chunk.id]))
        for chunk in sorted(allowed, key=lambda c: c.span)
        if chunk.id in spans_by_chunk
    ]


def _find_chunk_at(offset: int, chunks: Sequence[Chunk]) -> Chunk | None:
    return next((c for c in chunks if c.span.start <= offset < c.span.end), None)


def _scene_of(chunk: Chunk) -> tuple[DocumentId, int, int]:
    return chunk.document, chunk.chapter, chunk.scene


def select_scene_chunks(
    chunks: Sequence[Chunk],
    conditions: Sequence[Collection[ChunkId]],
    order: StoryOrder,
) -> list[Chunk]:
    """Return a chunk of each scene that fulfils all `conditions`, in story order.

    A condition is a set of chunks; a scene fulfils it with any of its chunks. The chunk
    returned is the first of those in `chunks` that are in most of the sets.
    """
    scenes: dict[tuple[DocumentId, int, int], list[Chunk]] = {}
    for chunk in chunks:
        scenes.setdefault(_scene_of(chunk), []).append(chunk)
    selected = [
        min(
            scene,
            key=lambda c: (-sum(c.id in ids for ids in conditions), c.span.start),
        )
        for scene in scenes.values()
        if all(any(c.id in ids for c in scene) for ids in conditions)
    ]
    return sorted(
        selected, key=lambda c: (_rank_document(c.document, order), c.span.start)
    )


def sort_by_story(passages: Sequence[Passage], order: StoryOrder) -> list[Passage]:
    """Sort passages by their position in the story; those of notes come last, by path."""
    return sorted(
        passages,
        key=lambda p: (_rank_document(p.chunk.document, order), p.chunk.span.start),
    )


def _rank_document(document: DocumentId, order: StoryOrder) -> tuple[int, str]:
    in_story = document in order.numbers
    return (order.story.index(document) if in_story else len(order.story), document)


def find_context_lines(
    outline: DocumentOutline, chunk: Chunk, span: Span, text: str, *, count: int
) -> ContextLines:
    """Return `span`, a part of `chunk`, extended to whole lines, and at most `count`
    lines before and after it.

    `text` is the canonical text of the chunk's document. Empty lines and the author's
    comments are skipped, and lines of other scenes are never returned, so that the
    context ends where a horizon may end.
    """
    scene = outline.chapters[chunk.chapter].scenes[chunk.scene]
    lines = [
        line
        for part in scene.parts
        if scene.span.holds(part) or part.holds(span)
        for line in _iter_lines(text, part)
    ]
    touched = [line for line in lines if line.overlaps(span)]
    before = [line for line in lines if line.end <= span.start]
    after = [line for line in lines if line.start >= span.end]
    return ContextLines(
        tuple(before[len(before) - count :] if count < len(before) else before),
        Span(
            min((line.start for line in touched), default=span.start),
            max((line.end for line in touched), default=span.end),
        ),
        tuple(after[:count]),
    )


def _iter_lines(text: str, part: Span) -> Iterator[Span]:
    """Yield the spans of the lines of `part` that are not blank."""
    at = part.start
    for line in text[part.start : part.end].split("\n"):
        if line.strip():
            yield Span(at, at + len(line))
        at += len(line) + 1
