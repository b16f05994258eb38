"""What a semantic chunk is made of: sentences, and units that must stay together.

A paragraph of dialogue is a unit, and so is every paragraph too short to be cut; of a
longer one the sentences are units, a quotation together with its tag. How two units
hang together is their bond.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from hashlib import sha256
from itertools import pairwise
from typing import TYPE_CHECKING, NewType

from lrwr.core.model.chunks import ChunkKind, compute_norm, dot_product
from lrwr.core.model.documents import Document
from lrwr.core.model.text import SentenceSplitter, Span
from lrwr.pipeline.stages.windows import (
    CHARACTERS_A_TOKEN,
    CountTokens,
    SizedSpan,
    split_to_fit,
    trim_span,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from lrwr.core.model.chunks import Vectors

SeamKey = NewType("SeamKey", str)
"""SHA-256 of the sentences around a seam, in hexadecimal."""
AROUND = 3
"""Sentences on each side that a seam's distance is told from; fewer at an edge."""
DECIMALS = 6


@dataclass(frozen=True, slots=True)
class Seam:
    """A place where a chunk may end, with the sentences around it in order."""

    key: SeamKey
    before: tuple[str, ...]
    after: tuple[str, ...]


def build_seam(sentences: Sequence[str], place: int) -> Seam:
    """Return the seam before sentence `place` of a home."""
    before = tuple(sentences[max(0, place - AROUND) : place])
    after = tuple(sentences[place : place + AROUND])
    hash_input = "|".join(
        "".join(f"{len(s)}:{s}" for s in side) for side in (before, after)
    )
    return Seam(SeamKey(sha256(hash_input.encode()).hexdigest()), before, after)


def find_missing_seams(
    seams: Iterable[Seam], stored_distances: Mapping[SeamKey, float]
) -> tuple[Seam, ...]:
    """Return the seams whose distance is not stored, each once."""
    return tuple({s.key: s for s in seams if s.key not in stored_distances}.values())


def collect_seam_sentences(seams: Iterable[Seam]) -> tuple[str, ...]:
    """Return the sentences that the distances of `seams` need, each once."""
    return tuple(dict.fromkeys(s for seam in seams for s in seam.before + seam.after))


def compute_seam_distances(
    seams: Iterable[Seam], sentences: Sequence[str], vectors: "Vectors"
) -> dict[SeamKey, float]:
    """Return each seam's distance, from 0.0 (the same) to 2.0.

    It is the cosine distance between the mean vectors of both sides. `vectors` has
    one row for each of `sentences`, which are at least those of `collect_seam_sentences`.
    """
    rows = {sentence: n for n, sentence in enumerate(sentences)}
    return {
        seam.key: _distance(
            vectors[[rows[s] for s in seam.before]].sum(axis=0),
            vectors[[rows[s] for s in seam.after]].sum(axis=0),
        )
        for seam in seams
    }


def _distance(
    left_vector: "NDArray[np.float32]", right_vector: "NDArray[np.float32]"
) -> float:
    lengths = compute_norm(left_vector) * compute_norm(right_vector)
    cosine = dot_product(left_vector, right_vector) / lengths if lengths > 0 else 1.0
    return round(min(2.0, max(0.0, 1.0 - cosine)), DECIMALS)


@dataclass(frozen=True, slots=True)
class ChunkRegion:
    """The stretch of text that a chunk may not leave, and where it stands."""

    span: Span
    chapter: int
    scene: int
    kind: ChunkKind


def find_chunk_regions(document: Document) -> Iterator[ChunkRegion]:
    """Yield the parts of every scene in reading order, then the notes."""
    for chapter, chapter_outline in enumerate(document.chapters):
        for number, scene in enumerate(chapter_outline.scenes):
            for part in scene.parts:
                yield ChunkRegion(part, chapter, number, ChunkKind.PROSE)
    for note in document.notes:
        yield ChunkRegion(note, *_place(document, note), ChunkKind.NOTE)


def _place(document: Document, note: Span) -> tuple[int, int]:
    """Return chapter and scene of a note: the last that begin on its line or before.

    By lines, since a comment in a `.docx` stands at the end of the text.
    """
    line, place = document.lines.line_of(note.start), (0, 0)
    for chapter, chapter_outline in enumerate(document.chapters):
        for number, scene in enumerate(chapter_outline.scenes):
            if document.lines.line_of(scene.span.start) <= line:
                place = chapter, number
    return place


