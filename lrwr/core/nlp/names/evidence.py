"""Name evidence: counts of capitalised words and cues in one document."""

import json
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from lrwr.core.model.text import Span
from lrwr.core.nlp.names.lexicon import (
    AMBIGUOUS_NAME_WORDS,
    CALENDAR,
    NAME_TITLES,
    is_non_name,
    normalize_name_title,
)
from lrwr.core.nlp.names.mentions import (
    NameCandidate,
    TextSection,
    cut_text_section,
    find_name_candidates,
)
from lrwr.core.nlp.names.name_form import count_name_cues, is_alias_phrase

_LOWER_WORD = re.compile(r"(?<![^\W_])[^\W\d_A-Z][^\W\d_]*(?:['’\-][^\W\d_]+)*")
_WORD = re.compile(r"[^\W_]+")
_I = re.compile(r"\bI\b")
_AND = re.compile(r"\.?\s+and\s+")


@dataclass(frozen=True, slots=True)
class NameEvidence:
    """Counts about names in one document, before any decision is made from them.

    `words` gives for each capitalised word how often it occurs inside a sentence, at
    the start of a sentence, and in lower case. `forms` gives for each run of such words
    the number of occurrences `n`, the offset `first` of the first one, and the count of
    each cue (see `count_name_cues`). A form that starts with "^ " begins a sentence.
    `apart` and `alike` count pairs of forms, joined by `|`, that are two people ("Nell
    and Corin") or one ("Nell, called Wren"). `address` counts the names in address with
    the names in the dialogue tags beside them, as `kind|called|speaker` (see
    `AddressPairs`). `words_read` is the number of words, `first_person` the number of
    "I" outside quotations.
    """

    words: Mapping[str, tuple[int, int, int]] = field(default_factory=dict)
    forms: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    apart: Mapping[str, int] = field(default_factory=dict)
    alike: Mapping[str, int] = field(default_factory=dict)
    address: Mapping[str, int] = field(default_factory=dict)
    weddings: Mapping[str, int] = field(default_factory=dict)
    words_read: int = 0
    first_person: int = 0

    def to_json(self) -> str:
        """Return the counts as a JSON object with the field names as keys, for
        storage.
        """
        return json.dumps(
            {name: getattr(self, name) for name in self.__slots__},
            ensure_ascii=False,
            separators=(",", ":"),
        )

    @classmethod
    def from_json(cls, text: str) -> "NameEvidence":
        """Parse JSON that `to_json` returned."""
        values = json.loads(text)
        words = {word: (n[0], n[1], n[2]) for word, n in values.pop("words").items()}
        return cls(words=words, **values)


@dataclass(slots=True)
class NameFormTotals:
    """The counts of one form over all documents.

    `counts` are those of each cue. `first` is the first occurrence: index of the
    document and character offset. `place` is its place in the order of forms: index of
    the document and of the form there. `by_document` has for each document with this
    form, by index, the numbers of occurrences in all and outside quoted speech.
    """

    counts: dict[str, int]
    first: tuple[int, int]
    place: tuple[int, int]
    by_document: dict[int, tuple[int, int]]


@dataclass(slots=True)
class NameEvidenceTotals:
    """The sums of the name evidence of all documents; forms and pairs stand in the
    order of their first occurrence. The fields are those of `NameEvidence`.
    """

    words: dict[str, tuple[int, int, int]] = field(default_factory=dict)
    forms: dict[str, NameFormTotals] = field(default_factory=dict)
    apart: dict[str, int] = field(default_factory=dict)
    alike: dict[str, int] = field(default_factory=dict)
    address: dict[str, int] = field(default_factory=dict)
    weddings: dict[str, int] = field(default_factory=dict)
    words_read: int = 0
    first_person: int = 0


