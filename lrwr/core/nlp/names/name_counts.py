"""Counts of names over all documents: the evidence summed up, and the forms of names."""

from collections import Counter
from collections.abc import (
    Callable,
    Collection,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from dataclasses import dataclass, field

from lrwr.core.nlp.names.evidence import (
    NameEvidence,
    NameEvidenceTotals,
    NameFormTotals,
    add_counts,
    count_mentions,
    sum_name_evidence,
)
from lrwr.core.nlp.names.lexicon import (
    CALENDAR,
    NAME_EPITHETS,
    SURNAME_TITLES,
    is_given_name,
    is_non_name,
    normalize_name_title,
)
from lrwr.core.nlp.names.name_form import (
    NameForm,
    find_given_word,
    score_given_name_gender,
)
from lrwr.core.nlp.names.person import is_person_form

_MIN_NAME_SHARE = 0.7
"""Minimum share of capitalised occurrences inside sentences for a word to be a name."""
_CERTAIN_CUES = ("inside", "the", "a", "n", "tag", "vocative", "speech")
_PAIRS = ("apart", "alike", "address", "weddings")
"""The fields of `NameEvidence` that count pairs of forms."""

_Change = tuple[int, NameEvidence, NameEvidence]
"""The index of a document, and its evidence before and after a change."""


@dataclass(slots=True)
class CapitalizationCounts:
    """Counts of each word over all documents, by capitalization.

    `of` maps a word to three counts: capitalised inside a sentence, capitalised at its
    start, in lower case. `cues` has the sums of `_CERTAIN_CUES` for words that may be
    names, because a person so called speaks or is addressed.
    """

    of: Mapping[str, tuple[int, int, int]]
    cues: dict[str, list[int]] = field(default_factory=dict)
    _namely: dict[str, bool] = field(default_factory=dict)

    @classmethod
    def over(cls, totals: NameEvidenceTotals) -> "CapitalizationCounts":
        """Return the word counts of all documents."""
        words = cls(totals.words)
        for form, form_totals in totals.forms.items():
            words.add_form(form, form_totals.counts)
        return words

    def add_form(self, form: str, counts: Mapping[str, int], sign: int = 1) -> None:
        """Add the counts of a form to those of its last word; -1 subtracts them."""
        if word := find_certain_word(form):
            added = [sign * counts.get(cue, 0) for cue in _CERTAIN_CUES]
            sums = self.cues.get(word)
            self.cues[word] = (
                added
                if sums is None
                else [a + b for a, b in zip(sums, added, strict=True)]
            )

    def is_namely(self, word: str) -> bool:
        """Return whether `word` is usually capitalised because it is a name.

        A word that occurs inside sentences must be capitalised in at least 70 % of
        these occurrences. One that does not must occur at sentence starts more than
        once, and never in lower case.
        """
        namely = self._namely.get(word)
        if namely is None:
            namely = self._namely[word] = self._is_namely(word)
        return namely

    def describe(self, word: str) -> tuple[bool, bool]:
        """Return all that the reading of names uses of a word's present counts."""
        namely = self._namely[word] = self._is_namely(word)
        return bool(self.of.get(word, (0,))[0]), namely

    def _is_namely(self, word: str) -> bool:
        if is_non_name(word):
            return False
        if self._is_certain(word):
            return True
        inside, initial, small = self.of.get(word, (0, 0, 0))
        if not inside:
            return not small and initial > 1
        return inside / (inside + small) >= _MIN_NAME_SHARE

    def _is_certain(self, word: str) -> bool:
        """Return whether a word is the name of people who speak or are addressed."""
        cues = self.cues.get(word)
        if cues is None:
            return False
        inside, the, a, n, tag, vocative, speech = cues
        return inside > 1 and the + a < n / 2 and tag + vocative + speech > 2


def find_certain_word(form: str) -> str:
    """Return the word of a form whose cues show that it is a name; "" if there is none.

    That is a single word, or the surname after a common given name: "Ash said".
    """
    word = form.rpartition(" ")[2]
    is_named = word == form or is_given_name(form.partition(" ")[0])
    return word if is_named else ""


def settle_name_form(raw: str, words: CapitalizationCounts) -> str:
    """Return the name within `raw`, a run of capitalised words; "" if there is none.

    `raw` starts with "^ " if it begins a sentence. "^ Yesterday Nell" and "Dear Nell"
    both give "Nell".
    """
    name_words = raw.removeprefix("^ ").split(" ")
    while name_words and _is_leading_word(
        name_words, words, initial=raw.startswith("^ ")
    ):
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


def _is_leading_word(
    name_words: Sequence[str], words: CapitalizationCounts, *, initial: bool
) -> bool:
    first = name_words[0]
    if normalize_name_title(first):
        return False
    if len(name_words) == 1:
        return is_non_name(first)
    if first.lower() in CALENDAR and not initial and not is_given_name(name_words[1]):
        return False  # keep "March" in "the March Ghost", not in "in March Nell went"
    if first.lower() in NAME_EPITHETS or is_non_name(first):
        return True
    return initial and not (words.of.get(first, (0,))[0] and words.is_namely(first))


def sum_name_pairs(
    pairs: Mapping[str, int], settle: Callable[[str], str]
) -> Mapping[frozenset[str], int]:
    """Return how often two names occur as a pair, over all documents.

    `pairs` counts the pairs of forms: those that name two people ("Nell and Corin"), or
    those that name one ("Nell, called Wren"). A key of the result holds the two names,
    as `settle` returns them.
    """
    total: Counter[frozenset[str]] = Counter()
    for key, n in pairs.items():
        names = frozenset(map(settle, key.split("|")))
        if len(names) > 1 and "" not in names:
            total[names] += n
    return total


class NameCounts:
    """The names of a story with their counts, which follow changes of its documents.

    `totals` are the sums of the evidence. Names are only grouped into `forms` when those
    are read: a change that changes no name needs the sums alone.
    """

    def __init__(self, evidence: Mapping[str, NameEvidence]) -> None:
        self.totals = sum_name_evidence(list(evidence.values()))
        self._evidence = dict(evidence)
        self._words = CapitalizationCounts.over(self.totals)
        self._settled: dict[str, str] = {}
        self._raws: dict[str, set[str]] = {}
        self._groups: dict[str, list[tuple[tuple[int, int], NameForm]]] = {}
        self._forms: Mapping[str, NameForm] | None = None
        self._person_names: set[str] = set()
        self._names_by_key: dict[str, set[str]] = {}
        self._unjudged: set[str] = set()

    @property
    def forms(self) -> Mapping[str, NameForm]:
        """Each name, as `settle` returns it, with its form, in the order of their first
        occurrence.
        """
        if self._forms is None:
            self._merge_again(self._add_to_groups(self.totals.forms))
            score_given_name_gender(self.forms.values())
        return self._forms or {}

    @property
    def person_names(self) -> Collection[str]:
        """The names in `forms` that can be those of a single person."""
        forms = self.forms
        for key in self._unjudged:
            names = self._names_by_key.get(key, set())
            self._person_names.difference_update(names)
            self._person_names.update(
                name for name in names if is_person_form(forms[name], forms)
            )
        self._unjudged.clear()
        return self._person_names

    def settle(self, raw: str) -> str:
        """Return the name within a form; see `settle_name_form`."""
        name = self._settled.get(raw)
        if name is None:
            name = self._settled[raw] = settle_name_form(raw, self._words)
        return name

    def has_documents(self, evidence: Mapping[str, NameEvidence]) -> bool:
        """Return whether these are the documents of `evidence`, in the same order."""
        return list(self._evidence) == list(evidence)

    def update(self, evidence: Mapping[str, NameEvidence]) -> bool:
        """Count the changed documents of `evidence` again; return whether no name has
        changed. The documents must be the same.
        """
        changes = [
            (row, self._evidence[document], new)
            for row, (document, new) in enumerate(evidence.items())
            if new is not self._evidence[document]
        ]
        has_same_forms = all(_has_same_forms(old, new) for _, old, new in changes)
        suspects = set(self._find_changed_words(changes))
        if not has_same_forms:
            suspects.update(map(find_certain_word, _list_changed_forms(changes)))
        readings = {word: self._words.describe(word) for word in suspects}
        self._evidence.update(evidence)
        touched = self._recount(changes)
        misread = {w for w in suspects if self._words.describe(w) != readings[w]}
        if has_same_forms and not misread:
            return True
        if self._forms is None:
            self._settled.clear()
            return False
        if misread:
            touched.update(
                raw
                for raw in self._settled
                if not misread.isdisjoint(raw.removeprefix("^ ").split(" "))
            )
        self._regroup(touched)
        return False

    def _find_changed_words(
        self, changes: Iterable[_Change]
    ) -> dict[str, tuple[int, int, int]]:
        """Return the new sums of the words whose counts differ."""
        sums: dict[str, tuple[int, int, int]] = {}
        none = 0, 0, 0
        for _, old, new in changes:
            for word in old.words.keys() | new.words.keys():
                before, after = old.words.get(word, none), new.words.get(word, none)
                if before != after:
                    total = sums.get(word) or self.totals.words.get(word, none)
                    sums[word] = (
                        total[0] + after[0] - before[0],
                        total[1] + after[1] - before[1],
                        total[2] + after[2] - before[2],
                    )
        return sums

    def _recount(self, changes: Sequence[_Change]) -> set[str]:
        """Update the totals; return the forms whose counts or places differ."""
        totals = self.totals
        totals.words.update(self._find_changed_words(changes))
        touched: set[str] = set()
        for row, old, new in changes:
            totals.words_read += new.words_read - old.words_read
            totals.first_person += new.first_person - old.first_person
            for raw in _list_changed_forms([(row, old, new)]):
                self._recount_form(raw, row, old.forms.get(raw), new.forms.get(raw))
                touched.add(raw)
        for raw in touched & totals.forms.keys():
            self._find_first(totals.forms[raw], raw)
        for row, _, new in changes:
            touched.update(self._place_forms(row, new))
        for kind in _PAIRS:
            if any(
                list(getattr(old, kind).items()) != list(getattr(new, kind).items())
                for _, old, new in changes
            ):
                sums: dict[str, int] = {}
                for item in self._evidence.values():
                    add_counts(sums, getattr(item, kind))
                setattr(totals, kind, sums)
        return touched

    def _recount_form(
        self,
        raw: str,
        row: int,
        old: Mapping[str, int] | None,
        new: Mapping[str, int] | None,
    ) -> None:
        """Replace the counts of a form in one document; None if it does not occur."""
        forms = self.totals.forms
        total = forms.setdefault(raw, NameFormTotals({}, (row, 0), (row, 0), {}))
        if old is not None:
            self._words.add_form(raw, old, -1)
            add_counts(total.counts, {cue: -n for cue, n in old.items()})
            del total.by_document[row]
        if new is not None:
            self._words.add_form(raw, new)
            add_counts(total.counts, new)
            total.by_document[row] = count_mentions(new)
        if not total.by_document:
            del forms[raw]

    def _find_first(self, total: NameFormTotals, raw: str) -> None:
        """Set the first occurrence of a form, if it is now in another document."""
        row = min(total.by_document)
        if row != total.first[0]:
            document = list(self._evidence.values())[row].forms
            total.first = row, document[raw].get("first", 0)
            total.place = row, list(document).index(raw)

    def _place_forms(self, row: int, evidence: NameEvidence) -> Iterator[str]:
        """Set the places of the forms that occur first in one document; yield those
        whose order has changed.
        """
        for rank, (raw, counts) in enumerate(evidence.forms.items()):
            total = self.totals.forms[raw]
            if total.first[0] != row:
                continue
            total.first = row, counts.get("first", 0)
            if total.place != (row, rank):
                total.place = row, rank
                yield raw
            if self._forms is None:
                continue
            for place, form in self._groups.get(self.settle(raw).casefold(), ()):
                if place == total.place:
                    form.first = total.first

    def _regroup(self, raws: Iterable[str]) -> None:
        """Merge the forms again to which `raws` belong, or belonged."""
        before = {self.settle(raw).casefold() for raw in raws}
        for raw in raws:
            key = self._settled.pop(raw).casefold()
            if key:
                self._raws.get(key, set()).discard(raw)
        remaining = [raw for raw in raws if raw in self.totals.forms]
        words = self._merge_again(before | self._add_to_groups(remaining))
        score_given_name_gender(
            [form for form in self.forms.values() if find_given_word(form) in words]
        )

    def _add_to_groups(self, raws: Iterable[str]) -> set[str]:
        """Group forms by their names without case; return the groups' keys."""
        keys: set[str] = set()
        for raw in raws:
            if key := self.settle(raw).casefold():
                self._raws.setdefault(key, set()).add(raw)
                keys.add(key)
        return keys

    def _merge_again(self, keys: Iterable[str]) -> set[str]:
        """Merge the forms of these groups; return their given names, old and new."""
        words: set[str] = set()
        for key in keys:
            old = self._groups.pop(key, ())
            new = self._merge_group(self._raws.get(key, ()))
            for _, form in old:
                self._names_by_key[_word_key(form)].discard(form.name)
                self._person_names.discard(form.name)
            for _, form in new:
                self._names_by_key.setdefault(_word_key(form), set()).add(form.name)
            if new:
                self._groups[key] = new
            for _, form in (*old, *new):
                words.add(find_given_word(form))
                self._unjudged.update(_list_dependent_keys(form))
        ranked = sorted(
            (item for group in self._groups.values() for item in group),
            key=lambda item: item[0],
        )
        self._forms = {form.name: form for _, form in ranked}
        return words

    def _merge_group(
        self, raws: Iterable[str]
    ) -> list[tuple[tuple[int, int], NameForm]]:
        """Add up the forms of names that differ only in case, each with its place."""
        forms: dict[str, tuple[tuple[int, int], NameForm]] = {}
        totals = self.totals.forms
        for raw in sorted(raws, key=lambda raw: totals[raw].place):
            form_totals, name = totals[raw], self.settle(raw)
            if name not in forms:
                forms[name] = form_totals.place, NameForm.of_name(name)
                forms[name][1].first = form_totals.first
            form = forms[name][1]
            add_counts(form.counts, form_totals.counts)
            for document, (n, narrated) in form_totals.by_document.items():
                earlier = form.by_document.get(document, (0, 0))
                form.by_document[document] = earlier[0] + n, earlier[1] + narrated
        for _, form in forms.values():
            form.counts.pop("first", None)
        _fold_capitals(forms)
        return [item for name, item in forms.items() if not _is_heading_or_firm(name)]


def _word_key(form: NameForm) -> str:
    """Return the last word of a form without a plural -s, its title if it has none."""
    return form.words[-1].removesuffix("s") if form.words else form.title


def _list_dependent_keys(form: NameForm) -> Iterator[str]:
    """Yield the keys of all forms that `is_person_form` may judge by this one.

    It compares forms with the last word of their names: "Mr. Gannet", "the Gannets".
    """
    word = form.name.rpartition(" ")[2]
    yield from (_word_key(form), word, word.removesuffix("s"))


def _fold_capitals(forms: dict[str, tuple[tuple[int, int], NameForm]]) -> None:
    """Count "NELL" as "Nell" if the text has both; all names differ only in case."""
    cased = [name for name in forms if not name.isupper()]
    if not cased:
        return
    for name in [name for name in forms if name.isupper()]:
        forms[cased[-1]][1].counts.update(forms.pop(name)[1].counts)


def _is_heading_or_firm(name: str) -> bool:
    """Return whether a name is several words in capitals, or of several people:
    "TALLOW AND VALE", "Messrs. Tallow".
    """
    words = name.split(" ")
    return len(words) > 1 and (name.isupper() or words[0].rstrip(".") == "Messrs")


def _list_changed_forms(changes: Iterable[_Change]) -> Iterator[str]:
    """Yield the forms whose counts differ, not only the offset of the first one."""
    for _, old, new in changes:
        for raw in old.forms.keys() | new.forms.keys():
            before, after = old.forms.get(raw), new.forms.get(raw)
            if before is None or after is None or _without_first(before, after):
                yield raw


def _without_first(before: Mapping[str, int], after: Mapping[str, int]) -> bool:
    """Return whether counts differ apart from the offset of the first occurrence."""
    return {**before, "first": 0} != {**after, "first": 0}


def _has_same_forms(old: NameEvidence, new: NameEvidence) -> bool:
    """Return whether both have the same forms and pairs as often and in one order."""
    return all(
        list(a.items()) == list(b.items())
        for a, b in (
            (_rank_offsets(old), _rank_offsets(new)),
            *((getattr(old, kind), getattr(new, kind)) for kind in _PAIRS),
        )
    )


def _rank_offsets(evidence: NameEvidence) -> dict[str, dict[str, int]]:
    """Return the counts of each form with the rank of its first offset, not the offset.

    Only the order of offsets matters, so text without names changes nothing.
    """
    offsets = sorted({counts.get("first", 0) for counts in evidence.forms.values()})
    ranks = {offset: rank for rank, offset in enumerate(offsets)}
    return {
        form: {**counts, "first": ranks[counts.get("first", 0)]}
        for form, counts in evidence.forms.items()
    }
