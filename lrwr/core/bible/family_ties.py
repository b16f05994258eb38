"""All signs of one relation of two people, and what relations say about each other.

A mother's sister is an aunt, cues for an uncle support his wife, a sister is no mother.
"""

from bisect import bisect_left
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import permutations

from lrwr.core.bible.kin_directory import MARRIED_TITLES, NAME_TITLES, KinDirectory
from lrwr.core.bible.kin_terms import (
    EQUAL,
    FAMILY,
    JUNIOR,
    NUCLEAR,
    SENIOR,
    FamilyKey,
    KinTerm,
    choose_noun,
    read_kin_term,
)
from lrwr.core.bible.profiles import SourcedFact, normalize_attribute
from lrwr.core.model.cast import Gender
from lrwr.core.model.facts import Fact, RelationCue


@dataclass(frozen=True, slots=True)
class RelationTie:
    """One statement or cue that `target` is the `kind` of `source`.

    `stated` is false for a cue, which counts only together with others.
    """

    source: str
    target: str
    kind: str
    weight: float
    stated: bool
    fact: SourcedFact
    ruled: bool

    @property
    def sign(self) -> str:
        """The kind of cue; empty for a statement."""
        return self.fact.fact.detail("sign")


COUPLE_PLACES = 4
"""Number of places with "Mr. and Mrs. Vale" from which they are a couple anyway."""
ENOUGH = 1.0
"""Total weight from which cues show a relation that no sentence states."""
_BY_SURNAME = frozenset({"", RelationCue.OWNER, RelationCue.UNNAMED})
"""Signs that name nobody, or only "Mr. and Mrs." and a surname."""
OwnedKin = tuple[str, KinTerm]
"""Somebody, and what another person is to them."""


def _tie_place(tie: RelationTie) -> tuple[str, int]:
    return tie.fact.evidence.document, tie.fact.evidence.spans[0].start


@dataclass(frozen=True, slots=True)
class RelationGroup:
    """All ties of one pair and one relation, in story order.

    For a known relation, `first` is the senior of the two, or the first by name.
    """

    key: FamilyKey
    ties: tuple[RelationTie, ...]
    term: KinTerm | None
    unnamed: float = 0.0
    """Weight of other cues of the same kin without a name: "my nephew"."""
    shared: float = 0.0
    """Weight of the same relation of the closest relatives; see `share_weights`."""

    @property
    def weight(self) -> float:
        """The weight of the ties, with that of the closest relatives."""
        return round(self.own_weight + self.shared, 6)

    @property
    def own_weight(self) -> float:
        """The sum of the weights; of ties whose words overlap, the greatest counts."""
        total, greatest, document, end = 0.0, 0.0, "", 0
        for tie in sorted(self.ties, key=_tie_place):
            evidence = tie.fact.evidence
            if evidence.document == document and evidence.spans[0].start < end:
                greatest = max(greatest, tie.weight)
            else:
                total, greatest = total + greatest, tie.weight
            document, end = evidence.document, evidence.spans[0].end
        # Rounded, so that the order of documents cannot decide.
        return round(total + greatest + self.unnamed, 6)

    @property
    def is_by_surname(self) -> bool:
        """Whether no place names the second person, except by a surname."""
        return all(tie.sign in _BY_SURNAME for tie in self.ties)

    @property
    def is_mutual(self) -> bool:
        """Whether narration and names show the relation from both sides, as father and
        as son. In address, people say "father" to others, too.
        """
        weak = _BY_SURNAME | {RelationCue.ADDRESS}
        return len({tie.kind for tie in self.ties if tie.sign not in weak}) > 1

    @property
    def has_wife(self) -> bool:
        """Whether "his wife" alone suffices: of a man with a mother of the same name,
        the wife has it, too.
        """
        wives = [tie.weight for tie in self.ties if tie.sign and tie.kind == "wife"]
        return round(sum(wives), 6) >= ENOUGH

    def kin(self, sign: str = "") -> frozenset[OwnedKin]:
        """Return who has which kin by the ties; with `sign`, by those of this kind."""
        kin = set()
        for tie in self.ties:
            term = None if sign and tie.sign != sign else read_kin_term(tie.kind)
            if term is not None:
                kin.add((tie.source, term))
            if term is not None and term.side == EQUAL and not sign:
                kin.add((tie.target, term))
        return frozenset(kin)

    @property
    def ruled(self) -> bool:
        """Whether only rules found it."""
        return all(tie.ruled for tie in self.ties)


