"""What the writer says about names: in notes, and in decisions."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from lrwr.core.model.cast import Gender
from lrwr.core.nlp.names.clustering import Grouping
from lrwr.core.nlp.names.name_form import Form, parsed
from lrwr.core.nlp.names.person import Person


@dataclass(frozen=True, slots=True)
class NotedPerson:
    """Somebody whom the writer's notes name."""

    name: str
    aliases: tuple[str, ...] = ()
    gender: Gender = Gender.UNKNOWN


@dataclass(frozen=True, slots=True)
class DecidedNames:
    """Who is who, as the writer decided; it outranks text and notes.

    `merged` gives for one name of a person all of the others. `split` holds pairs of
    names that belong to two people. `renamed` says how a person is to be called.
    `ignored` are words that name nobody.
    """

    merged: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    split: tuple[tuple[str, str], ...] = ()
    renamed: Mapping[str, str] = field(default_factory=dict)
    ignored: tuple[str, ...] = ()


@lru_cache(maxsize=50_000)
def plain(name: str) -> str:
    """Return a name as it is compared: case, stops and a leading article aside."""
    words = name.replace(".", ". ").replace("’", "'").casefold().split()
    if len(words) > 1 and words[0] in ("the", "a", "an"):
        words.pop(0)
    return " ".join(word.rstrip(".") for word in words)


def told(noted: Sequence[NotedPerson], decided: DecidedNames) -> list[NotedPerson]:
    """Return the people whom the writer named, as decisions leave them.

    Two notes are of one person where one has the other's name; two people may have
    another name in common.
    """
    people = [NotedPerson(name, group) for name, group in decided.merged.items()]
    merged = len(people)
    ignored = {plain(name) for name in decided.ignored}
    for person in noted:
        same = [
            place
            for place, one in enumerate(people)
            if (_names(one) & _names(person) if place < merged else _same(one, person))
        ]
        if same:
            people[same[0]] = _joined(people[same[0]], person)
        else:
            people.append(person)
    kept = (_without(person, ignored, decided.split) for person in people)
    return [person for person in kept if person is not None]


def _same(one: NotedPerson, other: NotedPerson) -> bool:
    return plain(one.name) in _names(other) or plain(other.name) in _names(one)


def _names(person: NotedPerson) -> set[str]:
    return {plain(name) for name in (person.name, *person.aliases)}


def _joined(one: NotedPerson, other: NotedPerson) -> NotedPerson:
    aliases = dict.fromkeys((*one.aliases, other.name, *other.aliases))
    aliases.pop(one.name, None)
    gender = one.gender if one.gender is not Gender.UNKNOWN else other.gender
    return NotedPerson(one.name, tuple(aliases), gender)


def _without(
    person: NotedPerson, ignored: Collection[str], split: Iterable[tuple[str, str]]
) -> NotedPerson | None:
    """Drop what is ignored, and of a split pair the name that comes later."""
    apart = {frozenset((plain(one), plain(other))) for one, other in split}
    kept: list[str] = []
    for name in (person.name, *person.aliases):
        contradicts = any(frozenset((plain(name), plain(k))) in apart for k in kept)
        if plain(name) not in ignored and not contradicts:
            kept.append(name)
    if not kept:
        return None
    return NotedPerson(kept[0], tuple(kept[1:]), person.gender)


def seed(people: Sequence[NotedPerson], forms: dict[str, Form], to: Grouping) -> None:
    """Begin `to` with the people whom the writer named, and take their forms away."""
    spelled: dict[str, list[str]] = {}
    for name in forms:
        spelled.setdefault(plain(name), []).append(name)
    bearers = _bearers(people)
    begun: dict[str, list[Person]] = {}
    for noted in people:
        person = Person(noted=noted.name, noted_gender=noted.gender)
        for name in dict.fromkeys((noted.name, *noted.aliases)):
            key = plain(name)
            begun.setdefault(key, []).append(person)
            if bearers[key] == 1 or key == plain(noted.name):
                found = [forms.pop(n) for n in spelled.get(key, ()) if n in forms]
                _seed_name(person, name, found)
        to.people.append(person)
    for key, persons in begun.items():
        shared = [forms.pop(n) for n in spelled.get(key, ()) if n in forms]
        to.shared += [(form, persons) for form in shared]


def _bearers(people: Sequence[NotedPerson]) -> Counter[str]:
    """Count who bears each name."""
    return Counter(name for person in people for name in _names(person))


def _seed_name(person: Person, name: str, found: Sequence[Form]) -> None:
    title, words, of = parsed(name)
    if not any(form.name == name for form in found):
        person.add(Form(name, title, words, of), "in the writer's notes")
    for form in found:
        person.add(form, "in the writer's notes")
    if len(words) == 1 and name[:1].isupper():
        person.givens.add(words[0].lower())


def split_pairs(
    decided: DecidedNames, names: Iterable[str]
) -> dict[frozenset[str], int]:
    """Return the split pairs as the text spells them."""
    spelled: dict[str, list[str]] = {}
    for name in names:
        spelled.setdefault(plain(name), []).append(name)
    pairs: dict[frozenset[str], int] = {}
    for one, other in decided.split:
        for a in {one, *spelled.get(plain(one), ())}:
            pairs |= {
                frozenset((a, b)): 1 for b in {other, *spelled.get(plain(other), ())}
            }
    return pairs