QUICK_TURN = 60
"""Tokens of the longest paragraph that is a turn of an exchange."""
BEAT = 20
"""Tokens of the longest paragraph without speech that an exchange goes on after."""
_EMPTY_LINE = re.compile(r"\n[^\S\n]*\n")
_SPEECH = re.compile(
    # a paragraph that begins with a quotation, or with a dash as in other languages
    r"\A[*_>\s]*(?:[\"“”„«»「『]|[—–―]\s*\w)"
    # or with a single mark, if it is not an apostrophe: another one ends a quotation
    r"|\A[*_>\s]*[‘'](?=\w)[^\n]*[,.!?…—–-][*_]?[’'](?!\w)"
    # or that ends one, or begins one after words of its own
    r"|[,.!?…—–;-][*_]?[\"“”»」』](?!\w)"
    r"|[,:—]\s+[*_]?[\"“„«「『‘]\w"
)
_LEADS_ON = re.compile(r"\A#|[:：][\s*_]*\Z")
"""A heading, or words that announce what follows."""
_QUOTED = re.compile(r"[,.!?…—–-][*_]?[\"”»’'」』][*_]?\Z")
_SAID = (
    "said|says|asked|asks|replied|replies|answered|answers|cried|cries|called|calls"
    "|shouted|shouts|whispered|whispers|murmured|murmurs|muttered|mutters|returned"
    "|exclaimed|exclaims|added|adds|continued|continues|went on|began|begins"
)
_TAG = re.compile(rf"[a-z]|(?:[A-Z][\w.’'-]*\s+){{1,3}}(?:{_SAID})\b|(?:{_SAID})\b")


class UnitBond(StrEnum):
    """What stands between a unit and the one before it."""

    NONE = "none"
    """The unit is its home's first, or what is before it is the same word."""
    PARAGRAPH = "paragraph"
    REPLY = "reply"
    """Both are paragraphs of dialogue, one of them no quick turn."""
    SENTENCE = "sentence"
    EXCHANGE = "exchange"
    """A turn of quick dialogue answers another, or the paragraph was announced."""


@dataclass(frozen=True, slots=True)
class ChunkUnit:
    """Sentences that no chunk takes apart: from `first` to before `end`.

    `weight` is its tokens, or more where a token stands for very many characters.
    """

    first: int
    end: int
    tokens: int
    weight: int
    bond: UnitBond


@dataclass(frozen=True, slots=True)
class _Paragraph:
    """Sentences from `first` to before `end`, and what they are.

    `broken` says that a word in it had to be cut.
    """

    first: int
    end: int
    weight: int
    speech: bool
    leads_on: bool
    broken: bool