def make_relation_key(tie: RelationTie) -> FamilyKey:
    """Return the two people of a tie and its relation: one key for "sister" and
    "brother" of the same two.
    """
    term = read_kin_term(tie.kind)
    if term is None:
        return tie.source, tie.target, normalize_attribute(tie.kind)
    if term.side == SENIOR:
        return tie.target, tie.source, f"~{term.base}"
    if term.side == JUNIOR:
        return tie.source, tie.target, f"~{term.base}"
    first, second = sorted((tie.source, tie.target))
    return first, second, f"~{term.base}"


def complete_names(
    ties: Sequence[RelationTie], people: KinDirectory
) -> Iterator[RelationTie]:
    """Yield `ties` with a bare given name replaced by the only full name that has it:
    "Annis" by "Annis Vale", if neither is a character and no character has the word.
    """
    names = {name for tie in ties for name in (tie.source, tie.target)}
    strangers = {name for name in names if not people.cast.resolve_name(name)}
    full_names: dict[str, str] = {}
    ordered = sorted(strangers)
    for name in strangers:
        candidates = _list_longer(name, ordered)
        if len(candidates) == 1 and not people.is_name_word(name):
            full_names[name] = candidates[0]
    for tie in ties:
        source, target = (full_names.get(n, n) for n in (tie.source, tie.target))
        if source != target:
            yield replace(tie, source=source, target=target)


def _list_longer(name: str, ordered: Sequence[str]) -> Sequence[str]:
    """Return the names in `ordered`, sorted, that begin with `name` and a space."""
    first = bisect_left(ordered, f"{name} ")
    return ordered[first : bisect_left(ordered, f"{name}!", first)]


def is_couple(fact: Fact) -> bool:
    """Return whether the fact is "Mr. and Mrs. Vale": two titles and one surname."""
    husband, wife = fact.subject.partition(" "), fact.detail("target").partition(" ")
    is_titled = wife[0].rstrip(".") in MARRIED_TITLES
    return is_titled and husband[0].rstrip(".") in NAME_TITLES and husband[2] == wife[2]


def is_known_couple(group: RelationGroup) -> bool:
    """Return whether "Mr. and Mrs. Vale" stands in so many places that hardly another
    two can be meant, although other men have the name.
    """
    couples = (
        tie
        for tie in group.ties
        if is_couple(tie.fact.fact)
        and tie.source.replace(".", "") == tie.fact.fact.subject.replace(".", "")
    )
    return sum(1 for _ in couples) >= COUPLE_PLACES


def drop_other_partners(groups: Sequence[RelationGroup]) -> list[RelationGroup]:
    """Return the groups without parents by surname alone who are married to somebody
    else than the other parent: "his mother" is not the Mrs. Vale of an uncle.
    """
    partners: dict[str, set[str]] = {}
    parents: dict[str, set[str]] = {}
    for group in groups:
        first, second, _ = group.key
        if group.term is not None and group.term.base == "spouse":
            partners.setdefault(first, set()).add(second)
            partners.setdefault(second, set()).add(first)
        if group.term is not None and group.term.base == "parent":
            parents.setdefault(second, set()).add(first)
    return [
        group
        for group in groups
        if group.term is None
        or group.term.base != "parent"
        or not (group.ruled and group.is_by_surname)
        or not (others := parents[group.key[1]] - {group.key[0]})
        or not (spouses := partners.get(group.key[0]))
        or others & spouses
    ]


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
    ("parent", JUNIOR, "parent", SENIOR): ("spouse", EQUAL),
    ("sibling", EQUAL, "sibling", EQUAL): ("sibling", EQUAL),
    ("sibling", EQUAL, "parent", SENIOR): ("parent", SENIOR),
    ("sibling", EQUAL, "spouse", EQUAL): ("siblinginlaw", EQUAL),
    ("sibling", EQUAL, "auntuncle", SENIOR): ("auntuncle", SENIOR),
    ("auntuncle", SENIOR, "spouse", EQUAL): ("auntuncle", SENIOR),
    ("spouse", EQUAL, "parent", SENIOR): ("parentinlaw", SENIOR),
}
"""Two relations, each with the side of the one who is reached, and what the second one
reached is to the first person."""
_STEPS = 3
"""Rounds of conclusions among parents and children."""
_MIN_OWN = 0.3
"""Weight of a relation's own cues from which relatives support it: one cue."""
_MIN_EXPLAINED = 0.6
"""Weight of its own cues from which a known relation that follows supports it."""
_EXPLAINS = 0.5
"""Weight of a known relation that follows from a supposed one."""
_SENIOR_KIN = frozenset({"~parent", "~auntuncle", "~grandparent"})
_Conclusion = tuple[str, str, str, int]
"""Source, target, relation and the target's side of it."""


