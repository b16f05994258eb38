"""Words of a draft that stand elsewhere in the story: runs, and similar passages."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from lrwr.core.model.documents import DocumentId
from lrwr.core.model.text import WORD_PATTERN, Span

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
        if is_reported or (not new.is_verbatim and _overlap(other.span, new.span)):
            return
    repetitions[:] = [
        other
        for other in repetitions
        if not (
            new.span.holds(other.span)
            or (not other.is_verbatim and _overlap(new.span, other.span))
        )
    ]
    repetitions.append(new)


def _overlap(span: Span, other: Span) -> bool:
    return span.start < other.end and other.start < span.end


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
