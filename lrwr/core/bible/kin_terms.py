"""Nouns for relations between people, such as "mother", and titles of names, such as
"Mrs.", with what they mean.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import permutations

from lrwr.core.model.cast import Gender
from lrwr.core.nlp.facts.clauses import FEMALE_TITLE_WORDS, MALE_TITLE_WORDS

SENIOR, JUNIOR, EQUAL = 1, -1, 0
_F, _M, _U = Gender.FEMALE, Gender.MALE, Gender.UNKNOWN


@dataclass(frozen=True, slots=True)
class KinTerm:
    """The meaning of a noun such as "mother": `base` is the relation ("parent").

    `side` says which of the two the noun is for: `SENIOR` (mother), `JUNIOR` (son) or
    `EQUAL` if the relation is symmetric. `gender` is that of who is called so.
    """

    base: str
    side: int
    gender: Gender


_TERMS = """
parent: mother father parent / daughter son child
stepparent: stepmother stepfather - / stepdaughter stepson -
adoptiveparent: adoptive_mother adoptive_father adoptive_parent / adoptive_daughter adoptive_son adoptive_child
grandparent: grandmother grandfather grandparent / granddaughter grandson grandchild
auntuncle: aunt uncle - / niece nephew -
greataunt: great-aunt great-uncle - / great-niece great-nephew -
parentinlaw: mother-in-law father-in-law - / daughter-in-law son-in-law -
fosterparent: foster-mother foster-father - / foster-daughter foster-son foster-child
godparent: godmother godfather - / goddaughter godson -
guardian: - - guardian / - - ward
employer: mistress master employer / maid - servant
patron: patroness patron - / - - protégé
teacher: governess - tutor / - - pupil
landlord: landlady landlord - / - - tenant
sibling: sister brother twin
halfsibling: half-sister half-brother -
stepsibling: stepsister stepbrother -
siblinginlaw: sister-in-law brother-in-law -
cousin: - - cousin
spouse: wife husband spouse
widowed: widow widower -
engaged: - - betrothed
lover: - - lover
friend: - - friend
enemy: - - enemy
"""
_VARIANTS = {
    "step-mother": "stepmother",
    "step-father": "stepfather",
    "step-son": "stepson",
    "step-daughter": "stepdaughter",
    "step-sister": "stepsister",
    "step-brother": "stepbrother",
    "mamma": "mother",
    "mama": "mother",
    "mum": "mother",
    "papa": "father",
    "dad": "father",
    "grandma": "grandmother",
    "grandpa": "grandfather",
    "fiance": "betrothed",
    "fiancee": "betrothed",
    "fiancé": "betrothed",
    "fiancée": "betrothed",
    "engaged": "betrothed",
    "bride": "betrothed",
    "bridegroom": "betrothed",
    "sweetheart": "lover",
    "rival": "enemy",
}


def _iter_terms() -> Iterator[tuple[str, KinTerm]]:
    for line in _TERMS.strip().splitlines():
        base, _, nouns = line.partition(": ")
        sides = nouns.split(" / ")
        for side, part in zip((SENIOR, JUNIOR), sides, strict=False):
            for gender, noun in zip((_F, _M, _U), part.split(), strict=True):
                yield (
                    noun.replace("_", " "),
                    KinTerm(base, side if len(sides) > 1 else EQUAL, gender),
                )


_EXCLUSIVE_BASES = (
    "parent stepparent adoptiveparent grandparent auntuncle greataunt parentinlaw sibling "
    "halfsibling stepsibling siblinginlaw spouse widowed engaged"
)
EXCLUSIVE = frozenset(_EXCLUSIVE_BASES.split())
"""Relations of which one pair has only one, apart from "spouse" beside "engaged"."""
FAMILY = EXCLUSIVE | {"cousin"}
RARE = frozenset(
    {"stepparent", "godparent", "parentinlaw", "guardian", "adoptiveparent"}
)
"""Relations that few people of a story have: "his stepmother" and "her stepson" are about
the same two.
"""
TRANSIENT = frozenset({"companion", "partner", "neighbour", "neighbor"})
"""Nouns that in a story mostly say who walks, dances or sits with whom."""


def find_close_relatives(
    relations: Iterable[tuple[str, str, str]],
) -> frozenset[frozenset[str]]:
    """Return the pairs of parents and children, brothers and sisters, and grandparents
    among `relations`: source, target and kind of each.
    """
    close = {"parent", "sibling", "grandparent"}
    terms = (
        (source, target, read_kin_term(kind.split(" or ")[0]))
        for source, target, kind in relations
    )
    return frozenset(
        frozenset((source, target))
        for source, target, term in terms
        if term is not None and term.base in close
    )


FamilyKey = tuple[str, str, str]
"""Two people and a relation: for a known one the senior, the junior, and "~parent"; if
it is symmetric, the two by name.
"""


NUCLEAR = frozenset({"parent", "sibling"})
"""Relations whose conclusions are drawn on: all children of one couple are siblings."""
_LOOSE = frozenset({"stepparent", "adoptiveparent", "fosterparent", "guardian"}) | {
    "godparent", "halfsibling", "stepsibling", "greataunt",
}  # fmt: skip
"""Relations of the family that may hold beside or instead of the closest ones."""


def find_contradicted_keys(weights: Mapping[FamilyKey, float]) -> set[FamilyKey]:
    """Return the relations of `weights`, which are listed, that cannot hold because of
    better supported parents and siblings: a sister is no mother.
    """
    near: dict[str, dict[str, tuple[int, float]]] = {}
    for (senior, junior, base), weight in weights.items():
        if base.removeprefix("~") in NUCLEAR:
            side = SENIOR if base == "~parent" else EQUAL
            near.setdefault(junior, {})[senior] = side, weight
            near.setdefault(senior, {})[junior] = -side, weight
    follows: dict[frozenset[str], dict[FamilyKey, float]] = {}
    for steps in near.values():
        for (a, (up, n)), (b, (down, m)) in permutations(steps.items(), 2):
            key = _find_close_key(a, up, b, down)
            if key is not None:
                keys = follows.setdefault(frozenset((a, b)), {})
                keys[key] = max(keys.get(key, 0.0), min(n, m))
    return {
        key
        for key, weight in weights.items()
        if key[2].removeprefix("~") in FAMILY - _LOOSE
        and (keys := follows.get(frozenset(key[:2]), {}))
        and key not in keys
        and max(keys.values()) > weight
    }


def _find_close_key(first: str, up: int, second: str, down: int) -> FamilyKey | None:
    """Return what two are who are on the sides `up` and `down` of the same person."""
    if up == down and up in (EQUAL, JUNIOR):
        low, high = sorted((first, second))
        return low, high, "~sibling"
    if up == SENIOR and down == EQUAL:
        return first, second, "~parent"
    return None


@cache
def _terms_by_noun() -> Mapping[str, KinTerm]:
    return dict(_iter_terms())


@lru_cache(maxsize=1_000)
def read_kin_term(noun: str) -> KinTerm | None:
    """Return the meaning of the last word of `noun`, such as "elder sister"; None if it
    is no known relationship.
    """
    words = noun.casefold().split()
    if not words or len(words) > 2:
        return None
    terms, noun = _terms_by_noun(), words[-1]
    return terms.get(" ".join(words)) or terms.get(_VARIANTS.get(noun, noun))


def choose_noun(base: str, side: int, gender: Gender) -> str:
    """Return the noun for somebody of `gender` on `side` of the relation `base`."""
    nouns = {
        term.gender: noun
        for noun, term in _terms_by_noun().items()
        if (term.base, term.side) == (base, side) and noun != "-"
    }
    if gender in nouns or _U in nouns:
        return nouns.get(gender) or nouns[_U]
    return " or ".join(nouns[option] for option in (_F, _M) if option in nouns)


_MIN_OWN = 0.3
"""Weight of a relation's own cues from which relatives support it: one cue."""
_MIN_EXPLAINED = 0.6
"""Weight of its own cues from which a known relation that follows supports it."""
_EXPLAINS = 0.5
"""Weight of a known relation that follows from a supposed one."""
_SENIOR_KIN = frozenset({"~parent", "~auntuncle", "~grandparent", "~stepparent"})


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


