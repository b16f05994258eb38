"""Forms of names, counted over all documents, and taken apart into their words."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from lrwr.core.nlp.names.evidence import NameEvidence
from lrwr.core.nlp.names.gender import score_given_name_gender
from lrwr.core.nlp.names.lexicon import CALENDAR, is_non_name
from lrwr.core.nlp.names.name_form import NameForm
from lrwr.core.nlp.names.nicknames import is_given_name
from lrwr.core.nlp.names.titles import (
    NAME_EPITHETS,
    SURNAME_TITLES,
    normalize_name_title,
)

_NAMELY = 0.7


@dataclass(slots=True)
class CapitalizationCounts:
    """How often each capitalised word stands inside a sentence, first in it, small."""

    of: dict[str, tuple[int, int, int]]
    sure: frozenset[str] = frozenset()

    @classmethod
    def over(cls, evidence: Sequence[NameEvidence]) -> "CapitalizationCounts":
        """Add up the words of all documents."""
        total: dict[str, tuple[int, int, int]] = {}
        for name_evidence in evidence:
            for word, (inside, initial, small) in name_evidence.words.items():
                a, b, c = total.get(word, (0, 0, 0))
                total[word] = (a + inside, b + initial, c + small)
        return cls(total, _surely_names(evidence))

    def is_namely(self, word: str) -> bool:
        """Say whether `word` has its capital because it is a name."""
        if is_non_name(word):
            return False
        if word in self.sure:
            return True
        inside, initial, small = self.of.get(word, (0, 0, 0))
        if not inside:
            return not small and initial > 1
        return inside / (inside + small) >= _NAMELY


def _surely_names(evidence: Iterable[NameEvidence]) -> frozenset[str]:
    """Return the words that somebody speaks as, or is spoken to by: Ash said."""
    cues: dict[str, Counter[str]] = {}
    for name_evidence in evidence:
        for form, counts in name_evidence.forms.items():
            word = form.rpartition(" ")[2]
            if word == form or is_given_name(form.partition(" ")[0]):
                cues.setdefault(word, Counter()).update(counts)
    return frozenset(
        word
        for word, counts in cues.items()
        if counts["inside"] > 1
        and counts["the"] + counts["a"] < counts["n"] / 2
        and counts["tag"] + counts["vocative"] + counts["speech"] > 2
    )


def merge_name_forms(
    evidence: Sequence[NameEvidence], words: CapitalizationCounts
) -> dict[str, NameForm]:
    """Add up the forms of all documents, each under its settled name."""
    forms: dict[str, NameForm] = {}
    for row, text_evidence in enumerate(evidence):
        for raw, counts in text_evidence.forms.items():
            name = settle_name_form(raw, words)
            if not name:
                continue
            form = forms.get(name)
            if form is None:
                form = forms[name] = NameForm.of_name(name)
                form.first = (row, counts.get("first", 0))
            form.counts.update({cue: n for cue, n in counts.items() if cue != "first"})
            form.documents += 1
    _fold_capitals(forms)
    score_given_name_gender(forms.values())
    return forms


def _fold_capitals(forms: dict[str, NameForm]) -> None:
    """Count NELL as Nell where the text has both."""
    folded = {name.casefold(): name for name in forms if not name.isupper()}
    for name in [name for name in forms if name.isupper()]:
        same = folded.get(name.casefold())
        if same:
            forms[same].counts.update(forms.pop(name).counts)


def settle_name_form(raw: str, words: CapitalizationCounts) -> str:
    """Return the name inside capitalised words; empty when there is none.

    "Yesterday Nell" at a sentence's start is Nell; "Dear Nell" is, too.
    """
    name_words = raw.removeprefix("^ ").split(" ")
    while name_words and _is_lead(name_words, words, initial=raw.startswith("^ ")):
        name_words.pop(0)
    while (
        name_words
        and is_non_name(name_words[-1])
        and not normalize_name_title(name_words[-1])
    ):
        name_words.pop()
    if len(name_words) == 1 and name_words[0].lower() in SURNAME_TITLES:
        return ""
    titled = len(name_words) > 1 and normalize_name_title(name_words[0])
    if not titled and not any(words.is_namely(word) for word in name_words):
        return ""
    return " ".join(name_words)


def _is_lead(
    name_words: Sequence[str], words: CapitalizationCounts, *, initial: bool
) -> bool:
    first = name_words[0]
    if normalize_name_title(first):
        return False
    if len(name_words) == 1:
        return is_non_name(first)
    if first.lower() in CALENDAR and not initial and not is_given_name(name_words[1]):
        return False  # "the March Ghost"; but "in March Nell went"
    if first.lower() in NAME_EPITHETS or is_non_name(first):
        return True
    return initial and not (words.of.get(first, (0,))[0] and words.is_namely(first))


def sum_name_pairs(
    evidence: Iterable[NameEvidence], words: CapitalizationCounts, kind: str
) -> Mapping[frozenset[str], int]:
    """Add up the pairs of one `kind`, `apart` or `alike`, under settled names."""
    total: Counter[frozenset[str]] = Counter()
    for name_evidence in evidence:
        pairs = name_evidence.apart if kind == "apart" else name_evidence.alike
        for key, n in pairs.items():
            names = frozenset(settle_name_form(name, words) for name in key.split("|"))
            if len(names) > 1 and "" not in names:
                total[names] += n
    return total
