"""Who is in the relationship to somebody that a question asks for."""

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace

from lrwr.core.bible.kin_terms import KinTerm, choose_noun, read_kin_term
from lrwr.core.bible.values import CharacterRelation
from lrwr.core.model.cast import Gender

_KIN_QUESTION = re.compile(
    r"^\W*(?:(?:and|so|but)\s+)?(?:"
    r"(?:who|what)(?:['’]s|\s+(?:is|was|are|were))\s+(?:the\s+names?\s+of\s+)?(?:"
    r"(?:.{1,40}?['’]s?|his|her|their|its)\s+(?P<owned>[\w-]+)"
    r"|the\s+(?P<of>[\w-]+)\s+of\s+.{1,40}?)(?:['’]s?\s+names?|\s+called|\s+named)?"
    r"|(?:does|did|do|has|have|had)\s+.{1,40}?\s+(?:have\s+)?(?:any|an?)\s+(?P<has>[\w-]+)"
    r"|whose\s+(?P<whose>[\w-]+)\s+(?:is|was|are|were)\s+.{1,40}?)\W*$",
    re.IGNORECASE,
)
"""Asks who is related to somebody in one way ("Who is Nell's mother?"), and no more."""

_PLURALS = {"children": "child", "wives": "wife"}


def find_kin_asked(question: str) -> KinTerm | None:
    """Return the relationship to whom `question` names that it asks for, as in "Who is
    Nell's mother?"; None if it asks for anything else.
    """
    match = _KIN_QUESTION.match(question)
    if match is None:
        return None
    noun = next(filter(None, match.groups())).lower()
    term = read_kin_term(noun) or read_kin_term(_PLURALS.get(noun, noun.rstrip("s")))
    if term is None or not match["whose"]:
        return term
    return replace(term, side=-term.side, gender=Gender.UNKNOWN)


def select_kin(
    asked: KinTerm,
    people: Collection[str],
    relations: Iterable[CharacterRelation],
    genders: Mapping[str, Gender],
) -> list[CharacterRelation]:
    """Return who is in the relationship `asked` to one of `people`, each once, in the
    order of `relations`: the person asked about is the source.

    A relationship stated the other way round is turned: who has a daughter is her
    mother or father, as the `genders` of characters tell, or a noun such as "husband".
    If the gender is unknown, it is returned as stated, and only if nobody else fits.
    """
    relations = list(relations)
    called = {
        relation.target: term.gender
        for relation in relations
        if (term := read_kin_term(relation.kind)) is not None
        and term.gender is not Gender.UNKNOWN
    }
    genders = {**genders, **called}
    certain: dict[tuple[str, str], CharacterRelation] = {}
    possible: list[CharacterRelation] = []
    for relation in relations:
        if relation.source in people and _names_kin(asked, relation):
            certain.setdefault((relation.source, relation.target), relation)
        elif relation.target in people and _implies_kin(asked, relation, genders):
            gender = genders.get(relation.source, Gender.UNKNOWN)
            if gender is Gender.UNKNOWN:
                possible.append(relation)
                continue
            turned = _turn_around(asked, relation, gender)
            certain.setdefault((turned.source, turned.target), turned)
    return list(certain.values()) or list(dict.fromkeys(possible))


def _turn_around(
    kin: KinTerm, relation: CharacterRelation, gender: Gender
) -> CharacterRelation:
    """Return "Nell's mother: Ada" for "Ada's daughter: Nell"; `gender` is Ada's."""
    noun = choose_noun(kin.base, kin.side, gender)
    return replace(relation, source=relation.target, target=relation.source, kind=noun)


def _names_kin(asked: KinTerm, relation: CharacterRelation) -> bool:
    """Return whether the target of `relation` is what is asked for."""
    term = read_kin_term(relation.kind)
    return (
        term is not None
        and (term.base, term.side) == (asked.base, asked.side)
        and _may_be_same(asked.gender, term.gender)
    )


def _implies_kin(
    asked: KinTerm, relation: CharacterRelation, genders: Mapping[str, Gender]
) -> bool:
    """Return whether the source of `relation` is what is asked for."""
    term = read_kin_term(relation.kind)
    return (
        term is not None
        and (term.base, -term.side) == (asked.base, asked.side)
        and _may_be_same(asked.gender, genders.get(relation.source, Gender.UNKNOWN))
    )


def _may_be_same(first: Gender, second: Gender) -> bool:
    return first is second or Gender.UNKNOWN in (first, second)
