"""Paragraphs of the story that share rare words with the card of a scene."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from math import log

from lrwr.core.bible.values import SceneSummary
from lrwr.core.drafting.board import SceneCard
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.text import STOP_WORDS, Span, normalize_word
from lrwr.core.ports.stores import DocumentText

LEAST_SHARED_WORDS = 2
PARAGRAPH_WORDS = (1, 220)
"""Length of a paragraph that is considered, in words."""
_SATURATION, _LENGTH_WEIGHT = 1.2, 0.6
"""Parameters k1 and b of Okapi BM25, which ranks the paragraphs."""

_PROSE = re.compile(r"[^\s>#|\-*+=`<\[][^\n]*(?:\n[^\n]*\S[^\n]*)*")
_WORD = re.compile(r"[\w’']+")


def find_related_paragraphs(
    card: SceneCard,
    scenes: Sequence[SceneSummary],
    texts: Mapping[DocumentId, DocumentText],
    most: int,
) -> list[tuple[SceneSummary, Span]]:
    """Return at most `most` paragraphs of `scenes` that share the most telling words
    with the title, summary and beats of `card`, the best first. The names of its people
    do not count.
    """
    names = _list_words(" ".join(card.cast))
    card_words = _list_words(" ".join((card.title, card.summary, *card.beats)))
    paragraphs = [
        (
            scene,
            span,
            Counter(_list_words(texts[scene.document].text[span.start : span.end])),
        )
        for scene in scenes
        for span in iter_paragraphs(
            texts[scene.document].text, scene.span, PARAGRAPH_WORDS
        )
    ]
    if not paragraphs:
        return []
    spread = Counter(word for *_, counts in paragraphs for word in counts)
    average = sum(sum(counts.values()) for *_, counts in paragraphs) / len(paragraphs)
    rarity = {
        word: log(1 + len(paragraphs) / spread[word])
        for word in {*card_words} - {*names}
        if spread[word]
    }

    def rate(counts: Counter[str]) -> float:
        size = 1 - _LENGTH_WEIGHT + _LENGTH_WEIGHT * sum(counts.values()) / average
        return sum(
            rarity[word] * counts[word] / (counts[word] + _SATURATION * size)
            for word in rarity
            if word in counts
        )

    fitting = [
        (rate(counts), number, scene, span)
        for number, (scene, span, counts) in enumerate(paragraphs)
        if len(rarity.keys() & counts.keys()) >= LEAST_SHARED_WORDS
    ]
    fitting.sort(key=lambda row: (-row[0], -row[1]))
    return [(scene, span) for _, _, scene, span in fitting[:most]]


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


def _list_words(text: str) -> list[str]:
    words = (_strip_ending(normalize_word(word)) for word in _WORD.findall(text))
    return [word for word in words if len(word) > 1 and word not in STOP_WORDS]


def _strip_ending(word: str) -> str:
    """Return a word without a plural or possessive ending."""
    plain = re.sub(r"[’']s?$", "", word)
    is_plural = len(plain) > 3 and plain.endswith("s") and not plain.endswith("ss")
    return plain[:-1] if is_plural else plain
