"""What speaks for a passage, and where in it. Pure."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lrwr.core.model.query_terms import WORD_PATTERN, normalize_word, stem_lightly
from lrwr.core.model.text import SentenceSplitter


@dataclass(frozen=True, slots=True)
class WordWeights:
    """The words of a question, each with its weight; the weights add up to 1.0.

    A word weighs as much as it is rare in the library (inverse document frequency).
    A word that occurs nowhere weighs as much as the rarest.
    """

    weights: Mapping[str, float]

    @classmethod
    def of(
        cls, words: Sequence[str], counts: Mapping[str, int], total: int
    ) -> "WordWeights":
        """Weigh `words` by in how many of `total` passages each occurs."""
        raw = {w: math.log(1 + total / (counts.get(w, 0) + 0.5)) for w in words}
        whole = sum(raw.values()) or 1.0
        return cls({word: value / whole for word, value in raw.items()})

    def coverage(self, text: str) -> float:
        """Return the share of the question's weight that `text` holds, 0.0 to 1.0."""
        there = {
            stem_lightly(normalize_word(word)) for word in WORD_PATTERN.findall(text)
        }
        found = (w for word, w in self.weights.items() if stem_lightly(word) in there)
        return min(1.0, sum(found))


def split_highlighted_words(text: str, words: Sequence[str]) -> list[tuple[str, bool]]:
    """Cut `text` into pieces; True marks one that is a form of one of `words`."""
    stems = {stem_lightly(word) for word in words}
    pieces: list[tuple[str, bool]] = []
    at = 0
    for found in WORD_PATTERN.finditer(text):
        if stem_lightly(normalize_word(found.group())) not in stems:
            continue
        if found.start() > at:
            pieces.append((text[at : found.start()], False))
        pieces.append((found.group(), True))
        at = found.end()
    if at < len(text):
        pieces.append((text[at:], False))
    return pieces


def select_excerpt(
    text: str, words: WordWeights, sentences: SentenceSplitter, *, limit: int
) -> tuple[int, int]:
    """Return the start and end of the sentences of `text` that say most in `limit`.

    Whole sentences, at most `limit` characters of them unless the first alone is
    longer; those that hold most of the question's weight, the earliest of equals.
    """
    spans = sentences(text)
    if len(text) <= limit or not spans:
        return 0, len(text)
    best, best_cover = (spans[0].start, spans[0].end), -1.0
    for first in range(len(spans)):
        last = first
        while last + 1 < len(spans) and (
            spans[last + 1].end - spans[first].start <= limit
        ):
            last += 1
        start, end = spans[first].start, spans[last].end
        cover = words.coverage(text[start:end])
        if cover > best_cover + 1e-9:
            best, best_cover = (start, end), cover
        if last == len(spans) - 1:
            break
    return best