def derive_relations(
    links: Sequence[KinLink], people: KinDirectory
) -> Iterator[DerivedRelation]:
    """Yield the relations that follow from `links`, sorted by name: parents, brothers
    and sisters in several steps, others from two links.

    Nothing follows for a pair with a known relation of the family, or for which
    different ones would follow. A mother's husband is a father, and a sister's father
    too, only if they share a surname with the child.
    """
    pairs = {
        frozenset((link.senior, link.junior))
        for link in links
        if link.term.base in FAMILY
    }
    origins: dict[KinLink, tuple[KinLink, ...]] = {link: (link,) for link in links}
    derived: dict[frozenset[str], DerivedRelation] = {}
    for _ in range(_STEPS):
        close = [link for link in origins if link.term.base in NUCLEAR]
        partners = [link for link in links if link.term.base == "spouse"]
        new = _conclude_all([*close, *partners], origins, pairs, people)
        new = {pair: d for pair, d in new.items() if _base_of(d) in NUCLEAR}
        if not new:
            break
        pairs |= new.keys()
        derived |= new
        origins |= {_link_of(relation): relation.links for relation in new.values()}
    derived |= _conclude_all(links, origins, pairs, people)
    for pair in sorted(derived, key=sorted):
        # A name that several people share may be another one of the same person.
        owners = [set(people.cast.list_owners(name)) for name in pair]
        if not set.intersection(*owners):
            yield derived[pair]


def _conclude_all(
    links: Sequence[KinLink],
    origins: Mapping[KinLink, tuple[KinLink, ...]],
    pairs: Collection[frozenset[str]],
    people: KinDirectory,
) -> dict[frozenset[str], DerivedRelation]:
    """Return the relation that follows from two of `links` for each pair that is not
    in `pairs`, if it is only one. `origins` are the links that each one follows from.
    """
    by_pair: dict[frozenset[str], dict[_Conclusion, dict[KinLink, None]]] = {}
    for steps in _collect_steps(links).values():
        for first, second in permutations(steps, 2):
            conclusion = _conclude(first, second, people)
            if conclusion is not None:
                conclusions = by_pair.setdefault(frozenset(conclusion[:2]), {})
                sources = conclusions.setdefault(conclusion, {})
                sources |= dict.fromkeys((*origins[first.link], *origins[second.link]))
    derived = {}
    parents = {
        (link.junior, people.gender(link.senior))
        for link in links
        if link.term.base == "parent"
    }
    couples = [link for link in links if link.term.base == "spouse"]
    partners = {name for link in couples for name in (link.senior, link.junior)}
    for pair, conclusions in by_pair.items():
        if pair in pairs or len(conclusions) > 1:
            continue
        ((source, target, base, side), sources), *_ = conclusions.items()
        if base == "spouse" and not partners.isdisjoint(pair):
            continue
        if base == "parent" and (source, people.gender(target)) in parents:
            continue
        kind = choose_noun(base, side, people.gender(target))
        derived[pair] = DerivedRelation(source, target, kind, tuple(sources))
    return derived


def _base_of(relation: DerivedRelation) -> str:
    term = read_kin_term(relation.kind.split(" or ")[0])
    return term.base if term else ""


def _link_of(relation: DerivedRelation) -> KinLink:
    """Return a derived relation as a link, from which others may follow."""
    term = read_kin_term(relation.kind.split(" or ")[0])
    assert term is not None, relation.kind
    if term.side == SENIOR:
        return KinLink(relation.target, relation.source, term)
    return KinLink(relation.source, relation.target, term)


