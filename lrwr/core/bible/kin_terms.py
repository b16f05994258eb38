"""Nouns for relations between people, such as "mother", and what they mean."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import permutations

from lrwr.core.model.cast import Gender

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
grandparent: grandmother grandfather - / granddaughter grandson grandchild
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
