"""Cast inference: from name evidence to characters with names, aliases and gender."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from lrwr.core.model.cast import Cast, Gender
from lrwr.core.nlp.names.address import AddressPairs, join_people_by_address
from lrwr.core.nlp.names.canonical import FROM_NOTES, build_cast_from_clusters
from lrwr.core.nlp.names.clustering import cluster_name_forms
from lrwr.core.nlp.names.clusters import NameClusters
from lrwr.core.nlp.names.evidence import NameEvidence
from lrwr.core.nlp.names.lexicon import fold_name
from lrwr.core.nlp.names.name_counts import NameCounts, sum_name_pairs
from lrwr.core.nlp.names.name_form import NameForm, parse_name_form, unlisp
from lrwr.core.nlp.names.namesakes import (
    join_stated_names,
    join_wives,
    split_namesakes,
)
from lrwr.core.nlp.names.overrides import NameOverrides, apply_name_overrides
from lrwr.core.nlp.names.person import (
    PersonCluster,
    compute_min_mentions,
    is_worth_listing,
    sum_person_cues,
)


@dataclass(frozen=True, slots=True)
class NotePerson:
    """A person named in the author's notes, or a narrator set by the user."""

    name: str
    aliases: tuple[str, ...] = ()
    gender: Gender = Gender.UNKNOWN


def merge_note_people(
    noted: Sequence[NotePerson], decided: NameOverrides
) -> list[NotePerson]:
    """Return the people of notes, each once.

    Two notes describe one person if one has the other's main name; a common alias is
    not enough. Names in `decided.ignored` are removed, and aliases that `decided.split`
    separates from the other names. Merges are applied later, to all people of the text.
    """
    people: list[NotePerson] = []
    ignored = {fold_name(name) for name in decided.ignored}
    for person in noted:
        same = [
            place
            for place, earlier in enumerate(people)
            if _is_same_person(earlier, person)
        ]
        if same:
            people[same[0]] = _merge_people(people[same[0]], person)
        else:
            people.append(person)
    remaining = (_remove_excluded(person, ignored, decided.split) for person in people)
    return [person for person in remaining if person is not None]


def _is_same_person(note_person: NotePerson, second_person: NotePerson) -> bool:
    return fold_name(note_person.name) in _names(second_person) or fold_name(
        second_person.name
    ) in _names(note_person)


def _names(person: NotePerson) -> set[str]:
    return {fold_name(name) for name in (person.name, *person.aliases)}


def _merge_people(note_person: NotePerson, second_person: NotePerson) -> NotePerson:
    aliases = dict.fromkeys(
        (*note_person.aliases, second_person.name, *second_person.aliases)
    )
    aliases.pop(note_person.name, None)
    gender = (
        note_person.gender
        if note_person.gender is not Gender.UNKNOWN
        else second_person.gender
    )
    return NotePerson(note_person.name, tuple(aliases), gender)


def _remove_excluded(
    person: NotePerson, ignored: Collection[str], split: Iterable[tuple[str, str]]
) -> NotePerson | None:
    """Remove ignored names, and the later name of a split pair."""
    apart = {
        frozenset((fold_name(first), fold_name(second))) for first, second in split
    }
    kept_names: list[str] = []
    for name in (person.name, *person.aliases):
        contradicts = any(
            frozenset((fold_name(name), fold_name(k))) in apart for k in kept_names
        )
        if fold_name(name) not in ignored and not contradicts:
            kept_names.append(name)
    if not kept_names:
        return None
    return NotePerson(kept_names[0], tuple(kept_names[1:]), person.gender)


def seed_name_clusters(
    people: Sequence[NotePerson], forms: dict[str, NameForm], clusters: NameClusters
) -> None:
    """Add `people` to `clusters` as persons, with the forms of their names.

    Forms used are removed from `forms`, which is keyed by name. A name that several of
    `people` have as an alias becomes a shared form.
    """
    if not people:
        return
    spelled: dict[str, list[str]] = {}
    for name in forms:
        spelled.setdefault(fold_name(name), []).append(name)
    bearers = _count_bearers(people)
    clusters_by_key: dict[str, list[PersonCluster]] = {}
    for noted in people:
        person = PersonCluster(noted=noted.name, noted_gender=noted.gender)
        for name in dict.fromkeys((noted.name, *noted.aliases)):
            key = fold_name(name)
            clusters_by_key.setdefault(key, []).append(person)
            if bearers[key] == 1 or key == fold_name(noted.name):
                name_forms = [forms.pop(n) for n in spelled.get(key, ()) if n in forms]
                _add_seed_forms(person, name, name_forms)
        clusters.people.append(person)
    for key, persons in clusters_by_key.items():
        shared = [forms.pop(n) for n in spelled.get(key, ()) if n in forms]
        clusters.shared += [(form, persons) for form in shared]


