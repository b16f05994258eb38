"""Kin words in a draft that contradict the story: "Ansel, her cousin" of a brother."""

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType

from lrwr.core.bible.horizon import compile_forms_pattern
from lrwr.core.bible.values import TextEvidence
from lrwr.core.continuity.statements import (
    find_enclosing_paragraph,
    is_asserted_in_context,
)
from lrwr.core.continuity.values import (
    classify_kinship,
    excludes_kinship,
    invert_kinship,
)
from lrwr.core.drafting.findings import (
    DraftContext,
    DraftFinding,
    compile_apposition,
    describe_other_word,
    find_named_people,
    read_apposition,
)
from lrwr.core.model.cast import Gender
from lrwr.core.model.facts import SURE_CERTAINTIES
from lrwr.core.model.text import Span

_KIN_WORDS = (
    "father", "mother", "brother", "sister", "son", "daughter", "husband", "wife", "uncle",
    "aunt", "nephew", "niece", "cousin", "grandfather", "grandmother",
)  # fmt: skip
"""Nouns of kinship; without those that are often said of others, such as "child"."""
_GENDERS: Mapping[str, Gender] = MappingProxyType(
    {"he": Gender.MALE, "his": Gender.MALE, "she": Gender.FEMALE, "her": Gender.FEMALE}
)
MAX_PARAGRAPHS_BACK = 5
"""Paragraphs that are read for whom "her" may mean."""
BOTH = 2
"""Parents of a child."""
_ARTICLES = frozenset(("the", "a", "an"))


@dataclass(frozen=True, slots=True)
class _KinClaim:
    """What a draft says at `span`: that `name` is the `noun` of one of `others`."""

    span: Span
    name: str
    noun: str
    others: frozenset[str]


def find_other_kin(context: DraftContext) -> Iterator[DraftFinding]:
    """Yield the kin words such as "Ansel, her cousin" and "He was Mags's uncle" for somebody
    who is of another kin to those who may be meant, and to nobody of them of this one.
    """
    owners = context.list_own_forms()
    genders = {person.name: person.gender for person in context.bible.characters}
    for claim in _iter_kin_claims(context.text, owners, genders):
        kin = [*_iter_kin(context, claim.name, claim.others)]
        is_other = kin and all(
            excludes_kinship(kind, classify_kinship(claim.noun)) for kind, _ in kin
        )
        evidence = kin[0][1] if is_other else None
        if evidence is None and len(claim.others) == 1:
            evidence = _find_other_parent(context, claim, genders)
        if evidence is not None:
            place = Span(evidence.spans[0].start, evidence.spans[-1].end)
            yield describe_other_word(
                context, claim.span, claim.noun, evidence.document, place
            )


def _iter_kin_claims(
    text: str, owners: Mapping[str, str], genders: Mapping[str, Gender]
) -> Iterator[_KinClaim]:
    for match in compile_apposition("|".join(_KIN_WORDS)).finditer(text):
        name, noun = read_apposition(match)
        own, owner = owners.get(name), (match["owner"] or match["whose"]).casefold()
        if own is not None and owner not in _ARTICLES:
            around = _find_people_around(text, Span(*match.span()), owners) - {own}
            gender = _GENDERS.get(owner, Gender.UNKNOWN)
            others = {p for p in around if _may_be(genders[p], gender)}
            yield _KinClaim(Span(*match.span()), own, noun, frozenset(others))
    for match in _compile_kin_predicate(tuple(owners)).finditer(text):
        span = Span(*match.span())
        own = owners.get(match["name"]) or _find_person_before(
            text, span, owners, genders, _GENDERS[match["name"].casefold()]
        )
        other = owners[match["other"] or match["owner"]]
        if own and own != other and is_asserted_in_context(text, span):
            yield _KinClaim(
                span, own, match["noun"] or match["kin"], frozenset({other})
            )


def _may_be(gender: Gender, other: Gender) -> bool:
    return Gender.UNKNOWN in (gender, other) or gender is other


