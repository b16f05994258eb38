"""How far a draft is from the way the writer's own chapters sound.

Frequencies of function words, lengths of sentences and paragraphs, punctuation and the
share of speech are compared with the average of the writer's own passages (Burrows'
Delta; J. Burrows, "Delta: a measure of stylistic difference", 2002).
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from statistics import fmean, pstdev

from lrwr.core.model.text import STOP_WORDS
from lrwr.core.nlp.text.prose import find_quoted_spans

LEAST_WORDS = 300
"""Words of the shortest draft of which a distance is reported."""

WINDOW_WORDS = 800
LEAST_WINDOWS = 8
"""Passages of the writer's own that a comparison needs."""

MAX_WINDOWS = 120
MAX_TRAITS = 3
"""Traits that are named as differing most."""

_WORD = re.compile(r"[a-z]+(?:'[a-z]+)?")
_SENTENCE_END = re.compile(r"(?<=[.!?])[”’\"'\s]+")
_SHAPES = (
    "length of sentences",
    "variation of the length of sentences",
    "longest sentence",
    "share of speech",
    "length of paragraphs",
    "commas",
    "semicolons",
    "colons",
    "dashes",
    "exclamation marks",
    "question marks",
    "brackets",
    "adverbs in -ly",
    "variety of words",
    "length of words",
    "contractions",
)
_MARKS = ",;:—!?("
_CLIP = 4.0
"""Standard deviations that one trait adds at most, so that a rare word cannot decide."""
_MORE_WORDS = (
    "after again all almost alone already also always among another because before "
    "behind both down each either else enough even ever every few first here himself "
    "herself indeed instead itself just last least less like little many more most "
    "much must myself neither never nor nothing now off often once only other out over "
    "own perhaps quite rather same several since some something soon still such though "
    "through till together too toward towards two under until very well whether while "
    "within without yet"
)
_FUNCTION_WORDS = tuple(sorted({*STOP_WORDS, *_MORE_WORDS.split()}))

Features = Sequence[float]
"""The values of all traits, in the order of `_list_names`."""


@dataclass(frozen=True, slots=True)
class VoiceTrait:
    """A trait in which a draft differs from the writer's own passages.

    `draft` and `own` are its value and their average: words and marks count per 1,000
    words, lengths in words or, of words, in letters.
    """

    name: str
    draft: float
    own: float


@dataclass(frozen=True, slots=True)
class VoiceDistance:
    """How far a draft is from the writer's own passages of its length.

    `distance` is the average number of standard deviations, `farther` the share of own
    passages that are nearer. `traits` differ most.
    """

    distance: float
    farther: float
    traits: tuple[VoiceTrait, ...] = ()


class VoiceProfile:
    """The traits of passages of about `size` words of the writer's own `chapters`.

    `is_known` is false with fewer than `LEAST_WINDOWS` passages.
    """

    def __init__(self, chapters: Iterable[str], size: int = WINDOW_WORDS) -> None:
        windows = (w for text in chapters for w in split_windows(text, size))
        rows = [measure_traits(w) for w in islice(windows, MAX_WINDOWS)]
        self.is_known = len(rows) >= LEAST_WINDOWS
        columns = list(zip(*rows, strict=True)) or [(0.0,)] * len(_list_names())
        self._average = [fmean(column) for column in columns]
        # A trait that never varies would weigh infinitely: its deviation is bounded.
        self._deviation = [
            max(pstdev(column), 0.05 * abs(average) + 0.01)
            for column, average in zip(columns, self._average, strict=True)
        ]
        self._distances = [fmean(self._deviate(row)) for row in rows]

    def measure_distance(self, text: str) -> VoiceDistance:
        """Return how far `text` is from the writer's own passages."""
        traits = measure_traits(text)
        deviations = self._deviate(traits)
        distance = fmean(deviations)
        nearer = sum(own < distance for own in self._distances)
        names = _list_names()
        differing = sorted(range(len(names)), key=lambda n: -deviations[n])
        return VoiceDistance(
            distance,
            nearer / max(1, len(self._distances)),
            tuple(
                VoiceTrait(names[n], traits[n], self._average[n])
                for n in differing[:MAX_TRAITS]
            ),
        )

    def _deviate(self, traits: Features) -> list[float]:
        """Return by how many standard deviations each trait differs, at most `_CLIP`."""
        rows = zip(traits, self._average, self._deviation, strict=True)
        return [min(abs(t - mean) / spread, _CLIP) for t, mean, spread in rows]


def measure_voice(draft: str, chapters: Sequence[str]) -> VoiceDistance | None:
    """Return how far `draft` is from the writer's own `chapters`.

    None for a draft of fewer than `LEAST_WORDS` words, or without enough chapters.
    """
    words = len(draft.split())
    if words < LEAST_WORDS:
        return None
    profile = VoiceProfile(chapters, min(words, WINDOW_WORDS))
    return profile.measure_distance(draft) if profile.is_known else None


def split_windows(text: str, size: int) -> Iterator[str]:
    """Yield consecutive passages of whole paragraphs with at least `size` words each;
    headings and the rest at the end are left out.
    """
    window: list[str] = []
    words = 0
    for paragraph in text.split("\n\n"):
        if not paragraph.strip() or paragraph.lstrip().startswith("#"):
            continue
        window.append(paragraph)
        words += len(paragraph.split())
        if words >= size:
            yield "\n\n".join(window)
            window, words = [], 0


def measure_traits(text: str) -> Features:
    """Return the traits of a passage, in the order of `_list_names`."""
    words = _WORD.findall(text.lower().replace("’", "'"))
    total = max(1, len(words))
    counts = Counter(words)
    frequencies = [counts[word] / total * 1000 for word in _FUNCTION_WORDS]
    return [*frequencies, *_measure_shapes(text, words, total)]


def _measure_shapes(text: str, words: Sequence[str], total: int) -> Iterator[float]:
    sentences = [len(s.split()) for s in _SENTENCE_END.split(text) if s.strip()] or [0]
    paragraphs = [len(p.split()) for p in text.split("\n\n") if p.strip()] or [0]
    yield fmean(sentences)
    yield pstdev(sentences)
    yield float(max(sentences))
    yield sum(len(s) for s in find_quoted_spans(text)) / max(1, len(text))
    yield fmean(paragraphs)
    for mark in _MARKS:
        yield text.count(mark) / total * 1000
    yield sum(word.endswith("ly") for word in words) / total * 1000
    yield len(set(words[:LEAST_WORDS])) / min(LEAST_WORDS, total)
    yield sum(map(len, words)) / total
    yield sum("'" in word for word in words) / total * 1000


def _list_names() -> tuple[str, ...]:
    return (*(f"“{word}”" for word in _FUNCTION_WORDS), *_SHAPES)
