"""Excerpts for analysis, embedding of new chunks, and text splitting.

An edit changes only the excerpts of its own chapter.
"""

import re
from collections.abc import AsyncGenerator, Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, TypeAlias

from lrwr.core.model.cast import Cast, Character
from lrwr.core.model.chunks import Chunk, ChunkKind, TextHash
from lrwr.core.model.documents import Document
from lrwr.core.model.facts import Certainty
from lrwr.core.model.text import Span
from lrwr.core.nlp.names.evidence import NameEvidence
from lrwr.core.nlp.names.inference import infer_cast
from lrwr.core.nlp.names.lexicon import is_given_name, is_non_name
from lrwr.core.ports.models import (
    EXCERPTS_PER_CALL,
    EXTRACTION_WINDOW_TOKENS,
    UNSURE_MARK,
    Embedder,
    Excerpt,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_COMPOUND_NAME = re.compile(r"[A-Z][a-z]+[A-Z]")
_INK = re.compile(r"\S")
NameFinder = Callable[[str], tuple[str, ...]]
"""Returns the display names of the characters named in a text."""


MAX_CAST_LINES = 30
MAX_CAST_CHARS = 1_200
"""Characters of all lines of the cast in one prompt: about 300 tokens."""
MAX_SHOWN_ALIASES = 4


def build_cast_finder(cast: Cast) -> NameFinder:
    """Return a function that lists the cast for a text, as "OchraMags = Mags".

    Those whose names occur in the text come first, then the others, each most mentioned
    first, up to `MAX_CAST_LINES` and `MAX_CAST_CHARS`. Those that may be no person have
    a mark. Weekdays and pronouns are left out.
    """

    def list_cast(text: str) -> tuple[str, ...]:
        ranked = sorted(
            (c for c in cast.characters if not all(map(is_non_name, c.name.split()))),
            key=lambda person: not any(alias.name in text for alias in person.aliases),
        )
        lines: list[str] = []
        for character in ranked[:MAX_CAST_LINES]:
            names = dict.fromkeys(
                (character.name, *(a.name for a in character.aliases))
            )
            line = " = ".join(list(names)[: MAX_SHOWN_ALIASES + 1])
            line += "" if is_likely_person(character) else UNSURE_MARK
            if sum(map(len, lines)) + len(line) > MAX_CAST_CHARS:
                break
            lines.append(line)
        return tuple(lines)

    return list_cast


def build_name_finders(evidence: str) -> tuple[NameFinder, NameFinder]:
    """Return two functions that find names in a text: by display name those of certain
    people, and by any form those of all.

    They use only the name evidence (JSON) of one document: with the names of others, an
    unchanged passage would get another key and miss the reply cache.
    """
    cast = infer_cast([NameEvidence.from_json(evidence)])
    forms = [
        (alias.name, character)
        for character in cast.characters
        for alias in character.aliases
    ]

    def names(text: str) -> tuple[str, ...]:
        found = {
            who.name for form, who in forms if form in text and is_likely_person(who)
        }
        return tuple(sorted(found))

    def every_form(text: str) -> tuple[str, ...]:
        return tuple(sorted({form for form, _ in forms if form in text}))

    return names, every_form


def is_likely_person(character: Character) -> bool:
    """Return whether a character is more than a capitalized word: it speaks, has a
    title, is described in a note, or has a person's name.

    False for weekdays, pronouns, and most places that the rules take for people.
    """
    words = character.name.split()
    if all(is_non_name(word) or is_non_name(word.rstrip("s")) for word in words):
        return False
    is_compound = _COMPOUND_NAME.match(words[0]) is not None
    is_certain = character.certainty is not Certainty.PROBABLE
    return is_certain or is_compound or is_given_name(words[0])


def build_classify_excerpts(
    document: Document, chunks: Sequence[Chunk], names: NameFinder
) -> list[Excerpt]:
    """Return one excerpt for each chunk, in the order of `chunks`.

    Authors' comments are skipped. `names` returns the names of characters in a text.
    """
    return [
        Excerpt(
            span=chunk.span,
            text=chunk.text,
            before=chunk.lead,
            known=names(chunk.text),
            where=_describe_location(document, chunk),
        )
        for chunk in chunks
        if chunk.kind is ChunkKind.PROSE
    ]


def batch_excerpts(excerpts: Sequence[Excerpt]) -> Iterator[list[Excerpt]]:
    """Split excerpts into batches of similar size, one per classification call.

    A batch has at most `EXCERPTS_PER_CALL` excerpts.
    """
    total = len(excerpts)
    calls = -(-total // EXCERPTS_PER_CALL)  # division rounded up
    for n in range(calls):
        yield list(excerpts[total * n // calls : total * (n + 1) // calls])


def build_extract_excerpts(
    document: Document,
    chunks: Sequence[Chunk],
    names: NameFinder,
    *,
    size: int = EXTRACTION_WINDOW_TOKENS,
) -> list[Excerpt]:
    """Return excerpts of whole scenes of one chapter, at most `size` tokens each, in
    text order.

    A longer scene is split between its chunks. Authors' comments inside an excerpt are
    replaced by spaces, so offsets stay valid. `names` returns the names of characters
    in a text.
    """
    prose = [chunk for chunk in chunks if chunk.kind is ChunkKind.PROSE]
    excerpts = []
    for _, chapter_chunks in groupby(prose, key=lambda chunk: chunk.chapter):
        for window in _windows(list(chapter_chunks), size):
            span = Span(window[0].span.start, window[-1].span.end)
            text = _blank_comments(document, span)
            excerpts.append(
                Excerpt(
                    span, text, "", names(text), _describe_location(document, window[0])
                )
            )
    return excerpts


def _windows(chunks: Sequence[Chunk], size: int) -> Iterator[list[Chunk]]:
    window: list[Chunk] = []
    tokens = 0
    for _, scene_chunks in groupby(chunks, key=lambda chunk: chunk.scene):
        scene = list(scene_chunks)
        scene_tokens = sum(chunk.tokens for chunk in scene)
        if window and tokens + scene_tokens > size:
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


def _blank_comments(document: Document, span: Span) -> str:
    """Return the text at `span` with authors' comments replaced by spaces."""
    text = document.text[span.start : span.end]
    for note in document.notes:
        first, last = (max(0, at - span.start) for at in (note.start, note.end))
        text = text[:first] + _INK.sub(" ", text[first:last]) + text[last:]
    return text


def _describe_location(document: Document, chunk: Chunk) -> str:
    title = document.title
    if chunk.chapter < len(document.chapters):
        chapter = document.chapters[chunk.chapter].title
        title = title if chapter in ("", title) else f"{title}, {chapter}"
    return f"{title}, scene {chunk.scene + 1}"


EmbeddedPassage: TypeAlias = "tuple[NDArray[np.float32], bytes]"
"""The vector of a chunk and its encoded token states, empty if the embedding model has
none that can be stored."""
SLICE = 16
"""Chunks per embedding call; each call is followed by a progress event."""


async def embed_missing(
    chunks: Sequence[Chunk],
    stored_hashes: Collection[TextHash],
    embedder: Embedder,
) -> "AsyncGenerator[dict[TextHash, EmbeddedPassage]]":
    """Yield new vectors and token states by text hash, in batches, of the chunks whose
    hash is not in `stored_hashes`.

    Each distinct text is embedded once. Chunks of similar length share a batch because
    the model pads all texts of a batch to the longest.

    Raises:
        ServiceUnavailable: The embedding model did not answer.
    """
    missing = {c.text_hash: c for c in chunks if c.text_hash not in stored_hashes}
    todo = sorted(missing.values(), key=lambda chunk: chunk.tokens)
    for start in range(0, len(todo), SLICE):
        part = todo[start : start + SLICE]
        states: Sequence[bytes] = [b""] * len(part)
        if embedder.token_states is not None:
            vectors, states = await embedder.token_states.embed_with_states(part)
        else:
            vectors = await embedder.embed([chunk.embedded for chunk in part])
        yield {
            chunk.text_hash: (vector, content)
            for chunk, vector, content in zip(part, vectors, states, strict=True)
        }


CountTokens: TypeAlias = Callable[[Sequence[str]], list[int]]
"""Returns the number of embedder tokens of each text, in the same order."""
SEPARATORS = (
    re.compile(r"\n[^\S\n]*\n\s*"),  # blank line
    re.compile(r"\n\s*"),  # line end
    # sentence end: after . ! ? or …, and after one closing mark behind them
    re.compile(r"(?:(?<=[.!?…])|(?<=[.!?…][\"'”’)\]*_]))\s+"),
    re.compile(r"\s+"),  # between words
)
"""Separators of pieces, coarsest first; each match includes all adjacent whitespace."""
CHARACTERS_A_TOKEN = 8
"""Maximum characters per allowed token. Limits text that a tokenizer maps to very few
tokens, such as one unknown word of a million letters. English prose has about 4.3."""


@dataclass(frozen=True, slots=True)
class SizedSpan:
    """A span of text and its number of tokens."""

    span: Span
    tokens: int


def split_at_separator(
    text: str, span: Span, separator: re.Pattern[str]
) -> Iterator[Span]:
    """Yield the non-empty spans between matches of `separator` within `span`, in text
    order, without outer whitespace.
    """
    start = span.start
    for gap in separator.finditer(text, span.start, span.end):
        if gap.end() >= span.end:
            break
        yield from trim_span(text, start, gap.start())
        start = gap.end()
    yield from trim_span(text, start, span.end)


def trim_span(text: str, start: int, end: int) -> Iterator[Span]:
    """Yield the span from `start` to `end` of `text` without trailing whitespace;
    nothing if it is empty.
    """
    end = start + len(text[start:end].rstrip())
    if end > start:
        yield Span(start, end)


def split_to_fit(
    text: str,
    pieces: Sequence[SizedSpan],
    count: CountTokens,
    size: int,
    level: int = 1,
) -> list[SizedSpan]:
    """Split those of `pieces` with more than `size` tokens, with finer and finer
    separators.

    `pieces` are spans of `text`; `count` returns the numbers of tokens of texts.
    `level` is the first separator to try, an index into `SEPARATORS`. After the last
    separator, a piece is halved. The result is in text order.
    """
    fine: list[SizedSpan] = []
    for piece in pieces:
        if _is_within_limit(piece, size):
            fine.append(piece)
            continue
        spans = _split_finer(text, piece.span, level)
        tokens = count([text[s.start : s.end] for s in spans])
        smaller = [SizedSpan(s, n) for s, n in zip(spans, tokens, strict=True)]
        fine += split_to_fit(text, smaller, count, size, level + 1)
    return fine


def _is_within_limit(piece: SizedSpan, size: int) -> bool:
    if len(piece.span) == 1:
        return True
    return piece.tokens <= size and len(piece.span) <= size * CHARACTERS_A_TOKEN


def _split_finer(text: str, span: Span, level: int) -> list[Span]:
    if level < len(SEPARATORS):
        return list(split_at_separator(text, span, SEPARATORS[level]))
    middle = span.start + len(span) // 2
    return [Span(span.start, middle), Span(middle, span.end)]
