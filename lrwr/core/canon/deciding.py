"""What a decision does to the canon. Pure: the last word wins, and nothing contradicts."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import TypeVar, assert_never

from lrwr.core.canon.model import (
    Canon,
    Decision,
    DocumentMoved,
    DocumentTypeSet,
    NameDecision,
    NameIgnored,
    NameRenamed,
    Names,
    NamesMerged,
    NamesSplit,
    Place,
    PointOfViewSet,
    StoryOrderSet,
    plain_name,
)
from lrwr.core.model.errors import SettingsProblem

Key = TypeVar("Key")
Value = TypeVar("Value")


def decided(canon: Canon, decision: Decision) -> Canon:
    """Return the canon as it is after `decision`.

    Raises:
        SettingsProblem: The decision says nothing, such as a name that is itself.
    """
    match decision:
        case DocumentTypeSet(document, kind):
            return replace(canon, types={**canon.types, document: kind})
        case StoryOrderSet(documents):
            return replace(canon, order=tuple(dict.fromkeys(documents)))
        case PointOfViewSet(place, character):
            views = {**canon.points_of_view, place: plain_name(character)}
            return replace(canon, points_of_view=views)
        case DocumentMoved():
            return _moved(canon, decision)
        case _:
            return replace(canon, names=_with(canon.names, decision))


def _with(names: Names, decision: NameDecision) -> Names:
    match decision:
        case NamesMerged(given, canonical):
            return _merged(names, given, canonical)
        case NamesSplit(one, other):
            return _split(names, *_two(one, other))
        case NameRenamed(old, new):
            return _renamed(names, *_two(old, new))
        case NameIgnored(name):
            return _ignored(names, plain_name(name))
        case _:
            assert_never(decision)


def _moved(canon: Canon, move: DocumentMoved) -> Canon:
    """Carry decisions over; what was decided about the new path already stays."""
    old, new = move.before, move.now
    views = {
        replace(place, document=new) if place.document == old else place: character
        for place, character in canon.points_of_view.items()
        if place.document != old
        or replace(place, document=new) not in canon.points_of_view
    }
    order = [d for d in canon.order if d != new] if old in canon.order else canon.order
    return replace(
        canon,
        types=_rekeyed(canon.types, old, new),
        order=tuple(new if document == old else document for document in order),
        points_of_view=views,
    )


def _rekeyed(given: Mapping[Key, Value], old: Key, new: Key) -> dict[Key, Value]:
    if new in given:
        return {key: value for key, value in given.items() if key != old}
    return {new if key == old else key: value for key, value in given.items()}


def _merged(names: Names, given: Iterable[str], canonical: str) -> Names:
    said = [plain_name(name) for name in given]
    chosen = plain_name(canonical) if canonical else _person(names, said[0])
    people = {_person(names, name): None for name in [chosen, *said]}
    all_names = {chosen: None} | dict.fromkeys(said) | people
    for person in people:
        all_names |= dict.fromkeys(names.merged.get(person, ()))
    others = tuple(name for name in all_names if name != chosen)
    if not others:
        raise SettingsProblem(
            f"{chosen} is one name only",
            hint='Name two or more: lrwr canon merge "Nell Tallow" Wren',
        )
    groups = {
        name: group
        for name, group in names.merged.items()
        if name == chosen or name not in all_names
    }
    return Names(
        merged={**groups, chosen: others},
        split=tuple(pair for pair in names.split if not all_names.keys() >= {*pair}),
        renamed={o: n for o, n in names.renamed.items() if o not in others},
        ignored=_without(names.ignored, all_names),
    )


def _split(names: Names, one: str, other: str) -> Names:
    merged = dict(names.merged)
    for canonical, group in names.merged.items():
        if {one, other} <= {canonical, *group}:
            leaves = one if other == canonical else other
            merged[canonical] = tuple(name for name in group if name != leaves)
    pair = (one, other) if one < other else (other, one)
    return Names(
        merged={name: group for name, group in merged.items() if group},
        split=names.split if pair in names.split else (*names.split, pair),
        renamed={o: n for o, n in names.renamed.items() if {o, n} != {*pair}},
        ignored=_without(names.ignored, pair),
    )


def _renamed(names: Names, old: str, new: str) -> Names:
    person = _person(names, old)
    renamed = {**names.renamed, person: new}
    if person == new:
        del renamed[person]
    return replace(
        names,
        split=tuple(pair for pair in names.split if {*pair} != {person, new}),
        renamed=renamed,
        ignored=_without(names.ignored, (old, person, new)),
    )


def _ignored(names: Names, name: str) -> Names:
    merged: dict[str, tuple[str, ...]] = {}
    for canonical, group in names.merged.items():
        left = [one for one in (canonical, *group) if one != name]
        if len(left) > 1:
            merged[left[0]] = tuple(left[1:])
    return Names(
        merged=merged,
        split=tuple(pair for pair in names.split if name not in pair),
        renamed={o: n for o, n in names.renamed.items() if name not in (o, n)},
        ignored=names.ignored if name in names.ignored else (*names.ignored, name),
    )


def _person(names: Names, name: str) -> str:
    """Return the name that stands for whoever is called `name`."""
    for person, new in names.renamed.items():
        if new == name:
            return person
    for canonical, others in names.merged.items():
        if name in others:
            return canonical
    return name


def _two(one: str, other: str) -> tuple[str, str]:
    one, other = plain_name(one), plain_name(other)
    if one == other:
        raise SettingsProblem(
            f"{one} and {other} are the same name", hint="Name two different ones."
        )
    return one, other


def _without(names: tuple[str, ...], gone: Collection[str]) -> tuple[str, ...]:
    return tuple(name for name in names if name not in gone)


def documents_of(canon: Canon) -> dict[str, tuple[str, ...]]:
    """Return each document something was decided about, and what: in a word each."""
    found: dict[str, list[str]] = {}
    for document in canon.types:
        found.setdefault(document, []).append("type")
    for document in canon.order:
        found.setdefault(document, []).append("order")
    for document in dict.fromkeys(place.document for place in canon.points_of_view):
        found.setdefault(document, []).append("point of view")
    return {document: tuple(words) for document, words in found.items()}


def places_in(canon: Canon) -> tuple[Place, ...]:
    """Return the chapters and scenes something was decided about."""
    return tuple(p for p in canon.points_of_view if p.chapter or p.scene)
