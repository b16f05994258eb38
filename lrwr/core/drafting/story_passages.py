"""Passages of the story for a scene: those that the words of its card ask for, the last
ones that tell of things in it, and the numbered days of the story.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from lrwr.core.attribution.details import stem_words
from lrwr.core.continuity.statements import (
    find_enclosing_paragraph,
    find_enclosing_sentence,
    is_narrated,
)
from lrwr.core.drafting.board import SceneCard
from lrwr.core.model.chunks import ChunkId, Passage
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.text import STOP_WORDS, Span, normalize_word
from lrwr.core.retrieval.query_words import has_search_words

PASSAGES_PER_QUERY, MAX_RELATED = 3, 9
"""Passages for each beat of a card, and for all of them, at most."""

MAX_PASSAGE_CHARS = 900
"""Length of what is shown of a passage, in characters."""

SHORT_PASSAGE_CHARS = 320
"""Length of a passage in whole sentences, in characters; a longer sentence stays whole."""

CHARACTERS_PER_WORD = 5.6
MAX_MENTIONS_PER_WORD = 1 / 800
"""How often the story may name a thing, by its words, for its last mention to tell much."""

_THING = re.compile(
    r"\b(?:the|an?|his|her|its|their|my|your|our|[A-ZÀ-Þ]\w+['’]s)"
    r" ((?:[a-z-]+ ){0,2}[a-z-]{3,})",
    re.IGNORECASE,
)
_CAPITALIZED = re.compile(r"(?<![.!?:”\n] )(?<!^)\b[A-ZÀ-Þ]\w{2,}\b")
_DAY = re.compile(r"\b(?P<unit>Day|Night|Week|Month|Year) (?P<number>\d{1,6})\b")
_TODAY = re.compile(r"\b(?:[Ii]t['’]s|[Ii]t is|[Tt]oday is|[Tt]his is) $")
_SENTENCE_END = re.compile(r"[.!?…][”’\"')*_]*(?=\s|$)")
_WHOLE = re.compile(r"[.!?…][”’\"')*_]*$")
_SPEECH_END = re.compile(r"[”\"][^“”\"\n]{0,80}$")
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
    `query`; the first of equal ones. A longer paragraph is cut after a sentence, or else
    a word.
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
    return cut_at_sentence(text, best, MAX_PASSAGE_CHARS)


def cut_at_sentence(text: str, span: Span, size: int) -> Span:
    """Return the sentences of `text` at the beginning of `span` that end within `size`
    characters; else its words that do.

    Nothing is cut if the span ends within them, with a sentence or a line.
    """
    most = span.start + size
    is_line = span.end >= len(text) or text[span.end] == "\n"
    if span.end <= most and (is_line or _WHOLE.search(text, span.start, span.end)):
        return span
    most = min(most, span.end)
    ends = [m.end() for m in _SENTENCE_END.finditer(text, span.start, most)]
    word = text.rfind(" ", span.start, most)
    return Span(span.start, ends[-1] if ends else max(word, span.start + 1))


def extend_passage(text: str, closest: Span, size: int = SHORT_PASSAGE_CHARS) -> Span:
    """Return the sentences around `closest` that are shown of a text: the paragraph if it
    has at most `size` characters, else the sentences at `closest` and after it. The next
    paragraph goes along if it fits and both are speech: it may be the answer.
    """
    paragraph = find_enclosing_paragraph(text, closest)
    if len(paragraph) <= size:
        span = paragraph
    else:
        sentences = find_enclosing_sentence(text, closest)
        longest = max(size, len(sentences))
        rest = Span(sentences.start, paragraph.end)
        span = cut_at_sentence(text, rest, longest)
    is_speech = _SPEECH_END.search(text[span.start : span.end].rstrip())
    if span.end >= paragraph.end and is_speech and text[span.end :].startswith("\n\n“"):
        after = find_enclosing_paragraph(text, Span(span.end + 2, span.end + 3))
        if after.end - span.start <= size:
            return Span(span.start, after.end)
        answer = find_enclosing_sentence(text, Span(after.start, after.start + 1))
        if answer.end - span.start <= size:
            return Span(span.start, answer.end)
    return span


def find_last_mentions(
    wording: str,
    texts: Mapping[DocumentId, str],
    most: int,
    *,
    without: frozenset[str] = frozenset(),
) -> list[RelatedPassage]:
    """Return the last passages of `texts`, in story order, that name things in `wording`:
    what became of them. Those named most often in `wording`, then in the story, come first.

    Words that the story has often or only once, and the folded words `without`, such as
    names of people, are none.
    """
    counts: dict[str, int] = {}
    for word in _iter_things(wording):
        counts[word] = counts.get(word, 0) + 1
    total = sum(len(text) for text in texts.values()) / CHARACTERS_PER_WORD
    rated = []
    for word in counts.keys() - without:
        pattern = re.compile(rf"(?i)\b{re.escape(word)}(?:e?s|['’]s)?\b")
        places = [
            (document, match.span())
            for document, text in texts.items()
            for match in pattern.finditer(text)
        ]
        if 1 < len(places) <= max(3, MAX_MENTIONS_PER_WORD * total):
            document, (start, end) = places[-1]
            rated.append(
                (-counts[word], -len(places), word, document, Span(start, end))
            )
    passages = (
        RelatedPassage(document, extend_passage(texts[document], span))
        for *_, document, span in sorted(rated)
    )
    return list(dict.fromkeys(passages))[:most]


def _iter_things(wording: str) -> Iterator[str]:
    """Yield the folded words of phrases such as "the old slate", and capitalized words that
    start no sentence.
    """
    for match in _THING.finditer(wording):
        for word in match[1].split():
            if normalize_word(word) not in STOP_WORDS and not word.endswith("ly"):
                yield word.lower()
    for match in _CAPITALIZED.finditer(wording):
        yield match[0].lower()


def iter_days(text: str, hiding: re.Pattern[str]) -> Iterator[tuple[str, int, Span]]:
    """Yield the numbered days that the narration names, such as "Day 12", or somebody as
    today, in sentences without `hiding`: unit, number and place.
    """
    for match in _DAY.finditer(text):
        span = Span(*match.span())
        sentence = find_enclosing_sentence(text, span)
        is_present = not hiding.search(text, sentence.start, sentence.end)
        is_today = _TODAY.search(text, sentence.start, span.start) is not None
        if is_present and (is_today or is_narrated(text, span)):
            yield match["unit"], int(match["number"]), span


NO_PRESENT_DAY = re.compile(r"\b(?:will|shall|would|by|until|till|next)\b|^[>|]", re.M)
"""Words of a sentence with a day that may be later than that of the story."""


_WRITTEN_NUMBER = re.compile(
    r"\b(?:wrote|chalked|entered|painted|scratched|pencilled|inked)\b"
    r"[^.!?\n]{0,40}?(?P<mark>[*_“\"])(?P<number>\d{3,6})(?=[*_”\",.])"
)
"""A number that somebody writes down, marked as writing."""
_NOT_YET = re.compile(r"\b(?:will|shall|would|until|till)\b", re.I)
MAX_DAYS_ON = 30
"""How far after the last numbered day a written number may be the number of a day."""


def find_latest_days(
    texts: Mapping[DocumentId, str],
) -> dict[str, tuple[int, DocumentId, Span]]:
    """Return for each unit, such as "Day", the highest number that the narration names,
    with its place.

    A number of three or more digits that somebody writes later in the story, soon after
    that one, counts, too: after "Day 1200", "she wrote *1201*" tells the next day.
    `texts` are in story order.
    """
    latest: dict[str, tuple[int, DocumentId, Span]] = {}
    for document, text in texts.items():
        for unit, number, span in iter_days(text, NO_PRESENT_DAY):
            if number > latest.get(unit, (-1, document, span))[0]:
                latest[unit] = (number, document, span)
    for unit, row in latest.items():
        latest[unit] = _find_written_after(row, texts)
    return latest


def _find_written_after(
    day: tuple[int, DocumentId, Span], texts: Mapping[DocumentId, str]
) -> tuple[int, DocumentId, Span]:
    """Return the last of the numbers written after `day` that continue it, else `day`."""
    documents = list(texts)
    for document in documents[documents.index(day[1]) :]:
        text = texts[document]
        start = day[2].end if document == day[1] else 0
        for match in _WRITTEN_NUMBER.finditer(text, start):
            number = int(match["number"])
            span = Span(match.start("number"), match.end("number"))
            sentence = find_enclosing_sentence(text, span)
            is_later = _NOT_YET.search(text, sentence.start, sentence.end)
            is_told = is_narrated(text, Span(match.start(), match.start("mark")))
            if is_told and not is_later and day[0] < number <= day[0] + MAX_DAYS_ON:
                day = (number, document, span)
    return day


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
