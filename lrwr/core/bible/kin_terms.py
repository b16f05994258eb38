"""Nouns for relations between people, such as "mother", and what they mean."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache

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
