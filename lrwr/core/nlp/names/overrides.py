"""What the writer says about names: in notes, and in decisions."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from lrwr.core.model.cast import Gender
from lrwr.core.nlp.names.clustering import NameClusters
from lrwr.core.nlp.names.lexicon import fold_name
from lrwr.core.nlp.names.name_form import NameForm, parse_name_form
from lrwr.core.nlp.names.person import PersonCluster


@dataclass(frozen=True, slots=True)
class NotePerson:
    """Somebody whom the writer's notes name."""

    name: str
    aliases: tuple[str, ...] = ()
    gender: Gender = Gender.UNKNOWN


@dataclass(frozen=True, slots=True)
class NameOverrides:
    """Who is who, as the writer decided; it outranks text and notes.

    `merged` gives for one name of a person all of the others. `split` holds pairs of
    names that belong to two people. `renamed` says how a person is to be called.
    `ignored` are words that name nobody.
    """

    merged: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    split: tuple[tuple[str, str], ...] = ()
    renamed: Mapping[str, str] = field(default_factory=dict)
    ignored: tuple[str, ...] = ()


def apply_name_overrides(
    noted: Sequence[NotePerson], decided: NameOverrides
) -> list[NotePerson]:
    """Return the people whom the writer named, as decisions leave them.

    Two notes are of one person where one has the other's name; two people may have
    another name in common.
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
                else _same(earlier, person)
            )
        ]
        if same:
            people[same[0]] = _joined(people[same[0]], person)
        else:
            people.append(person)
    remaining = (_without(person, ignored, decided.split) for person in people)
    return [person for person in remaining if person is not None]


def _same(note_person: NotePerson, second_person: NotePerson) -> bool:
    return fold_name(note_person.name) in _names(second_person) or fold_name(
        second_person.name
    ) in _names(note_person)


def _names(person: NotePerson) -> set[str]:
    return {fold_name(name) for name in (person.name, *person.aliases)}


def _joined(note_person: NotePerson, second_person: NotePerson) -> NotePerson:
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


def _without(
    person: NotePerson, ignored: Collection[str], split: Iterable[tuple[str, str]]
) -> NotePerson | None:
    """Drop what is ignored, and of a split pair the name that comes later."""
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
    people: Sequence[NotePerson], forms: dict[str, NameForm], to: NameClusters
) -> None:
    """Begin `to` with the people whom the writer named, and take their forms away."""
    spelled: dict[str, list[str]] = {}
    for name in forms:
        spelled.setdefault(fold_name(name), []).append(name)
    bearers = _bearers(people)
    clusters_by_key: dict[str, list[PersonCluster]] = {}
    for noted in people:
        person = PersonCluster(noted=noted.name, noted_gender=noted.gender)
        for name in dict.fromkeys((noted.name, *noted.aliases)):
            key = fold_name(name)
            clusters_by_key.setdefault(key, []).append(person)
            if bearers[key] == 1 or key == fold_name(noted.name):
                name_forms = [forms.pop(n) for n in spelled.get(key, ()) if n in forms]
                _seed_name(person, name, name_forms)
        to.people.append(person)
    for key, persons in clusters_by_key.items():
        shared = [forms.pop(n) for n in spelled.get(key, ()) if n in forms]
        to.shared += [(form, persons) for form in shared]


def _bearers(people: Sequence[NotePerson]) -> Counter[str]:
    """Count who bears each name."""
    return Counter(name for person in people for name in _names(person))


def _seed_name(
    person: PersonCluster, name: str, name_forms: Sequence[NameForm]
) -> None:
    title, words, of = parse_name_form(name)
    if not any(form.name == name for form in name_forms):
        person.add(NameForm(name, title, words, of), "in the writer's notes")
    for form in name_forms:
        person.add(form, "in the writer's notes")
    if len(words) == 1 and name[:1].isupper():
        person.givens.add(words[0].lower())


def match_split_pairs(
    decided: NameOverrides, names: Iterable[str]
) -> dict[frozenset[str], int]:
    """Return the split pairs as the text spells them."""
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
