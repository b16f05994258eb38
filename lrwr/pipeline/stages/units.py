"""Building blocks of semantic chunks: regions, sentences, units and seams.

A unit is text that a chunk must not split: a paragraph of dialogue, a short paragraph,
or a sentence of a longer one, where a quotation stays with its tag. The bond says how
closely a unit belongs to the one before it. A seam is a possible boundary; its distance
measures how much the topic changes there.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from hashlib import sha256
from itertools import pairwise
from typing import TYPE_CHECKING, NewType
from uuid import UUID, uuid5

from lrwr.core.model.choices import Pipeline
from lrwr.core.model.chunks import (
    Chunk,
    ChunkId,
    ChunkKind,
    TextHash,
    compute_norm,
    dot_product,
)
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
"""Hexadecimal SHA-256 of the sentences on both sides of a seam."""
AROUND = 3
"""Sentences on each side used for a seam's distance; fewer at a region's edge."""
DECIMALS = 6
"""Distances are rounded, so that different CPUs choose the same boundaries."""


@dataclass(frozen=True, slots=True)
class Seam:
    """A possible chunk boundary, with up to `AROUND` sentences before and after it.

    `key` is a hash of these sentences.
    """

    key: SeamKey
    before: tuple[str, ...]
    after: tuple[str, ...]


def build_seam(sentences: Sequence[str], place: int) -> Seam:
    """Return the possible chunk boundary (seam) before the sentence with index
    `place`.
    """
    before = tuple(sentences[max(0, place - AROUND) : place])
    after = tuple(sentences[place : place + AROUND])
    # Each sentence is prefixed with its length, so that no two lists collide.
    hash_input = "|".join(
        "".join(f"{len(s)}:{s}" for s in side) for side in (before, after)
    )
    return Seam(SeamKey(sha256(hash_input.encode()).hexdigest()), before, after)


def find_missing_seams(
    seams: Iterable[Seam], stored_distances: Mapping[SeamKey, float]
) -> tuple[Seam, ...]:
    """Return the seams (possible chunk boundaries) whose key is not in
    `stored_distances`.

    Each key occurs once, in the order of `seams`.
    """
    return tuple({s.key: s for s in seams if s.key not in stored_distances}.values())


def collect_seam_sentences(seams: Iterable[Seam]) -> tuple[str, ...]:
    """Return the distinct sentences whose vectors are needed for the distances of
    `seams` (possible chunk boundaries).
    """
    return tuple(dict.fromkeys(s for seam in seams for s in seam.before + seam.after))


def compute_seam_distances(
    seams: Iterable[Seam], sentences: Sequence[str], vectors: "Vectors"
) -> dict[SeamKey, float]:
    """Return the distance of each of `seams` by its key: 0.0 (same direction) to 2.0
    (opposite).

    A seam is a possible chunk boundary. Its distance is the cosine distance between the
    mean vectors of the sentences on both sides. `vectors` has one row per sentence;
    `sentences` must include those of `collect_seam_sentences`.
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
    """A section of text that chunks must not cross: story text of one scene, or a
    comment.

    `chapter` and `scene` are indexes, from 0.
    """

    span: Span
    chapter: int
    scene: int
    kind: ChunkKind


def find_chunk_regions(document: Document) -> Iterator[ChunkRegion]:
    """Yield the story text of every scene in text order, then the authors' comments."""
    for chapter, chapter_outline in enumerate(document.chapters):
        for number, scene in enumerate(chapter_outline.scenes):
            for part in scene.parts:
                yield ChunkRegion(part, chapter, number, ChunkKind.PROSE)
    for note in document.notes:
        yield ChunkRegion(note, *_chapter_and_scene(document, note), ChunkKind.NOTE)


def _chapter_and_scene(document: Document, note: Span) -> tuple[int, int]:
    """Return the chapter and scene of an author's comment: the last that starts before
    it.

    Compared by line, since the comments of a `.docx` file are at the end of the text.
    """
    line, place = document.lines.line_of(note.start), (0, 0)
    for chapter, chapter_outline in enumerate(document.chapters):
        for number, scene in enumerate(chapter_outline.scenes):
            if document.lines.line_of(scene.span.start) <= line:
                place = chapter, number
    return place


@dataclass(frozen=True, slots=True)
class ChunkCut:
    """Where a chunk is: `span` covers its text.

    `chapter` and `scene` are indexes, from 0. `tokens` counts the text. `lead` is the
    end of the previous chunk, repeated as context before the text; None if there is
    none or it would be too long.
    """

    span: Span
    chapter: int
    scene: int
    kind: ChunkKind
    tokens: int
    lead: Span | None = None


_NAMESPACES = {
    Pipeline.NAIVE: UUID("5d2f4a1e-6a0b-5c57-9d0e-6c7277720001"),
    Pipeline.AGENTIC: UUID("5d2f4a1e-6a0b-5c57-9d0e-6c7277720002"),
}


