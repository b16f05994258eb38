"""All signs of one relation of two people, and what relations say about each other.

A mother's sister is an aunt, cues for an uncle support his wife, a sister is no mother.
"""

from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import permutations

from lrwr.core.bible.kin_directory import KinDirectory
from lrwr.core.bible.kin_terms import (
    EQUAL,
    EXCLUSIVE,
    FAMILY,
    JUNIOR,
    MARRIED_TITLES,
    NAME_TITLES,
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
    def is_courtesy(self) -> bool:
        """Return whether somebody is only called aunt or uncle: friends are, too."""
        signs = {RelationCue.ADDRESS, RelationCue.TITLE}
        is_aunt = self.term is not None and self.term.base == "auntuncle"
        return is_aunt and all(tie.sign in signs for tie in self.ties)

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


def drop_contradicted(groups: Iterable[RelationGroup]) -> list[RelationGroup]:
    """Return the groups without those of rules that another of the same pair excludes
    and outweighs, in their order.
    """
    by_pair: dict[frozenset[str], list[RelationGroup]] = {}
    ordered = list(groups)
    for group in ordered:
        by_pair.setdefault(frozenset(group.key[:2]), []).append(group)
    dropped = {
        id(group)
        for pair_groups in by_pair.values()
        for group in pair_groups
        if any(_outweighs(other, group) for other in pair_groups if other is not group)
    }
    return [group for group in ordered if id(group) not in dropped]


def keep_one_parent(
    groups: Sequence[RelationGroup], people: KinDirectory
) -> list[RelationGroup]:
    """Return the groups without all but the best supported mother and father of each
    character, in their order.
    """
    best: dict[tuple[str, Gender], RelationGroup] = {}
    for group in groups:
        if group.term is not None and group.term.base == "parent":
            key = group.key[1], people.gender(group.key[0])
            best[key] = max(best.get(key, group), group, key=_rank_parent)
    return [
        group
        for group in groups
        if group.term is None
        or group.term.base != "parent"
        or not group.ruled
        or best[group.key[1], people.gender(group.key[0])] is group
    ]


def _rank(group: RelationGroup) -> tuple[bool, float, FamilyKey]:
    return not group.ruled, group.weight, group.key


def _rank_parent(group: RelationGroup) -> tuple[bool, bool, float, FamilyKey]:
    """A surname alone counts less than words of the two."""
    is_named = any(tie.stated for tie in group.ties) or group.is_mutual
    return not group.ruled, is_named, group.weight, group.key


_COUPLES = frozenset({"spouse", "engaged", "widowed"})
_EXCLUDED_BY = {"friend": FAMILY | {"lover"}, "lover": {"parent", "sibling"}}
"""Relations that exclude friends and lovers, however well supported."""


def _outweighs(group: RelationGroup, other: RelationGroup) -> bool:
    """Return whether `group` excludes `other` and is better supported."""
    if group.term is None or other.term is None or not other.ruled:
        return False
    bases = group.term.base, other.term.base
    if _COUPLES.issuperset(bases) and bases[0] != bases[1]:
        return False
    if bases[0] in _EXCLUDED_BY.get(bases[1], ()):
        return True
    if {*bases} == {"spouse", "parent"}:
        spouse, parent = (group, other) if bases[0] == "spouse" else (other, group)
        if spouse.has_wife and parent.is_by_surname:
            return group is spouse
    is_couple = not _COUPLES.isdisjoint(bases)
    if not EXCLUSIVE.issuperset(bases) and (is_couple or not FAMILY.issuperset(bases)):
        return False  # cousins may marry
    return _rank(group) > _rank(other)


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
    ("sibling", EQUAL, "stepparent", SENIOR): ("stepparent", SENIOR),
    ("sibling", EQUAL, "cousin", EQUAL): ("cousin", EQUAL),
    ("sibling", EQUAL, "grandparent", SENIOR): ("grandparent", SENIOR),
    ("auntuncle", SENIOR, "spouse", EQUAL): ("auntuncle", SENIOR),
    ("auntuncle", SENIOR, "parent", JUNIOR): ("cousin", EQUAL),
    ("spouse", EQUAL, "parent", SENIOR): ("parentinlaw", SENIOR),
    ("spouse", EQUAL, "stepparent", SENIOR): ("parentinlaw", SENIOR),
}
"""Two relations, each with the side of the one who is reached, and what the second one
reached is to the first person."""
_STEPS = 3
"""Rounds of conclusions among parents and children."""
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
