"""Finds passages, moments of the story and named notes that a text may rest on."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, zip_longest

from lrwr.core.attribution.details import stem_words
from lrwr.core.bible.values import TextEvidence, TimelineMoment
from lrwr.core.evidence.kinds import PostKindRules
from lrwr.core.evidence.sources import (
    EvidenceSource,
    build_own_source,
    fuse_rankings,
    merge_overlapping,
)
from lrwr.core.model.choices import Pipeline
from lrwr.core.model.chunks import Passage
from lrwr.core.model.documents import DocumentId, DocumentType, Horizon
from lrwr.core.model.errors import NotFound, SettingsProblem
from lrwr.core.model.text import Span
from lrwr.core.ports.stores import DocumentText
from lrwr.core.retrieval.query_words import has_search_words
from lrwr.core.retrieval.search_model import SearchRequest
from lrwr.core.retrieval.service import PassageFinder
from lrwr.core.retrieval.story import StoryOrder

BRIEF_PASSAGES = 50
OTHER_PASSAGES = 15
"""Passages that the search for the brief, and each other search, returns."""

LEADING_PASSAGES = 4
"""Passages for the brief that no other search displaces: half of the sources."""

MIN_PART_STEMS = 2
"""Content words that a sentence or clause of the brief must have to be searched alone."""

MAX_MOMENTS = 10
MIN_MOMENT_WORDS = 2
"""Moments of the timeline taken for a brief, and words that each shares with it."""

_ABOUT_BOOK = re.compile(
    r"\b\d[\d,.]*[ -](?:words?|pages?|chapters?)\b|\b(?:manuscript|novel|book|fiction"
    r"|debut|title|genre|synopsis|blurb|query|newsletter|thread|essay|readers?|agents?"
    r"|publishers?|author)s?\b",
    re.IGNORECASE,
)
"""What a brief says about the book as a book and the text about it."""

_BRIEF_BREAK = re.compile(r"(?<=[.!?:;])\s+")

MAX_WINDOW_CHARS = 1_200
"""Characters of a passage of a named note, in whole paragraphs where possible."""


@dataclass(frozen=True, slots=True)
class StoryMaterial:
    """What drafts of one library may use up to `horizon`.

    `moments` are those of the timeline up to the horizon, in story order. `texts` are
    the texts of their documents and of `notes`, which the author named; `passages` are
    the passages of their documents up to the horizon.
    """

    order: StoryOrder
    pipeline: Pipeline
    horizon: Horizon | None
    moments: Sequence[TimelineMoment]
    texts: Mapping[DocumentId, DocumentText]
    notes: Sequence[DocumentId] = ()
    passages: Mapping[DocumentId, Sequence[Passage]] = field(default_factory=dict)


class CandidateFinder:
    """Finds the author's texts for a kind of text. Read-only."""

    def __init__(
        self, finder: PassageFinder, material: StoryMaterial, rules: PostKindRules
    ) -> None:
        self._finder, self._material, self._rules = finder, material, rules

    async def find(self, searches: Sequence[str]) -> list[EvidenceSource]:
        """Return sources for `searches`, the brief first; best first.

        The passages that fit the brief best come first, those of its sentences in turn.
        For a kind that covers the story, the best of the other searches in turn and
        moments from all of it follow; in one for readers, only moments that share words
        with the brief. No text occurs twice.

        Raises:
            StoreProblem: The library cannot be read.
        """
        brief, *others = searches
        parts = [
            await self._search(part, BRIEF_PASSAGES) for part in split_brief(brief)
        ]
        further = [await self._search(other, OTHER_PASSAGES) for other in others]
        rankings = [_take_in_turn(parts), self._rank_notes(brief)]
        rankings += [*further, self._match_moments(brief)]
        fused = fuse_rankings([r for r in rankings if r], LEADING_PASSAGES)
        fused = merge_overlapping(fused)
        rules = self._rules
        if not rules.covers_story:
            return fused
        count = max(rules.moments, rules.sources - len(fused))
        moments = list(self._material.moments)
        if rules.needs_horizon:  # the text need not tell the whole story
            moments = list_fitting_moments(moments, brief)
        spread = self._build_moment_sources(spread_moments(moments, count, brief))
        leading, rest = fused[:LEADING_PASSAGES], fused[LEADING_PASSAGES:]
        room = max(0, rules.sources - len(leading) - len(spread))
        best = _take_in_turn(further)[:room]
        return merge_overlapping(_grade([*leading, *best, *spread, *rest]))

    async def _search(self, question: str, limit: int) -> list[EvidenceSource]:
        material = self._material
        if not has_search_words(question):
            return []
        request = SearchRequest(
            question, material.pipeline, limit, horizon=material.horizon
        )
        result = await self._finder.find(request, material.order)
        if result.unknown and not _has_known_words(question, result.unknown):
            return []
        return [build_own_source(passage) for passage in result.passages]

    def _match_moments(self, brief: str) -> list[EvidenceSource]:
        shared = [_count_shared(moment, brief) for moment in self._material.moments]
        best = sorted(
            (-count, at) for at, count in enumerate(shared) if count >= MIN_MOMENT_WORDS
        )
        moments = [self._material.moments[at] for _, at in best[:MAX_MOMENTS]]
        return self._build_moment_sources(moments)

    def _build_moment_sources(
        self, moments: Sequence[TimelineMoment]
    ) -> list[EvidenceSource]:
        sources = (self._build_moment_source(m.evidence) for m in moments)
        return list(dict.fromkeys(source for source in sources if source is not None))

    def _build_moment_source(self, evidence: TextEvidence) -> EvidenceSource | None:
        document = self._material.texts.get(evidence.document)
        if document is None or not evidence.spans:
            return None
        span = Span(evidence.spans[0].start, evidence.spans[-1].end)
        if len(span) > MAX_WINDOW_CHARS:
            span = evidence.spans[0]
        text = document.text[span.start : span.end]
        for passage in self._material.passages.get(evidence.document, ()):
            if passage.chunk.span.holds(span):
                return replace(build_own_source(passage), focus=text)
        return EvidenceSource(
            text,
            evidence.document,
            span,
            document.lines.lines_of(span),
            evidence.chapter,
            title=evidence.chapter_title,
        )

    def _rank_notes(self, brief: str) -> list[EvidenceSource]:
        stems = stem_words(brief)
        windows = [
            source
            for note in self._material.notes
            if note in self._material.texts
            for source in _iter_windows(note, self._material.texts[note])
        ]
        return sorted(windows, key=lambda s: -len(stems & stem_words(s.text)))


