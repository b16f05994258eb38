"""How far a draft is from the way the writer's own chapters sound, and what it repeats.

Frequencies of function words, lengths of sentences and paragraphs, punctuation and the
share of speech are compared with the average of the writer's own passages (Burrows'
Delta; J. Burrows, "Delta: a measure of stylistic difference", 2002).
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from statistics import fmean, pstdev

from lrwr.core.model.documents import DocumentId
from lrwr.core.model.text import STOP_WORDS, WORD_PATTERN, Span
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


RUN_WORDS = 12
"""Words that must be the same, one after the other, to be a repetition."""

SIMILAR_WORDS = 25
"""Words of the shortest passage that is compared with others."""

SIMILAR_SHARE = 0.5
"""Share of a passage's three-word sequences that another one has, from which both are
similar."""

_SEQUENCE = 3
_PARAGRAPH = re.compile(r"[^\n]*\S[^\n]*(?:\n[^\n]*\S[^\n]*)*")

Words = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Repetition:
    """Words at `span` of a draft that stand at `other_span` of `document`, too.

    `document` may be the draft itself. `words` counts them in the draft. `is_verbatim`
    says that the words are the same; otherwise only the passages are similar.
    """

    span: Span
    document: DocumentId
    other_span: Span
    words: int
    is_verbatim: bool


@dataclass(frozen=True, slots=True)
class _ParagraphWords:
    """The words of a paragraph or text in lower case, and their spans in the text."""

    words: Words
    spans: Sequence[Span]

    @property
    def span(self) -> Span:
        return Span(self.spans[0].start, self.spans[-1].end)


def find_repetitions(
    draft: DocumentId, texts: Mapping[DocumentId, str]
) -> list[Repetition]:
    """Return what the document `draft` repeats of itself or other documents, in text
    order; of several places that have the same words, only the first one.

    `texts` are those of the story, `draft` included.
    """
    paragraphs = list(_split_paragraphs(texts[draft]))
    whole = _join_paragraphs(paragraphs)
    runs, similar = _RunIndex(whole), _SimilarityIndex(paragraphs)
    repetitions: list[Repetition] = []
    for repetition in runs.find(draft, whole, is_own=True):
        _add(repetition, repetitions)
    for document, text in texts.items():
        others = [] if document == draft else list(_split_paragraphs(text))
        for repetition in runs.find(document, _join_paragraphs(others)):
            _add(repetition, repetitions)
        for other in others:
            for repetition in similar.find(document, other):
                _add(repetition, repetitions)
    return sorted(repetitions, key=lambda r: (r.span, r.document))


def _add(new: Repetition, repetitions: list[Repetition]) -> None:
    """Add a repetition unless its words are reported already; a run replaces shorter
    runs within it, and similar passages that it overlaps.
    """
    for other in repetitions:
        is_reported = other.span.holds(new.span) and other.is_verbatim
        if is_reported or (not new.is_verbatim and other.span.overlaps(new.span)):
            return
    repetitions[:] = [
        other
        for other in repetitions
        if not (
            new.span.holds(other.span)
            or (not other.is_verbatim and new.span.overlaps(other.span))
        )
    ]
    repetitions.append(new)


class _RunIndex:
    """The sequences of `RUN_WORDS` words of a draft; the first place of each counts."""

    def __init__(self, draft: _ParagraphWords) -> None:
        self._draft = draft
        self._starts: dict[Words, int] = {}
        for start in range(len(draft.words) - RUN_WORDS + 1):
            self._starts.setdefault(draft.words[start : start + RUN_WORDS], start)

    def find(
        self, document: DocumentId, other: _ParagraphWords, *, is_own: bool = False
    ) -> Iterator[Repetition]:
        """Yield the runs that `other` shares with the draft; `is_own` says that it is
        the draft.
        """
        at, words, last = 0, other.words, len(other.words) - RUN_WORDS
        while at <= last:
            start = self._starts.get(words[at : at + RUN_WORDS])
            if start is None or (is_own and start == at):
                at += 1
                continue
            length = self._measure(start, words, at)
            span = _join(
                self._draft.spans[start], self._draft.spans[start + length - 1]
            )
            other_span = _join(other.spans[at], other.spans[at + length - 1])
            if is_own:  # the later one of two places in the draft is the repetition
                span, other_span = other_span, span
            yield Repetition(span, document, other_span, length, is_verbatim=True)
            at += length

    def _measure(self, start: int, words: Words, at: int) -> int:
        """Return the length of the run that begins at both places, in words."""
        own = self._draft.words
        most = min(len(words) - at, len(own) - start)
        length = RUN_WORDS
        while length < most and words[at + length] == own[start + length]:
            length += 1
        return length


class _SimilarityIndex:
    """The three-word sequences of the longer passages of a draft."""

    def __init__(self, paragraphs: Sequence[_ParagraphWords]) -> None:
        self._paragraphs = [p for p in paragraphs if len(p.words) >= SIMILAR_WORDS]
        self._sizes: list[int] = []
        self._owners: dict[Words, list[int]] = {}
        for number, paragraph in enumerate(self._paragraphs):
            sequences = _list_sequences(paragraph.words)
            self._sizes.append(len(sequences))
            for sequence in sequences:
                self._owners.setdefault(sequence, []).append(number)

    def find(
        self, document: DocumentId, other: _ParagraphWords
    ) -> Iterator[Repetition]:
        """Yield the passages of the draft that share most of their words with
        `other`.
        """
        if len(other.words) < SIMILAR_WORDS // 2:
            return
        counts: Counter[int] = Counter()
        for sequence in _list_sequences(other.words):
            for owner in self._owners.get(sequence, ()):
                counts[owner] += 1
        for owner, count in counts.items():
            if count >= SIMILAR_SHARE * self._sizes[owner]:
                own = self._paragraphs[owner]
                yield Repetition(
                    own.span, document, other.span, len(own.words), is_verbatim=False
                )


def _list_sequences(words: Words) -> set[Words]:
    return {words[n : n + _SEQUENCE] for n in range(len(words) - _SEQUENCE + 1)}


def _split_paragraphs(text: str) -> Iterator[_ParagraphWords]:
    for block in _PARAGRAPH.finditer(text):
        matches = list(WORD_PATTERN.finditer(text, block.start(), block.end()))
        if matches:
            yield _ParagraphWords(
                tuple(match[0].lower().replace("’", "'") for match in matches),
                [Span(match.start(), match.end()) for match in matches],
            )


def _join_paragraphs(paragraphs: Sequence[_ParagraphWords]) -> _ParagraphWords:
    words = tuple(word for paragraph in paragraphs for word in paragraph.words)
    return _ParagraphWords(words, [s for p in paragraphs for s in p.spans])


def _join(first: Span, last: Span) -> Span:
    return Span(first.start, last.end)