def share_weights(
    weights: Mapping[FamilyKey, float], listed: Collection[FamilyKey]
) -> dict[FamilyKey, float]:
    """Return how much the closest relatives support each relation that has a cue of its
    own.

    `weights` are those of all relations by their own cues, `listed` the relations that
    are known. A wife's nephews are her husband's, and a sister's father and cousins are
    a brother's. A supposed sister is supported by a known aunt who follows from her.
    """
    family = _KnownFamily(listed)
    weights = {key: n for key, n in weights.items() if not family.contradicts(key)}
    shared: dict[FamilyKey, float] = {}
    for key, weight in weights.items():
        if weight < _MIN_OWN:
            continue
        others = set(family.list_equivalents(key)) - {key}
        total = sum(weights.get(other, 0.0) for other in others)
        if weight >= _MIN_EXPLAINED and family.explains(key):
            total += _EXPLAINS
        if total:
            shared[key] = round(total, 6)
    return shared


class _KnownFamily:
    """Looks up partners, siblings, parents and uncles among known relations."""

    def __init__(self, listed: Collection[FamilyKey]) -> None:
        self._listed = frozenset(listed)
        self._partners = self._collect("~spouse")
        self._siblings = self._collect("~sibling")
        self._bases: dict[frozenset[str], set[str]] = {}
        for first, second, base in listed:
            if base.removeprefix("~") in FAMILY:
                self._bases.setdefault(frozenset((first, second)), set()).add(base)
        self._children: dict[str, set[str]] = {}
        for senior, junior, base in listed:
            if base == "~parent":
                self._children.setdefault(senior, set()).add(junior)
        for children in self._children.values():
            for child in children:
                self._siblings.setdefault(child, set()).update(children - {child})

    def _collect(self, base: str) -> dict[str, set[str]]:
        pairs: dict[str, set[str]] = {}
        for first, second, other in self._listed:
            if other == base:
                pairs.setdefault(first, set()).add(second)
                pairs.setdefault(second, set()).add(first)
        return pairs

    def contradicts(self, key: FamilyKey) -> bool:
        """Return whether another relation of the family is known for the two of `key`."""
        first, second, base = key
        if base != "~sibling" and second in self._siblings.get(first, ()):
            return True
        bases = self._bases.get(frozenset((first, second)), set())
        return bool(bases) and base not in bases

    def list_equivalents(self, key: FamilyKey) -> Iterator[FamilyKey]:
        """Yield the relations of relatives that hold if the one of `key` does."""
        first, second, base = key
        if base in _SENIOR_KIN:
            partners = self._partners.get(first, set())
            seniors = {first, *(partners if len(partners) == 1 else ())}
            juniors = {second, *self._siblings.get(second, ())}
            yield from ((a, b, base) for a in seniors for b in juniors if a != b)
        elif base in ("~sibling", "~cousin"):
            for person, other in permutations((first, second)):
                for relative in self._siblings.get(person, set()) - {other}:
                    low, high = sorted((relative, other))
                    yield low, high, base

    def explains(self, key: FamilyKey) -> bool:
        """Return whether a known aunt or cousin follows from the relation of `key`."""
        for person, other in permutations(key[:2]):
            for child in self._children.get(other, ()):
                cousins = (*sorted((person, child)), "~cousin")
                if (
                    key[2] == "~sibling"
                    and (person, child, "~auntuncle") in self._listed
                ):
                    return True
                if key[2] == "~cousin" and cousins in self._listed:
                    return True
        return False


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
    if base == "sibling" and people.differ_in_surname(start, end):
        return None
    if base == "parent" and bases[0] == "sibling" and people.may_be_wife(end, start):
        return None
    if base == "spouse" and not _may_be_parents(start, end, people):
        return None
    source, target = (start, end) if side == SENIOR else sorted((start, end))
    return source, target, base, side


def _may_be_parents(first: str, second: str, people: KinDirectory) -> bool:
    """Return whether two parents of one child are a man and a woman of his name."""
    pair = people.gender(first), people.gender(second)
    if pair == (Gender.FEMALE, Gender.MALE):
        first, second = second, first
    elif pair != (Gender.MALE, Gender.FEMALE):
        return False
    return people.is_married(second) and people.shares_surname(first, second)