def _count_bearers(people: Sequence[NotePerson]) -> Counter[str]:
    """Count how many people have each name."""
    return Counter(name for person in people for name in _names(person))


def _add_seed_forms(
    person: PersonCluster, name: str, name_forms: Sequence[NameForm]
) -> None:
    title, words, of = parse_name_form(name)
    if not any(form.name == name for form in name_forms):
        person.add(NameForm(name, title, words, of), FROM_NOTES)
    for form in name_forms:
        person.add(form, FROM_NOTES)
    if len(words) == 1 and name[:1].isupper():
        person.givens.add(words[0].lower())


def infer_narrator_name(
    people: Sequence[PersonCluster], told_by: int, words: int
) -> str:
    """Return the name of the first-person narrator in one of its forms; "" if the
    evidence is weak.

    A narrator is often addressed by name in dialogue but hardly named in narration.
    `told_by` is the number of "I" outside quotations, `words` the number of words of
    the story.
    """
    if not _is_in_first_person(told_by, words):
        return ""
    fits = [person for person in people if _may_narrate(person)]
    cued_people = [person for person in fits if person.cue("narrator") >= 1]
    chosen = cued_people or fits
    chosen = sorted(chosen, key=lambda person: -person.cue("vocative"))
    if not chosen:
        return ""
    clear = len(chosen) == 1 or (
        chosen[0].cue("vocative") >= 2 * chosen[1].cue("vocative")
    )
    return next(iter(chosen[0].forms)) if clear else ""


def _is_in_first_person(told_by: int, words: int) -> bool:
    return told_by >= max(20, words / 200)


def _may_narrate(person: PersonCluster) -> bool:
    counts = sum_person_cues(person)
    narrated = counts["n"] - counts["quoted"]
    return (
        counts["vocative"] >= 4 and narrated <= counts["n"] / 5 and counts["tag"] <= 1
    )


def infer_cast(
    evidence: Sequence[NameEvidence],
    *,
    noted: Sequence[NotePerson] = (),
    decided: NameOverrides | None = None,
) -> Cast:
    """Infer the characters of a story from the name evidence of its documents.

    `evidence` is in story order. People in `noted` (from notes) are confirmed;
    `decided`, the user's canon decisions, outranks all other evidence.
    """
    documents = {str(row): item for row, item in enumerate(evidence)}
    return _infer_from_counts(NameCounts(documents), noted, decided or NameOverrides())


def _infer_from_counts(
    counts: NameCounts, noted: Sequence[NotePerson], decided: NameOverrides
) -> Cast:
    ignored = frozenset(fold_name(name) for name in decided.ignored)
    counted, totals, settle = counts.forms, counts.totals, counts.settle
    forms = (
        {n: form for n, form in counted.items() if fold_name(n) not in ignored}
        if ignored
        else counted
    )
    coordinated = sum_name_pairs(totals.apart, settle)
    alike = sum_name_pairs(totals.alike, settle)
    clusters = NameClusters(coordinated, alike, ignored, names=counted)
    unassigned = dict(forms)
    seed_name_clusters(merge_note_people(noted, decided), unassigned, clusters)
    cluster_name_forms(
        [form for name, form in unassigned.items() if name in counts.person_names],
        clusters,
    )
    split_namesakes(clusters)
    join_people_by_address(clusters, AddressPairs.settle(totals.address, settle))
    join_stated_names(clusters)
    _join_lisped_names(clusters)
    join_wives(clusters, sum_name_pairs(totals.weddings, settle), coordinated)
    unlisted = _drop_unsupported(
        clusters, decided, compute_min_mentions(totals.words_read)
    )
    _assign_shared_forms(clusters)
    apply_name_overrides(clusters, decided, unlisted, forms)
    return build_cast_from_clusters(
        clusters,
        decided.renamed,
        infer_narrator_name(clusters.people, totals.first_person, totals.words_read),
    )


