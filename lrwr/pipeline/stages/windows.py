"""Which stretches of a document are read at once. Pure, and local: an edit moves only
the windows of its own chapter."""

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby

from lrwr.core.model.chunks import Chunk, ChunkKind
from lrwr.core.model.documents import Document
from lrwr.core.model.text import Span
from lrwr.core.ports.analyst import EXCERPTS_PER_CALL, EXTRACTION_WINDOW_TOKENS, Excerpt

_INK = re.compile(r"\S")

NameFinder = Callable[[str], tuple[str, ...]]
"""The characters that a text names, as they are to be called."""


def build_classify_excerpts(
    document: Document, chunks: Sequence[Chunk], names: NameFinder
) -> list[Excerpt]:
    """Return one excerpt for each chunk of the story's own words, in order."""
    return [
        Excerpt(
            span=chunk.span,
            text=chunk.text,
            before=chunk.lead,
            known=names(chunk.text),
            where=_where(document, chunk),
        )
        for chunk in chunks
        if chunk.kind is ChunkKind.PROSE
    ]


def batch_excerpts(excerpts: Sequence[Excerpt]) -> Iterator[list[Excerpt]]:
    """Cut excerpts into runs that are classified in one call each, all about as long:
    no call is made for a few that are left over.
    """
    total = len(excerpts)
    calls = -(-total // EXCERPTS_PER_CALL)
    for n in range(calls):
        yield list(excerpts[total * n // calls : total * (n + 1) // calls])


def build_extract_excerpts(
    document: Document,
    chunks: Sequence[Chunk],
    names: NameFinder,
    *,
    size: int = EXTRACTION_WINDOW_TOKENS,
) -> list[Excerpt]:
    """Return the windows of a document: whole scenes of one chapter, at most `size`
    tokens together; a longer scene is cut between its chunks.

    An author's comment in a window is blanked out: it is no part of the story.
    """
    prose = [chunk for chunk in chunks if chunk.kind is ChunkKind.PROSE]
    found = []
    for _, told in groupby(prose, key=lambda chunk: chunk.chapter):
        for window in _windows(list(told), size):
            span = Span(window[0].span.start, window[-1].span.end)
            text = _told(document, span)
            found.append(
                Excerpt(span, text, "", names(text), _where(document, window[0]))
            )
    return found


def _windows(chunks: Sequence[Chunk], size: int) -> Iterator[list[Chunk]]:
    window: list[Chunk] = []
    tokens = 0
    for _, told in groupby(chunks, key=lambda chunk: chunk.scene):
        scene = list(told)
        whole = sum(chunk.tokens for chunk in scene)
        if window and tokens + whole > size:
            yield window
            window, tokens = [], 0
        for chunk in scene:
            if window and tokens + chunk.tokens > size:
                yield window
                window, tokens = [], 0
            window.append(chunk)
            tokens += chunk.tokens
    if window:
        yield window


def _told(document: Document, span: Span) -> str:
    """Return the text at `span`, every character in its place, comments blanked."""
    text = document.text[span.start : span.end]
    for note in document.notes:
        left, right = (max(0, at - span.start) for at in (note.start, note.end))
        text = text[:left] + _INK.sub(" ", text[left:right]) + text[right:]
    return text


def _where(document: Document, chunk: Chunk) -> str:
    title = document.title
    if chunk.chapter < len(document.chapters):
        chapter = document.chapters[chunk.chapter].title
        title = title if chapter in ("", title) else f"{title}, {chapter}"
    return f"{title}, scene {chunk.scene + 1}"
