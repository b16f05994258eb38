"""Names that the author's notes and the user's canon decisions determine."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from lrwr.core.model.cast import Gender
from lrwr.core.nlp.names.clustering import NameClusters
from lrwr.core.nlp.names.lexicon import fold_name
from lrwr.core.nlp.names.name_form import NameForm, parse_name_form
from lrwr.core.nlp.names.person import PersonCluster

FROM_NOTES = "from your notes or decisions"
"""Reason for which a name form belongs to a person set by the user."""


@dataclass(frozen=True, slots=True)
class NotePerson:
    """A person named in the author's notes or the user's decisions."""

    name: str
    aliases: tuple[str, ...] = ()
    gender: Gender = Gender.UNKNOWN


@dataclass(frozen=True, slots=True)
class NameOverrides:
    """The user's canon decisions on names; they outrank text and notes.

    `merged` maps the main name of a person to other names of the same person. `split`
    holds pairs of names of two different people. `renamed` maps a name to the name to
    display. `ignored` are words that are not characters.
    """

    merged: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    split: tuple[tuple[str, str], ...] = ()
    renamed: Mapping[str, str] = field(default_factory=dict)
    ignored: tuple[str, ...] = ()


def apply_name_overrides(
    noted: Sequence[NotePerson], decided: NameOverrides
) -> list[NotePerson]:
    """Return the people of notes and decisions, each once, those of decisions first.

    Two notes describe one person if one has the other's main name; a common alias is
    not enough. Names in `decided.ignored` are removed, and aliases that `decided.split`
    separates from the other names.
    """
    people = [NotePerson(name, group) for name, group in decided.merged.items()]
    merged = len(people)
    ignored = {fold_name(name) for name in decided.ignored}
    for person in noted:
        same = [
            place
            for place, earlier in enumerate(people)
            if (
                _names(earlier) & _names(person)
                if place < merged
                else _is_same_person(earlier, person)
            )
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


def match_split_pairs(
    decided: NameOverrides, names: Iterable[str]
) -> dict[frozenset[str], int]:
    """Return the pairs of names that the user decided to be two people, in every
    spelling that occurs in `names`.

    A key holds the two names; each value is 1, as in `NameClusters.apart`.
    """
    spelled: dict[str, list[str]] = {}
    for name in names:
        spelled.setdefault(fold_name(name), []).append(name)
    pairs: dict[frozenset[str], int] = {}
    for first, second in decided.split:
        for a in {first, *spelled.get(fold_name(first), ())}:
            pairs |= {
                frozenset((a, b)): 1
                for b in {second, *spelled.get(fold_name(second), ())}
            }
    return pairs