MARRIED_TITLES = frozenset({"Mrs", "Lady", "Madame", "Mme", "Countess", "Duchess"})
NAME_TITLES = FEMALE_TITLE_WORDS | MALE_TITLE_WORDS | {
    "Dr", "Doctor", "Captain", "Capt", "Colonel", "Col", "Major", "General", "Master",
    "Mister", "Messrs", "Rev", "Reverend", "Professor", "Inspector", "Young", "Judge",
}  # fmt: skip


def split_name(name: str) -> tuple[list[str], list[str]]:
    """Return the titles that a name begins with, and its other words."""
    words = [word.rstrip(".") for word in name.split() if word not in ("the", "The")]
    titles = [word for word in words if word in NAME_TITLES]
    return titles, words[len(titles) :] if words[: len(titles)] == titles else []


def guess_title_gender(name: str) -> Gender:
    """Return the gender that the title in "the Lady Vale" tells."""
    first = name.removeprefix("the ").split(" ")[0].rstrip(".")
    if first in FEMALE_TITLE_WORDS:
        return Gender.FEMALE
    return Gender.MALE if first in MALE_TITLE_WORDS else Gender.UNKNOWN


def has_title(name: str) -> bool:
    """Return whether a name begins with a title."""
    return name.split(" ")[0].rstrip(".") in NAME_TITLES


def is_untitled_name(name: str) -> bool:
    """Return whether a name has several words and no title."""
    words = [word.rstrip(".") for word in name.split(" ")]
    return len(words) > 1 and not NAME_TITLES.intersection(words)