def sum_name_evidence(evidence: Sequence[NameEvidence]) -> NameEvidenceTotals:
    """Return the sums over `evidence`, one item for each document in story order."""
    totals = NameEvidenceTotals()
    for row, item in enumerate(evidence):
        _add_words(totals.words, item.words)
        _add_forms(totals.forms, item.forms, row)
        add_counts(totals.apart, item.apart)
        add_counts(totals.alike, item.alike)
        add_counts(totals.address, item.address)
        add_counts(totals.weddings, item.weddings)
        totals.words_read += item.words_read
        totals.first_person += item.first_person
    return totals


def _add_forms(
    totals: dict[str, NameFormTotals],
    forms: Mapping[str, Mapping[str, int]],
    row: int,
) -> None:
    for rank, (form, counts) in enumerate(forms.items()):
        total = totals.get(form)
        here = count_mentions(counts)
        if total is None:
            first = row, counts.get("first", 0)
            totals[form] = NameFormTotals(dict(counts), first, (row, rank), {row: here})
        else:
            total.by_document[row] = here
            add_counts(total.counts, counts)


def count_mentions(counts: Mapping[str, int]) -> tuple[int, int]:
    """Return the occurrences of a form in one document, and those in narration."""
    n = counts.get("n", 0)
    return n, n - counts.get("quoted", 0)


def add_counts(sums: dict[str, int], counts: Mapping[str, int]) -> None:
    """Add `counts` to `sums`, in place."""
    if not sums:
        dict.update(sums, counts)  # `Counter.update` would be slower
        return
    for key, n in counts.items():
        sums[key] = sums.get(key, 0) + n


def _add_words(
    total: dict[str, tuple[int, int, int]], words: Mapping[str, tuple[int, int, int]]
) -> None:
    get = total.get
    for word, counts in words.items():
        sums = get(word)
        if sums is None:
            total[word] = counts
        else:
            total[word] = (
                sums[0] + counts[0], sums[1] + counts[1], sums[2] + counts[2],
            )  # fmt: skip


class _NameEvidenceCounter:
    """Mutable counts for building a `NameEvidence`."""

    def __init__(self) -> None:
        self.inside: Counter[str] = Counter()
        self.initial: Counter[str] = Counter()
        self.lower: Counter[str] = Counter()
        self.forms: dict[str, Counter[str]] = {}
        self.first: dict[str, int] = {}
        self.apart: Counter[str] = Counter()
        self.alike: Counter[str] = Counter()
        self.address: Counter[str] = Counter()
        self.weddings: Counter[str] = Counter()
        self.words_read = 0
        self.first_person = 0


_FARTHEST_TAG = 500
"""Characters between a name in address and a dialogue tag beside it."""


@dataclass(slots=True)
class _AddressCounter:
    """Counts the pairs of names in address and in dialogue tags of one section."""

    text: str
    counts: Counter[str]
    _called: list[tuple[str, int]] = field(default_factory=list)
    _tag: tuple[str, int] | None = None

    def add(
        self, form: str, start: int, end: int, *, called: bool, tagged: bool
    ) -> None:
        """Count the name `form` at `[start, end)` of the text, in text order.

        `called` means that it is in address, `tagged` that it is in a dialogue tag.
        """
        name = form.removeprefix("^ ")
        if called:
            if self._tag is not None:
                self._count(name, self._tag[0], self._tag[1], start, "before")
            self._called = [
                (other, at)
                for other, at in self._called
                if self._paragraphs_between(at, start) == 0
            ]
            self._called.append((name, end))
        elif tagged:
            for other, at in self._called:
                self._count(other, name, at, start, "after")
            self._tag = name, end

    def _count(self, name: str, speaker: str, end: int, start: int, kind: str) -> None:
        breaks = self._paragraphs_between(end, start)
        if breaks == 1:
            self.counts[f"{kind}|{name}|{speaker}"] += 1
        elif breaks == 0:
            self.counts[f"same|{name}|{speaker}"] += 1

    def _paragraphs_between(self, end: int, start: int) -> int:
        """Return the number of paragraph breaks; 2 for any more, or for distant names."""
        if start - end > _FARTHEST_TAG:
            return 2
        return min(2, self.text.count("\n\n", end, start))