def weigh_sized_span(piece: SizedSpan) -> int:
    """Return its tokens, or more where a token stands for very many characters."""
    return max(piece.tokens, -(-len(piece.span) // CHARACTERS_A_TOKEN))


def split_regions_into_sentences(
    text: str,
    homes: Sequence[ChunkRegion],
    split: SentenceSplitter,
    count: CountTokens,
    longest: int,
) -> list[list[SizedSpan]]:
    """Return each home's sentences, which hold every word of it.

    A sentence of more than `longest` tokens is cut into parts, at the ends of lines,
    else between words.
    """
    spans = [list(_spans(text, home.span, split)) for home in homes]
    tokens = iter(count([text[s.start : s.end] for group in spans for s in group]))
    sized_spans = [[SizedSpan(span, next(tokens)) for span in group] for group in spans]
    return [
        [part for piece in group for part in _parts(text, piece, count, longest)]
        for group in sized_spans
    ]


def _spans(text: str, home: Span, split: SentenceSplitter) -> Iterator[Span]:
    """Yield sentences from where one begins to where the next does, trimmed."""
    inner = text[home.start : home.end]
    first = len(inner) - len(inner.lstrip())
    begins = {first, *(s.start for s in split(inner) if s.start > first)}
    starts = sorted(at for at in begins if at == first or inner[at - 1 : at].isspace())
    for start, end in pairwise([*starts, len(inner)]):
        yield from trim_span(text, home.start + start, home.start + end)


def _parts(
    text: str, sentence: SizedSpan, count: CountTokens, longest: int
) -> Iterator[SizedSpan]:
    if weigh_sized_span(sentence) <= longest:
        yield sentence
        return
    most = max(1, longest // 2)
    words = split_to_fit(text, [sentence], count, most)
    part = words[0]
    for word in words[1:]:
        joined = SizedSpan(
            Span(part.span.start, word.span.end), part.tokens + word.tokens
        )
        if weigh_sized_span(joined) <= most and not _one_word(part, word):
            part = joined
        else:
            yield part
            part = word
    yield part


def group_into_units(
    text: str, sentences: Sequence[SizedSpan], least: int, most: int
) -> tuple[ChunkUnit, ...]:
    """Return the units of a home, in order; none weighs more than `most`.

    A paragraph of `least` tokens or fewer is never cut.
    """
    paragraphs = list(_paragraphs(text, sentences))
    units: list[ChunkUnit] = []
    for paragraph, bond in zip(paragraphs, _bonds(paragraphs), strict=True):
        for first, end in _groups(text, sentences, paragraph, least, most):
            inner = UnitBond.SENTENCE if first > paragraph.first else bond
            units.append(_unit(sentences, first, end, inner))
    return tuple(units)


def _unit(
    sentences: Sequence[SizedSpan], first: int, end: int, bond: UnitBond
) -> ChunkUnit:
    inner = sentences[first:end]
    if first == 0 or _one_word(sentences[first - 1], inner[0]):
        bond = UnitBond.NONE
    tokens = sum(piece.tokens for piece in inner)
    return ChunkUnit(first, end, tokens, sum(map(weigh_sized_span, inner)), bond)


def _paragraphs(text: str, sentences: Sequence[SizedSpan]) -> Iterator[_Paragraph]:
    gaps = [text[a.span.end : b.span.start] for a, b in pairwise(sentences)]
    ends = [n for n, gap in enumerate(gaps, 1) if _EMPTY_LINE.search(gap)]
    for first, end in pairwise([0, *ends, len(sentences)]):
        lines = [n for n in range(first + 1, end) if "\n" in gaps[n - 1]]
        if not _line_by_line(text, sentences[first:end], len(lines)):
            lines = []
        for start, stop in pairwise([first, *lines, end]):
            yield _paragraph(text, sentences, start, stop)


def _line_by_line(text: str, block: Sequence[SizedSpan], lines: int) -> bool:
    """Say whether a line's end is a paragraph's: most stand between sentences."""
    within = sum(text.count("\n", s.span.start, s.span.end) for s in block)
    return lines > within


def _paragraph(
    text: str, sentences: Sequence[SizedSpan], first: int, end: int
) -> _Paragraph:
    inner = sentences[first:end]
    words = text[inner[0].span.start : inner[-1].span.end]
    return _Paragraph(
        first,
        end,
        weight=sum(map(weigh_sized_span, inner)),
        speech=_SPEECH.search(words) is not None,
        leads_on=_LEADS_ON.search(words) is not None,
        broken=any(_one_word(a, b) for a, b in pairwise(inner)),
    )


def _bonds(paragraphs: Sequence[_Paragraph]) -> list[UnitBond]:
    """Return the bond between each paragraph and the one before it."""
    exchange_indices = _in_exchanges(paragraphs)
    bonds = [UnitBond.NONE]
    for n, (first, second) in enumerate(pairwise(paragraphs), 1):
        replies = (
            UnitBond.REPLY if first.speech and second.speech else UnitBond.PARAGRAPH
        )
        bonds.append(UnitBond.EXCHANGE if n in exchange_indices else replies)
    return bonds


def _in_exchanges(paragraphs: Sequence[_Paragraph]) -> set[int]:
    """Return the indices of paragraphs that continue an exchange or follow an announcement."""
    indices = {n for n in range(1, len(paragraphs)) if paragraphs[n - 1].leads_on}
    last: int | None = None
    for n, paragraph in enumerate(paragraphs):
        if paragraph.speech and paragraph.weight <= QUICK_TURN:
            if last is not None:
                indices |= set(range(last + 1, n + 1))
            last = n
        elif paragraph.speech or paragraph.weight > BEAT or last != n - 1:
            last = None
    return indices


def _groups(
    text: str,
    sentences: Sequence[SizedSpan],
    paragraph: _Paragraph,
    least: int,
    most: int,
) -> Iterator[tuple[int, int]]:
    """Yield the paragraph whole, or its sentences, a quotation together with its tag."""
    limit = most if paragraph.speech else min(least, most)
    if paragraph.weight <= limit and not paragraph.broken:
        yield paragraph.first, paragraph.end
        return
    first, weight = paragraph.first, weigh_sized_span(sentences[paragraph.first])
    for n in range(first + 1, paragraph.end):
        more = weigh_sized_span(sentences[n])
        if weight + more <= most and _tagged(text, sentences[n - 1], sentences[n]):
            weight += more
            continue
        yield first, n
        first, weight = n, more
    yield first, paragraph.end


def _tagged(text: str, sized_span: SizedSpan, two: SizedSpan) -> bool:
    """Say whether the second of two sentences says who spoke the first."""
    if _one_word(sized_span, two):
        return False
    before = text[sized_span.span.start : sized_span.span.end]
    after = text[two.span.start : min(two.span.end, two.span.start + 80)]
    return bool(_QUOTED.search(before) and _TAG.match(after))


def _one_word(sized_span: SizedSpan, two: SizedSpan) -> bool:
    """Say whether a word was cut between the two: their tokens do not add up."""
    return sized_span.span.end == two.span.start
