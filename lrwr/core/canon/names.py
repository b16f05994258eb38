"""What a decision does to names, so that none contradicts another."""

from collections.abc import Collection, Iterable
from dataclasses import replace
from itertools import chain
from typing import assert_never

from lrwr.core.canon.decision import (
    NameConfirmed,
    NameDecision,
    NameIgnored,
    NameRenamed,
    NamesMerged,
    NamesSplit,
)
from lrwr.core.canon.model import (
    CanonNames,
    belongs_to_other_person,
    normalize_canon_name,
    resolve_canon_person,
)
from lrwr.core.model.errors import SettingsProblem


def apply_name_decision(names: CanonNames, decision: NameDecision) -> CanonNames:
    """Return names as they are after `decision`; what contradicts it is gone.

    Raises:
        SettingsProblem: The decision says nothing, or gives two people one name.
    """
    match decision:
        case NamesMerged(merged_names, canonical):
            return _consistent(_merged(names, merged_names, canonical))
        case NamesSplit(split_name, other):
            return _consistent(_split(names, *_two(split_name, other)))
        case NameRenamed(old, new):
            return _consistent(_renamed(names, *_two(old, new)))
        case NameIgnored(name):
            return _ignored(names, normalize_canon_name(name))
        case NameConfirmed(name):
            return _confirmed(names, normalize_canon_name(name))
        case _:
            assert_never(decision)


def _merged(
    names: CanonNames, names_to_merge: Iterable[str], canonical: str
) -> CanonNames:
    normalized_names = [normalize_canon_name(name) for name in names_to_merge]
    canonical_name = (
        normalize_canon_name(canonical)
        if canonical
        else resolve_canon_person(names, normalized_names[0])
    )
    people = [
        resolve_canon_person(names, name)
        for name in (canonical_name, *normalized_names)
    ]
    groups = chain(*(names.merged.get(person, ()) for person in people))
    own_group = names.merged.get(canonical_name, ())
    member_names = dict.fromkeys(
        [canonical_name, *own_group, *normalized_names, *people, *groups]
    )
    others = tuple(name for name in member_names if name != canonical_name)
    if not others:
        raise SettingsProblem(
            f"{canonical_name} is one name only",
            hint='Name two or more: lrwr canon merge "Nell Tallow" Wren',
        )
    other_groups = {
        n: g
        for n, g in names.merged.items()
        if n == canonical_name or n not in member_names
    }
    return CanonNames(
        merged={**other_groups, canonical_name: others},
        split=names.split,
        renamed={old: new for old, new in names.renamed.items() if old not in others},
        ignored=_without(names.ignored, member_names),
        confirmed=names.confirmed,
    )


def _split(names: CanonNames, split_name: str, other: str) -> CanonNames:
    renamed = {o: n for o, n in names.renamed.items() if {o, n} != {split_name, other}}
    bearers = {new: old for old, new in renamed.items()}
    split_name, other = bearers.get(split_name, split_name), bearers.get(other, other)
    merged = dict(names.merged)
    for canonical, group in names.merged.items():
        if {split_name, other} <= {canonical, *group}:
            leaves = split_name if other == canonical else other
            merged[canonical] = tuple(name for name in group if name != leaves)
    pair = (split_name, other) if split_name < other else (other, split_name)
    return CanonNames(
        merged={name: group for name, group in merged.items() if group},
        split=names.split if pair in names.split else (*names.split, pair),
        renamed=renamed,
        ignored=_without(names.ignored, pair),
        confirmed=names.confirmed,
    )


def _renamed(names: CanonNames, old: str, new: str) -> CanonNames:
    person = resolve_canon_person(names, old)
    if new in names.renamed.values() or belongs_to_other_person(names, person, new):
        if names.renamed.get(person) == new:
            return names
        raise SettingsProblem(
            f"{new} is somebody else's name already",
            hint=f'Say that they are one person: lrwr canon merge "{new}" "{old}"',
        )
    renamed = {**names.renamed, person: new}
    if person == new:
        del renamed[person]
    ignored = _without(names.ignored, (old, person, new))
    return replace(names, renamed=renamed, ignored=ignored)


def _ignored(names: CanonNames, name: str) -> CanonNames:
    merged: dict[str, tuple[str, ...]] = {}
    for canonical, group in names.merged.items():
        remaining_names = [member for member in (canonical, *group) if member != name]
        if len(remaining_names) > 1:
            merged[remaining_names[0]] = tuple(remaining_names[1:])
    return CanonNames(
        merged=merged,
        split=tuple(pair for pair in names.split if name not in pair),
        renamed={o: n for o, n in names.renamed.items() if name not in (o, n)},
        ignored=names.ignored if name in names.ignored else (*names.ignored, name),
        confirmed=_without(names.confirmed, (name,)),
    )


def _confirmed(names: CanonNames, name: str) -> CanonNames:
    if name in names.confirmed:
        return names
    return replace(
        names,
        ignored=_without(names.ignored, (name,)),
        confirmed=(*names.confirmed, name),
    )


def _consistent(names: CanonNames) -> CanonNames:
    """Drop the pairs that are one person now."""
    apart = (
        pair
        for pair in names.split
        if resolve_canon_person(names, pair[0]) != resolve_canon_person(names, pair[1])
    )
    return replace(names, split=tuple(apart))


def _two(name: str, other: str) -> tuple[str, str]:
    name, other = normalize_canon_name(name), normalize_canon_name(other)
    if name == other:
        raise SettingsProblem(
            f"{name} and {other} are the same name", hint="Name two different ones."
        )
    return name, other


def _without(names: tuple[str, ...], removed_names: Collection[str]) -> tuple[str, ...]:
    return tuple(name for name in names if name not in removed_names)