def gather_name_evidence(text: str, parts: Sequence[Span]) -> NameEvidence:
    """Count the capitalised words, name forms and their cues in the spans `parts` of
    `text`.
    """
    counts = _NameEvidenceCounter()
    for part in parts:
        section = cut_text_section(text, part)
        _count_words(counts, section)
        before: NameCandidate | None = None
        address = _AddressCounter(section.text, counts.address)
        names: list[tuple[int, str]] = []
        for candidate in find_name_candidates(section):
            form = _count_candidate(counts, section, candidate, part.start, address)
            if form:
                names.append((candidate.start, form.removeprefix("^ ")))
            if before is not None:
                _count_pair(counts, section, before, candidate)
            before = candidate
        counts.weddings.update(_find_weddings(section, names))
    return _build_evidence(counts)


_WEDDING = re.compile(
    r"\b(?:marr(?:y|ied|ies|ying|iage)|engaged to|engagement|wedding|wife|husband|bride)\b"
)
_SENTENCE_END = re.compile(r"(?<!\bMr)(?<!\bMrs)(?<!\bDr)[.!?][”\"’]?\s|\n\n")
_SENTENCE = 200
"""Characters of a sentence searched on each side of a word for marriage."""


def _find_weddings(
    section: TextSection, names: Sequence[tuple[int, str]]
) -> Iterator[str]:
    """Yield the two names, joined by `|`, of each sentence with a word for marriage and
    no third name.

    `names` are the offsets and forms of all names in the section, in text order.
    """
    text, offsets = section.text, [start for start, _ in names]
    for cue in _WEDDING.finditer(text):
        start = max(0, cue.start() - _SENTENCE)
        for earlier in _SENTENCE_END.finditer(text, start, cue.start()):
            start = earlier.end()
        stop = _SENTENCE_END.search(text, cue.end(), cue.end() + _SENTENCE)
        end = stop.start() if stop else cue.end() + _SENTENCE
        rows = range(bisect_left(offsets, start), bisect_left(offsets, end))
        couple = list(dict.fromkeys(names[row][1] for row in rows))
        if len(couple) == 2:
            yield "|".join(couple)


def _count_words(counts: _NameEvidenceCounter, section: TextSection) -> None:
    counts.lower.update(_LOWER_WORD.findall(section.text))
    counts.words_read += len(_WORD.findall(section.text))
    spoken_count = sum(
        len(_I.findall(section.text, quote.start, quote.end))
        for quote in section.quotes
    )
    counts.first_person += len(_I.findall(section.text)) - spoken_count


def _count_candidate(
    counts: _NameEvidenceCounter,
    section: TextSection,
    candidate: NameCandidate,
    start: int,
    address: _AddressCounter,
) -> str:
    """Count `candidate`, and return its form; "" if it is none."""
    words = candidate.words
    if all(is_non_name(word) for word in words):
        return ""
    for at, word in enumerate(words):
        first = at == 0 and candidate.initial
        if first and word.lower() in AMBIGUOUS_NAME_WORDS:
            continue
        (counts.initial if first else counts.inside)[word] += 1
    form = extract_name_form(words, initial=candidate.initial)
    if not form or (candidate.initial and form.lower() in AMBIGUOUS_NAME_WORDS):
        return ""
    lead = form.removeprefix("^ ").partition(" ")[0]
    at = section.text.find(lead, candidate.start)
    counts.first.setdefault(form, start + max(at, candidate.start))
    tally = counts.forms.setdefault(form, Counter())
    cues = count_name_cues(section, candidate)
    tally.update(cues)
    if "vocative" in cues or ("tag" in cues and not candidate.quoted):
        address.add(
            form, candidate.start, candidate.end,
            called="vocative" in cues, tagged="tag" in cues,
        )  # fmt: skip
    return form