def _assign_shared_forms(clusters: NameClusters) -> None:
    """Assign again the shared forms, among the candidates that are still in the
    clusters.

    A form whose candidates are all gone is dropped; one with several remains shared,
    unless one of them has far more mentions (see `NameClusters.give`).
    """
    listed = {id(person) for person in clusters.people}
    open_forms, clusters.shared = clusters.shared, []
    for form, people in open_forms:
        candidates = [person for person in people if id(person) in listed]
        candidates = clusters.fitting(form, candidates)
        if form.title == "miss" and len(candidates) > 1:
            clusters.shared.append((form, candidates))
        elif candidates:
            clusters.give(form, candidates, "most frequent character of that name")


def _drop_unsupported(
    clusters: NameClusters, decided: NameOverrides, least: int
) -> list[PersonCluster]:
    """Drop people with too little evidence, except those known to the user; return
    those dropped.
    """
    decided_names = {
        *decided.renamed,
        *(name for pair in decided.split for name in pair),
    }
    plain_known = {fold_name(name) for name in decided_names}
    everybody = clusters.people
    clusters.people = [
        person
        for person in everybody
        if person.noted
        or is_worth_listing(person, least)
        or not plain_known.isdisjoint(fold_name(name) for name in person.forms)
    ]
    listed = {id(person) for person in clusters.people}
    return [person for person in everybody if id(person) not in listed]


class CastInference:
    """Infers the cast of a story again and again, as its documents change.

    Only names in changed documents are counted again. A change that leaves all names as
    they are, as most do that add or remove no name, costs next to nothing.
    """

    def __init__(self) -> None:
        self._counts: NameCounts | None = None
        self._inputs: tuple[str, tuple[int, bool]] = "", (0, False)
        self._cast: Cast | None = None

    def recall(
        self,
        evidence: Mapping[str, NameEvidence],
        cast: Cast,
        *,
        noted: Sequence[NotePerson] = (),
        decided: NameOverrides,
    ) -> None:
        """Take `cast` as what `infer` returns for the same arguments."""
        self._counts, self._cast = NameCounts(evidence), cast
        self._inputs = _describe_inputs(self._counts, noted, decided)

    def infer(
        self,
        evidence: Mapping[str, NameEvidence],
        *,
        noted: Sequence[NotePerson] = (),
        decided: NameOverrides,
    ) -> Cast:
        """Return what `infer_cast` returns for the values of `evidence`.

        Its keys are ids of documents, in story order. An unchanged document must have
        the same object as at the last call.
        """
        counts, is_same = self._counts, False
        if counts is not None and counts.has_documents(evidence):
            is_same = counts.update(evidence)
        else:
            counts = NameCounts(evidence)
        inputs = _describe_inputs(counts, noted, decided)
        if self._cast is None or not is_same or inputs != self._inputs:
            self._cast = _infer_from_counts(counts, noted, decided)
        self._counts, self._inputs = counts, inputs
        return self._cast


def _describe_inputs(
    counts: NameCounts, noted: Sequence[NotePerson], decided: NameOverrides
) -> tuple[str, tuple[int, bool]]:
    """Return the people of notes and decisions, in their order, and all that an
    inference uses of the numbers of words and of "I".
    """
    totals = counts.totals
    is_told = _is_in_first_person(totals.first_person, totals.words_read)
    return repr((noted, decided)), (compute_min_mentions(totals.words_read), is_told)


_SOFT_C = re.compile(r"c(?=[eiy])")


def _join_lisped_names(clusters: NameClusters) -> None:
    """Merge somebody whose name is only spoken, with a lisp, into the bearer of the
    name: "Thuthan" is Susan.
    """
    bearers: dict[str, list[PersonCluster]] = {}
    for person in clusters.people:
        for given_name in person.givens:
            bearers.setdefault(_SOFT_C.sub("s", given_name), []).append(person)
    for person in list(clusters.people):
        spoken = [form for form in person.forms.values() if not form.narrated]
        if len(spoken) != len(person.forms) or person.noted:
            continue
        words = {w for form in spoken for word in form.words for w in unlisp(word)}
        namesakes = [
            other
            for word in words
            for other in bearers.get(_SOFT_C.sub("s", word), ())
            if other is not person
        ]
        if len(namesakes) == 1 and words:
            for form in spoken:
                namesakes[0].add(form, "the name with a lisp")
            clusters.remove(person)
            clusters.index.update(namesakes[0])