def _find_people_around(
    text: str, span: Span, owners: Mapping[str, str]
) -> frozenset[str]:
    """Return the people named in the paragraph at `span` and in those before it, back to
    the first that names somebody else than `span` does.
    """
    near = find_enclosing_paragraph(text, span)
    start, own = near.start, text[span.start : span.end]
    present: frozenset[str] = frozenset()
    for _ in range(MAX_PARAGRAPHS_BACK):
        present = find_named_people(text[start : near.end], owners)
        inside = find_named_people(own, owners)
        if start == 0 or (present - inside and start < near.start):
            break
        start = max(0, text.rfind("\n\n", 0, max(0, start - 2)) + 1)
    return present


def _find_person_before(
    text: str,
    span: Span,
    owners: Mapping[str, str],
    genders: Mapping[str, Gender],
    gender: Gender,
) -> str:
    """Return who of `gender` is named last before `span` in its paragraph, or in
    the one before; "" for nobody, or if somebody whose gender is not known is named later.
    """
    near = find_enclosing_paragraph(text, span)
    start = max(0, text.rfind("\n\n", 0, max(0, near.start - 2)) + 1)
    pattern = compile_forms_pattern(owners.keys())
    matches = pattern.finditer(text, start, span.start) if pattern else ()
    people = [owners[match[0]] for match in matches]
    fitting = [person for person in people if _may_be(genders[person], gender)]
    return fitting[-1] if fitting and genders[fitting[-1]] is gender else ""


def _find_other_parent(
    context: DraftContext, claim: _KinClaim, genders: Mapping[str, Gender]
) -> TextEvidence | None:
    """Return where the story names both parents of the child of a claim, or the one of the
    same gender, if the claim names somebody else.
    """
    (other,) = claim.others
    kinship = classify_kinship(claim.noun)
    if kinship not in ("parent", "child"):
        return None
    parent, child = (claim.name, other)[:: 1 if kinship == "parent" else -1]
    others = {
        name: evidence
        for name in _list_related(context, child)
        if name != parent
        for kind, evidence in _iter_kin(context, name, {child})
        if kind == "parent"
    }
    if any(kind == "parent" for kind, _ in _iter_kin(context, parent, {child})):
        return None
    gender = genders.get(parent, Gender.UNKNOWN)
    same = [n for n in others if genders.get(n) is gender is not Gender.UNKNOWN]
    if len(others) < BOTH and not same:
        return None
    return others[same[0] if same else next(iter(others))]


def _list_related(context: DraftContext, name: str) -> list[str]:
    pairs = ((r.source, r.target) for r in context.bible.relations)
    return sorted({other for pair in pairs if name in pair for other in pair} - {name})


def _iter_kin(
    context: DraftContext, name: str, others: Collection[str]
) -> Iterator[tuple[str, TextEvidence]]:
    """Yield what somebody is to each of `others`, as far as the story is sure of it."""
    for relation in context.bible.relations:
        evidence = next(
            (e for e in relation.evidence if e.document != context.draft), None
        )
        if evidence is None or relation.certainty not in SURE_CERTAINTIES:
            continue
        if relation.target == name and relation.source in others:
            kind = classify_kinship(relation.kind)
        elif relation.source == name and relation.target in others:
            kind = invert_kinship(relation.kind)
        else:
            continue
        if kind:
            yield kind, evidence


@cache
def _compile_kin_predicate(forms: tuple[str, ...]) -> re.Pattern[str]:
    ordered = sorted(forms, key=len, reverse=True)
    names = "|".join(map(re.escape, ordered)) or r"(?!)"
    kin = rf"(?:[a-z]+ ){{0,2}}?(?P<noun>{'|'.join(_KIN_WORDS)})"
    return re.compile(
        rf"(?<![\w’'-])(?P<name>[Hh]e|[Ss]he|{names}) (?:is|was) (?!not\b)"
        rf"(?:(?P<owner>{names})['’]s? {kin}|(?:the|an?) {kin.replace('noun', 'kin')} of"
        rf" (?P<other>{names}))(?![\w’'-])"
    )
