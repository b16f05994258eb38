"""Passages of the story that the words of a card ask for: what is searched, and which
part of a passage is shown.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from lrwr.core.attribution.details import stem_words
from lrwr.core.drafting.board import SceneCard
from lrwr.core.model.chunks import ChunkId, Passage
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.text import Span
from lrwr.core.retrieval.query_words import has_search_words

PASSAGES_PER_QUERY, MAX_RELATED = 3, 9
"""Passages for each beat of a card, and for all of them, at most."""

MAX_PASSAGE_CHARS = 900
"""Length of what is shown of a passage, in characters."""

_PROSE = re.compile(r"[^\s>#|\-*+=`<\[][^\n]*(?:\n[^\n]*\S[^\n]*)*")
_NUMBERED = re.compile(
    r"\W*(?:part|chapter|scene)\s+(?:\d+|[ivxlc]+)\W*$", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class RelatedPassage:
    """The part of a passage that is closest to the words of a card."""

    document: DocumentId
    span: Span


def list_related_queries(card: SceneCard) -> list[str]:
    """Return what to search for: the beats of a card and its summary, else its title."""
    queries = [*card.beats, card.summary]
    if not any(map(has_search_words, queries)) and not _NUMBERED.match(card.title):
        queries = [card.title]
    return list(dict.fromkeys(query for query in queries if has_search_words(query)))


def join_related(
    queries: Sequence[str], rankings: Sequence[Sequence[Passage]]
) -> tuple[RelatedPassage, ...]:
    """Return the best passages of each query, without duplicates: first the best one of
    each, then the second ones.
    """
    related: dict[ChunkId, RelatedPassage] = {}
    for row in zip_longest(*rankings):
        for query, passage in zip(queries, row, strict=True):
            if passage is not None and passage.chunk.id not in related:
                chunk = passage.chunk
                part = find_closest_part(chunk.text, query)
                start = chunk.span.start
                span = Span(start + part.start, start + part.end)
                related[chunk.id] = RelatedPassage(chunk.document, span)
    return tuple(related.values())[:MAX_RELATED]


def find_closest_part(text: str, query: str) -> Span:
    """Return the paragraphs of `text`, in `MAX_PASSAGE_CHARS`, that have most words of
    `query`; the first of equal ones. A longer paragraph is cut at its end.
    """
    paragraphs = list(iter_paragraphs(text, Span(0, len(text)), (1, len(text))))
    stems = stem_words(query)
    best, most = Span(0, min(len(text), MAX_PASSAGE_CHARS)), 0
    for first, paragraph in enumerate(paragraphs):
        start = paragraph.start
        fitting = [
            p.end for p in paragraphs[first:] if p.end <= start + MAX_PASSAGE_CHARS
        ]
        end = max(fitting, default=start + MAX_PASSAGE_CHARS)
        shared = len(stems & stem_words(text[start:end]))
        if shared > most:
            best, most = Span(start, end), shared
    return best


def iter_paragraphs(text: str, within: Span, words: tuple[int, int]) -> Iterator[Span]:
    """Yield the paragraphs of prose in a part of `text` that have as many `words`, from
    and to; no lists, quotes or tables.
    """
    body = text[within.start : within.end]
    for match in _PROSE.finditer(body):
        if match.start() and body[match.start() - 1] != "\n":
            continue  # the rest of a list, quotation or table
        if words[0] <= len(match[0].split()) <= words[1]:
            yield Span(within.start + match.start(), within.start + match.end())