def build_chunks(
    document: Document, cuts: Iterable[ChunkCut], pipeline: Pipeline
) -> tuple[Chunk, ...]:
    """Return the chunks at `cuts`, in their order; pipeline b adds a heading to each.

    An id depends on the pipeline, the document's id, the embedded text and the number
    of earlier chunks with the same text, so that unaffected chunks retain their id.
    """
    occurrences: Counter[TextHash] = Counter()
    chunks = []
    for ordinal, cut in enumerate(cuts):
        text = document.text[cut.span.start : cut.span.end]
        lead = document.text[cut.lead.start : cut.lead.end] if cut.lead else ""
        embedded_text = f"{lead}\n\n{text}" if lead else text
        text_hash = TextHash(sha256(embedded_text.encode()).hexdigest())
        name = f"{pipeline}\n{document.id}\n{text_hash}\n{occurrences[text_hash]}"
        occurrences[text_hash] += 1
        chunks.append(
            Chunk(
                id=ChunkId(str(uuid5(_NAMESPACES[pipeline], name))),
                document=document.id,
                ordinal=ordinal,
                span=cut.span,
                lines=document.lines.lines_of(cut.span),
                chapter=cut.chapter,
                scene=cut.scene,
                kind=cut.kind,
                text=text,
                text_hash=text_hash,
                tokens=cut.tokens,
                lead=lead,
                heading=_build_heading(document, cut)
                if pipeline is Pipeline.AGENTIC
                else "",
            )
        )
    return tuple(chunks)


def _build_heading(document: Document, cut: ChunkCut) -> str:
    """Return the document's title, chapter and scene number, separated by commas."""
    words = [document.title]
    if cut.chapter < len(document.chapters):
        chapter = document.chapters[cut.chapter]
        words += [chapter.title] if chapter.title != document.title else []
        words += [f"scene {cut.scene + 1}"] if len(chapter.scenes) > 1 else []
    return ", ".join(word for word in words if word)


QUICK_TURN = 60
"""Maximum tokens of a paragraph that counts as one turn of a quick dialogue."""
BEAT = 20
"""Maximum tokens of a paragraph without speech inside a quick dialogue."""
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
"""A heading, or a paragraph that ends with a colon: it belongs to the next one."""
# The sentence ends with punctuation and a closing quotation mark.
_QUOTED = re.compile(r"[,.!?…—–-][*_]?[\"”»’'」』][*_]?\Z")
_SPEECH_VERBS = (
    "said|says|asked|asks|replied|replies|answered|answers|cried|cries|called|calls"
    "|shouted|shouts|whispered|whispers|murmured|murmurs|muttered|mutters|returned"
    "|exclaimed|exclaims|added|adds|continued|continues|went on|began|begins"
)
# A tag continues in lower case, or is a name and a speech verb, or a speech verb.
_TAG = re.compile(
    rf"[a-z]|(?:[A-Z][\w.’'-]*\s+){{1,3}}(?:{_SPEECH_VERBS})\b|(?:{_SPEECH_VERBS})\b"
)


class UnitBond(StrEnum):
    """How closely a unit of text belongs to the unit before it, from least to most.

    The values stand for no relation, a new paragraph, a reply in a dialogue, another
    sentence of the same paragraph, and a quick exchange.
    """

    NONE = "none"
    """First unit of its region, or a continuation of a word that was split."""
    PARAGRAPH = "paragraph"
    REPLY = "reply"
    """Both are paragraphs of dialogue, and at least one is too long for a quick turn."""
    SENTENCE = "sentence"
    EXCHANGE = "exchange"
    """Continues a quick dialogue, or was announced by the paragraph before it."""


@dataclass(frozen=True, slots=True)
class ChunkUnit:
    """A range of sentences that must stay in one chunk, from index `first` to `end`,
    exclusive.

    `weight` is the sum over its sentences of tokens, or of characters / 8 if more.
    `bond` says how closely it belongs to the unit before it.
    """

    first: int
    end: int
    tokens: int
    weight: int
    bond: UnitBond


@dataclass(frozen=True, slots=True)
class _Paragraph:
    """A range of sentences, `first` to `end` (exclusive), and its properties.

    `broken` means that a word in it was split.
    """

    first: int
    end: int
    weight: int
    speech: bool
    leads_on: bool
    broken: bool