def strip_book_words(brief: str) -> str:
    """Return `brief` without words about the book as a book, such as "my novel of 80,000
    words".
    """
    return _ABOUT_BOOK.sub(" ", brief)


def split_brief(brief: str) -> list[str]:
    """Return the texts to search for a brief: the whole, and its sentences and clauses
    that say something besides words about the book, if it has more than one.
    """
    parts = [
        part
        for part in _BRIEF_BREAK.split(brief)
        if len(stem_words(strip_book_words(part))) >= MIN_PART_STEMS
    ]
    return list(dict.fromkeys((brief, *parts)))


def _take_in_turn(
    rankings: Sequence[Sequence[EvidenceSource]],
) -> list[EvidenceSource]:
    """Return the sources of several searches, without scores: the first of each, then the
    second.
    """
    in_turn = chain.from_iterable(zip_longest(*rankings))
    return list(dict.fromkeys(replace(s, score=0.0) for s in in_turn if s is not None))


def _count_shared(moment: TimelineMoment, brief: str) -> int:
    """Return how many content words of the brief a moment or its characters have."""
    stems = stem_words(f"{moment.text} {' '.join(moment.characters)}")
    return len(stems & stem_words(brief))


def list_fitting_moments(
    moments: Sequence[TimelineMoment], brief: str
) -> list[TimelineMoment]:
    """Return the moments that share enough words with the brief."""
    return [m for m in moments if _count_shared(m, brief) >= MIN_MOMENT_WORDS]


def spread_moments(
    moments: Sequence[TimelineMoment], count: int, brief: str
) -> list[TimelineMoment]:
    """Return about `count` of `moments`, evenly over their chapters, the first and the
    last included: of each chapter those that fit the brief best, then those with most
    characters, of the last one its end.
    """
    chapters: dict[int, list[TimelineMoment]] = {}
    for moment in moments:
        if moment.evidence.chapter is not None:
            chapters.setdefault(moment.evidence.chapter, []).append(moment)
    numbers = sorted(chapters)
    if len(numbers) > count:
        step = (len(numbers) - 1) / max(1, count - 1)
        numbers = [numbers[round(place * step)] for place in range(count)]
    per_chapter = max(1, count // max(1, len(numbers)))
    chosen = []
    for number in numbers:
        rest = chapters[number]
        last = rest[-1:] if number == numbers[-1] else []
        ranked = sorted(
            rest, key=lambda m: (-_count_shared(m, brief), -len(m.characters))
        )
        best = ranked[:per_chapter]
        chosen += [m for m in rest if m in best or m in last]
    return chosen


def _has_known_words(question: str, unknown: Sequence[str]) -> bool:
    """Return whether the text has a content word of `question`."""
    missing = {stem for word in unknown for stem in stem_words(word)}
    return bool(stem_words(question) - missing)


def _grade(sources: Sequence[EvidenceSource]) -> list[EvidenceSource]:
    """Return `sources` with falling scores."""
    size = len(sources) + 1
    return [replace(s, score=1.0 - place / size) for place, s in enumerate(sources)]


def _iter_windows(note: DocumentId, document: DocumentText) -> Iterator[EvidenceSource]:
    """Yield the paragraphs of a note, packed into windows."""
    text, start = document.text, 0
    while start < len(text):
        end = min(len(text), start + MAX_WINDOW_CHARS)
        if end < len(text):
            cut = text.rfind("\n\n", start, end)
            end = cut + 2 if cut > start else end
        window = text[start:end]
        if window.strip():
            begin = start + len(window) - len(window.lstrip())
            span = Span(begin, begin + len(window.strip()))
            lines = document.lines.lines_of(span)
            yield EvidenceSource(window.strip(), note, span, lines)
        start = end


def resolve_notes(names: Sequence[str], order: StoryOrder) -> tuple[DocumentId, ...]:
    """Return the documents of the notes with these paths or file names.

    Raises:
        NotFound: There is no such document in the library.
        SettingsProblem: It tells the story: then it is no note.
    """
    notes = []
    for name in names:
        path = name.strip().removeprefix("./")
        matches = [
            document
            for document in order.outlines
            if document == path or document.rpartition("/")[2] in (path, f"{path}.md")
        ]
        if not matches:
            raise NotFound(
                f"The library has no note {name}",
                hint="Run `lrwr status --files` for the list of documents.",
            )
        if order.outlines[matches[0]].type is DocumentType.SCENE:
            raise SettingsProblem(
                f"{matches[0]} tells the story; it is no note",
                hint="Name a note, or raise `--as-of`.",
            )
        notes.append(matches[0])
    return tuple(notes)
