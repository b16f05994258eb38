"""Relations that follow from two known ones: a mother's sister is an aunt."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations

from lrwr.core.bible.kin_directory import (
    EQUAL,
    FAMILY,
    JUNIOR,
    SENIOR,
    KinDirectory,
    KinTerm,
    choose_noun,
)


@dataclass(frozen=True, slots=True)
class KinLink:
    """A known relation of two characters by displayed name.

    If the relation `term` is symmetric, either of the two is `senior`.
    """

    senior: str
    junior: str
    term: KinTerm


@dataclass(frozen=True, slots=True)
class DerivedRelation:
    """What follows from `links`: `target` is the `kind` of `source`."""

    source: str
    target: str
    kind: str
    links: tuple[KinLink, ...]


@dataclass(frozen=True, slots=True)
class _KinStep:
    """A link seen from one of the two: `other` is on `side` of it."""

    other: str
    side: int
    link: KinLink


_RULES: Mapping[tuple[str, int, str, int], tuple[str, int]] = {
    ("parent", SENIOR, "sibling", EQUAL): ("auntuncle", SENIOR),
    ("parent", SENIOR, "parent", SENIOR): ("grandparent", SENIOR),
    ("parent", SENIOR, "parent", JUNIOR): ("sibling", EQUAL),
    ("parent", SENIOR, "spouse", EQUAL): ("parent", SENIOR),
    ("sibling", EQUAL, "sibling", EQUAL): ("sibling", EQUAL),
    ("sibling", EQUAL, "parent", SENIOR): ("parent", SENIOR),
    ("sibling", EQUAL, "spouse", EQUAL): ("siblinginlaw", EQUAL),
    ("sibling", EQUAL, "auntuncle", SENIOR): ("auntuncle", SENIOR),
    ("auntuncle", SENIOR, "spouse", EQUAL): ("auntuncle", SENIOR),
    ("spouse", EQUAL, "parent", SENIOR): ("parentinlaw", SENIOR),
}
"""Two relations, each with the side of the one who is reached, and what the second one
reached is to the first person."""
_Conclusion = tuple[str, str, str, int]
"""Source, target, relation and the target's side of it."""


def derive_relations(
    links: Sequence[KinLink], people: KinDirectory
) -> Iterator[DerivedRelation]:
    """Yield the relations that follow from two of `links`, sorted by name.

    Nothing follows for a pair with a known relation of the family, or for which
    different ones would follow. A mother's husband is a father, and a sister's father
    too, only if they share a surname with the child.
    """
    family_pairs = {
        frozenset((link.senior, link.junior))
        for link in links
        if link.term.base in FAMILY
    }
    conclusions_by_pair: dict[
        frozenset[str], dict[_Conclusion, dict[KinLink, None]]
    ] = {}
    for steps in _collect_steps(links).values():
        for first, second in permutations(steps, 2):
            conclusion = _conclude(first, second, people)
            if conclusion is not None:
                conclusions = conclusions_by_pair.setdefault(
                    frozenset(conclusion[:2]), {}
                )
                sources = conclusions.setdefault(conclusion, {})
                sources |= dict.fromkeys((first.link, second.link))
    for pair in sorted(conclusions_by_pair, key=sorted):
        if pair in family_pairs or len(conclusions_by_pair[pair]) > 1:
            continue
        ((source, target, base, side), sources), *_ = conclusions_by_pair[pair].items()
        kind = choose_noun(base, side, people.gender(target))
        yield DerivedRelation(source, target, kind, tuple(sources))


def _collect_steps(links: Sequence[KinLink]) -> Mapping[str, list[_KinStep]]:
    """Return the links of each character, seen from that character."""
    steps: dict[str, list[_KinStep]] = {}
    for link in links:
        is_equal = link.term.side == EQUAL
        up, down = (EQUAL, EQUAL) if is_equal else (SENIOR, JUNIOR)
        steps.setdefault(link.junior, []).append(_KinStep(link.senior, up, link))
        steps.setdefault(link.senior, []).append(_KinStep(link.junior, down, link))
    return steps


def _conclude(
    first: _KinStep, second: _KinStep, people: KinDirectory
) -> _Conclusion | None:
    """Return what follows for the two who are reached from the same character.

    Seen from the first of them, that character is on the other side of the first link.
    """
    start, end = first.other, second.other
    bases = first.link.term.base, second.link.term.base
    rule = _RULES.get((bases[0], -first.side, bases[1], second.side))
    if rule is None or start == end:
        return None
    base, side = rule
    if base == "parent" and not people.shares_surname(start, end):
        return None
    if base == "parent" and bases[0] == "sibling" and people.may_be_wife(end, start):
        return None
    source, target = (start, end) if side == SENIOR else sorted((start, end))
    return source, target, base, side