def weigh_sized_span(piece: SizedSpan) -> int:
    """Return the number of tokens of a span, or its length / `CHARACTERS_A_TOKEN` if
    that is greater.
    """
    return max(piece.tokens, -(-len(piece.span) // CHARACTERS_A_TOKEN))


def split_regions_into_sentences(
    text: str,
    regions: Sequence[ChunkRegion],
    split: SentenceSplitter,
    count: CountTokens,
    longest: int,
) -> list[list[SizedSpan]]:
    """Return the sentences of each region, in text order; together they cover all its
    words.

    `split` splits a text into the spans of its sentences, `count` returns the numbers
    of tokens of texts. A sentence of more than `longest` tokens is split at line ends
    or between words.
    """
    spans = [list(_sentence_spans(text, region.span, split)) for region in regions]
    tokens = iter(count([text[s.start : s.end] for group in spans for s in group]))
    sized_spans = [[SizedSpan(span, next(tokens)) for span in group] for group in spans]
    return [
        [
            part
            for piece in group
            for part in _split_long_sentence(text, piece, count, longest)
        ]
        for group in sized_spans
    ]


def _sentence_spans(text: str, region: Span, split: SentenceSplitter) -> Iterator[Span]:
    """Yield each sentence from its start to the next one's start, without trailing
    space.
    """
    inner = text[region.start : region.end]
    first = len(inner) - len(inner.lstrip())
    begins = {first, *(s.start for s in split(inner) if s.start > first)}
    starts = sorted(at for at in begins if at == first or inner[at - 1 : at].isspace())
    for start, end in pairwise([*starts, len(inner)]):
        yield from trim_span(text, region.start + start, region.start + end)


def _split_long_sentence(
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
        if weigh_sized_span(joined) <= most and not _splits_word(part, word):
            part = joined
        else:
            yield part
            part = word
    yield part


def group_into_units(
    text: str, sentences: Sequence[SizedSpan], least: int, most: int
) -> tuple[ChunkUnit, ...]:
    """Return the units of a region in text order; none weighs more than `most` tokens.

    `sentences` are those of the region. A paragraph of at most `least` tokens is never
    split.
    """
    paragraphs = list(_iter_paragraphs(text, sentences))
    units: list[ChunkUnit] = []
    for paragraph, bond in zip(paragraphs, _compute_bonds(paragraphs), strict=True):
        for first, end in _group_sentences(text, sentences, paragraph, least, most):
            inner = UnitBond.SENTENCE if first > paragraph.first else bond
            units.append(_build_unit(sentences, first, end, inner))
    return tuple(units)


def _build_unit(
    sentences: Sequence[SizedSpan], first: int, end: int, bond: UnitBond
) -> ChunkUnit:
    inner = sentences[first:end]
    if first == 0 or _splits_word(sentences[first - 1], inner[0]):
        bond = UnitBond.NONE
    tokens = sum(piece.tokens for piece in inner)
    return ChunkUnit(first, end, tokens, sum(map(weigh_sized_span, inner)), bond)


def _iter_paragraphs(text: str, sentences: Sequence[SizedSpan]) -> Iterator[_Paragraph]:
    gaps = [text[a.span.end : b.span.start] for a, b in pairwise(sentences)]
    ends = [n for n, gap in enumerate(gaps, 1) if _EMPTY_LINE.search(gap)]
    for first, end in pairwise([0, *ends, len(sentences)]):
        lines = [n for n in range(first + 1, end) if "\n" in gaps[n - 1]]
        if not _has_line_paragraphs(text, sentences[first:end], len(lines)):
            lines = []
        for start, stop in pairwise([first, *lines, end]):
            yield _build_paragraph(text, sentences, start, stop)


def _has_line_paragraphs(text: str, block: Sequence[SizedSpan], lines: int) -> bool:
    """Return whether each line is a paragraph: most line breaks are between sentences."""
    within = sum(text.count("\n", s.span.start, s.span.end) for s in block)
    return lines > within


def _build_paragraph(
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
        broken=any(_splits_word(a, b) for a, b in pairwise(inner)),
    )


def _compute_bonds(paragraphs: Sequence[_Paragraph]) -> list[UnitBond]:
    """Return the bond between each paragraph and the one before it."""
    exchange_indices = _exchange_members(paragraphs)
    bonds = [UnitBond.NONE]
    for n, (first, second) in enumerate(pairwise(paragraphs), 1):
        replies = (
            UnitBond.REPLY if first.speech and second.speech else UnitBond.PARAGRAPH
        )
        bonds.append(UnitBond.EXCHANGE if n in exchange_indices else replies)
    return bonds


def _exchange_members(paragraphs: Sequence[_Paragraph]) -> set[int]:
    """Return the indices of paragraphs that continue a dialogue or follow an
    announcement.
    """
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


def _group_sentences(
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
        if weight + more <= most and _is_tagged(text, sentences[n - 1], sentences[n]):
            weight += more
            continue
        yield first, n
        first, weight = n, more
    yield first, paragraph.end


def _is_tagged(text: str, sized_span: SizedSpan, two: SizedSpan) -> bool:
    """Return whether the second sentence is the dialogue tag of the first."""
    if _splits_word(sized_span, two):
        return False
    before = text[sized_span.span.start : sized_span.span.end]
    after = text[two.span.start : min(two.span.end, two.span.start + 80)]
    return bool(_QUOTED.search(before) and _TAG.match(after))


def _splits_word(sized_span: SizedSpan, two: SizedSpan) -> bool:
    """Return whether a word was split between the two spans: their tokens do not add
    up.
    """
    return sized_span.span.end == two.span.start