def extract_name_form(words: Sequence[str], *, initial: bool) -> str:
    """Return those of `words`, a run of capitalised words, that may be a name; "" if
    none.

    Leading and trailing words that are never names are dropped. `initial` means that
    the run begins a sentence; a result then starts with "^ " if it has several words
    and the first may not belong to the name.
    """
    name_words = list(words)
    while (
        name_words
        and is_non_name(name_words[0])
        and not normalize_name_title(name_words[0])
    ):
        if len(name_words) > 1 and name_words[0].lower() in CALENDAR and not initial:
            break  # keep "March" in "the March Ghost"
        name_words.pop(0)
    while (
        name_words
        and is_non_name(name_words[-1])
        and not normalize_name_title(name_words[-1])
    ):
        name_words.pop()
    if (
        initial
        and name_words == list(words)
        and name_words[0].lower() not in NAME_TITLES
    ):
        return " ".join(["^", *name_words]) if len(name_words) > 1 else name_words[0]
    return " ".join(name_words)


def _count_pair(
    counts: _NameEvidenceCounter,
    section: TextSection,
    name_candidate: NameCandidate,
    second_candidate: NameCandidate,
) -> None:
    gap = section.text[name_candidate.end : second_candidate.start]
    if len(gap) > 30 or name_candidate.possessive:
        return
    pair = tuple(
        extract_name_form(s.words, initial=s.initial)
        for s in (name_candidate, second_candidate)
    )
    if not all(pair) or pair[0] == pair[1]:
        return
    if (
        _AND.fullmatch(gap)
        and len(name_candidate.words) == 1
        and normalize_name_title(pair[0])
    ):
        title = pair[0] + gap[: gap.startswith(".")]
        _count_couple(counts, title, second_candidate)
        return
    key = "|".join(name.removeprefix("^ ") for name in pair)
    if _AND.fullmatch(gap):
        counts.apart[key] += 1
    elif is_alias_phrase(gap, normalize_name_title(second_candidate.words[0])):
        counts.alike[key] += 1


def _count_couple(
    counts: _NameEvidenceCounter, title: str, second_candidate: NameCandidate
) -> None:
    """Count "Mr. Gannet" for the text "Mr. and Mrs. Gannet"."""
    if len(second_candidate.words) < 2 or not normalize_name_title(
        second_candidate.words[0]
    ):
        return
    form = " ".join((title, *second_candidate.words[1:]))
    counts.forms.setdefault(form, Counter()).update(
        {"n": 1, "inside": 1, "couple": int(_is_wife(second_candidate))}
    )
    counts.first.setdefault(form, second_candidate.start)


def _is_wife(candidate: NameCandidate) -> bool:
    return normalize_name_title(candidate.words[0]) in ("mrs", "lady")


def _build_evidence(counts: _NameEvidenceCounter) -> NameEvidence:
    capitalised = sorted(set(counts.inside) | set(counts.initial))
    words = {
        word: (counts.inside[word], counts.initial[word], counts.lower[word.lower()])
        for word in capitalised
    }
    forms = {
        form: {**tally, "first": counts.first[form]}
        for form, tally in counts.forms.items()
        if not _is_plain_word(form, words)
    }
    return NameEvidence(
        words=words,
        forms=forms,
        apart=dict(counts.apart),
        alike=dict(counts.alike),
        address=dict(counts.address),
        weddings=dict(counts.weddings),
        words_read=counts.words_read,
        first_person=counts.first_person,
    )


def _is_plain_word(form: str, words: Mapping[str, tuple[int, int, int]]) -> bool:
    """Return whether a form is a common word: never capitalised inside a sentence here."""
    inside, initial, lower = words.get(form, (1, 0, 0))
    return not inside and (lower > 0 and lower * 3 >= initial)
