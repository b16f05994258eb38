"""What is stated of people: by the writer's notes and answers, and by the story."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from types import MappingProxyType

from lrwr.core.bible.claims import SourcedFact, VisibleFacts, normalize_attribute
from lrwr.core.bible.values import TextEvidence
from lrwr.core.canon.model import Canon
from lrwr.core.continuity.surroundings import (
    find_enclosing_sentence,
    is_asserted_in_context,
)
from lrwr.core.continuity.values import StatementSource
from lrwr.core.model.cast import Gender
from lrwr.core.model.certainty import Certainty
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.facts import RULES_KEEPER, WRITER_KEEPER, CharacterField, FactAbout
from lrwr.core.model.text import Span
from lrwr.core.nlp.facts.appearance_words import EYE, HAIR
from lrwr.core.nlp.facts.claims import SPOKEN_DETAIL
from lrwr.core.nlp.facts.kinship import RELATIONSHIP_WORDS

KINSHIP_ATTRIBUTE = "kin"
"""The attribute of a statement that `other` is the value, "father", of `about`."""

COMPARED_ATTRIBUTES = MappingProxyType(
    {
        "eye": "eyes", "hair": "hair", "age": "age", "life": "life", "born": "born",
        "birthday": "born", "birth": "born", "date birth": "born", "date of birth": "born",
        "birth date": "born", "build": "build",
    }
)  # fmt: skip
"""The attributes that rules read, by what people call them."""

_ITS_LOOKS = re.compile(r"(?P<value>[a-z]+)-(?P<of>haired|eyed)\b")
_IN_A_NOTE = (
    ("eyes", re.compile(rf"\b(?P<value>{EYE}) eyes\b", re.I)),
    ("eyes", re.compile(rf"\beyes (?:are |of )?(?P<value>{EYE})\b", re.I)),
    ("hair", re.compile(rf"\b(?P<value>{HAIR}) hair\b", re.I)),
    ("hair", re.compile(rf"\bhair (?:is )?(?P<value>{HAIR})\b", re.I)),
)
_ANOTHERS = re.compile(
    rf"\b(?:{'|'.join(sorted(RELATIONSHIP_WORDS))})(?:s|'s|’s)?\b|\b\w+['’]s\b|\[\[|\b(?:not|never|"
    r"once|dyed?|wig|was|had|when|before|after|until)\b",
    re.I,
)
_OWN_EYES = re.compile(
    r"\b(?:open|rais|lift|shut|clos|lower|narrow|rubb?|wip|fix|turn|blink|widen|roll)"
    r"(?:e?d|t?ing|ing|)(?: up)? $"
)
_OWN_HAIR = re.compile(
    r"\b(?:push|toss|tie|ty|pinn|shook|shak|swept|sweep|smooth|brush|comb|wore|wear)"
    r"(?:e?d|ing|)(?: (?:back|up|out|away))? $"
)
_SEX = MappingProxyType({"his": Gender.MALE, "her": Gender.FEMALE})


@dataclass(frozen=True, slots=True)
class Statement:
    """Somebody's attribute has that value, where `evidence` says so, a whole sentence.

    `about` and `other` are people, by their names in the whole cast. `span` are the
    words themselves; `rank` sorts into story order, what has no place first. A
    statement that is `certain` may be held against later ones.
    """

    about: str
    attribute: str
    value: str
    source: StatementSource
    certain: bool
    rank: tuple[int, str, int]
    evidence: TextEvidence | None = None
    span: Span | None = None
    other: str = ""

    @property
    def document(self) -> DocumentId | None:
        """The document that says so; None of a canon answer."""
        return self.evidence.document if self.evidence else None


def collect_statements(material: VisibleFacts, canon: Canon) -> list[Statement]:
    """Return what is stated of people's attributes and kin, in story order.

    Of the story only what the narrator asserts of somebody by name: see `is_asserted_in_context`.
    """
    made = [
        one
        for found in material.about(FactAbout.CHARACTER)
        for one in _of(found, material)
    ]
    made += _answers(material, canon)
    return sorted(made, key=lambda one: one.rank)


def _of(found: SourcedFact, material: VisibleFacts) -> Iterator[Statement]:
    fact = found.fact
    person = material.roll.person(fact.subject)
    if not person or SPOKEN_DETAIL in fact.details:
        return
    if fact.keeper == WRITER_KEEPER and not material.sight.tells(
        found.evidence.document
    ):
        yield from _noted(found, person, material)
    elif fact.keeper == RULES_KEEPER and material.sight.tells(found.evidence.document):
        yield from _told(found, person, material)


def _noted(
    found: SourcedFact, person: str, material: VisibleFacts
) -> Iterator[Statement]:
    fact = found.fact
    if fact.field == CharacterField.RELATIONSHIP:
        yield from _kin(found, person, material, StatementSource.NOTE, certain=True)
    elif fact.field == CharacterField.ATTRIBUTE:
        for attribute, value in _in_a_note(fact.detail("attribute"), fact.value):
            yield _made(found, person, attribute, value, material, StatementSource.NOTE)


def _in_a_note(label: str, value: str) -> Iterator[tuple[str, str]]:
    attribute = COMPARED_ATTRIBUTES.get(normalize_attribute(label), "")
    if attribute and attribute != "build":
        yield attribute, value
    if normalize_attribute(label) == "description" and not _ANOTHERS.search(value):
        for looks, pattern in _IN_A_NOTE:
            if seen := pattern.search(value):
                yield looks, seen["value"]


def _told(
    found: SourcedFact, person: str, material: VisibleFacts
) -> Iterator[Statement]:
    fact, place = found.fact, found.evidence
    text, span = material.sight.texts[place.document].text, fact.spans[0]
    if place.chapter is None or not is_asserted_in_context(text, span):
        return
    certain = fact.certainty is not Certainty.PROBABLE
    if not (
        certain
        or _moves_own(text, span, person, material)
        or _looked(text, span, person, material)
    ):
        return
    if fact.field == CharacterField.RELATIONSHIP:
        yield from _kin(found, person, material, StatementSource.TEXT, certain=certain)
    elif attribute := COMPARED_ATTRIBUTES.get(
        normalize_attribute(fact.detail("attribute")), ""
    ):
        for name, value in _looks(attribute, fact.value):
            yield _made(
                found, person, name, value, material, StatementSource.TEXT, certain
            )


def _looks(attribute: str, value: str) -> Iterator[tuple[str, str]]:
    """Yield what is said; of a build that somebody is red-haired, their hair."""
    if attribute != "build":
        yield attribute, value
        return
    for seen in _ITS_LOOKS.finditer(value):
        yield ("hair" if seen["of"] == "haired" else "eyes"), seen["value"]


def _moves_own(text: str, span: Span, person: str, material: VisibleFacts) -> bool:
    """Say whether "her blue eyes" are those of whoever raises them."""
    words = re.match(r"(his|her) .*(eyes|hair)$", text[span.start : span.end], re.S)
    known = material.roll.seen.get(person)
    if not (words and known and known.character.gender is _SEX[words[1]]):
        return False
    moves = _OWN_EYES if words[2] == "eyes" else _OWN_HAIR
    return bool(moves.search(text[max(0, span.start - 20) : span.start]))


def _looked(text: str, span: Span, person: str, material: VisibleFacts) -> bool:
    """Say whether somebody was looked at "with those green eyes" by the other sex."""
    if not text[span.start : span.end].startswith("with those"):
        return False
    sentence = find_enclosing_sentence(text, span)
    seen = re.search(r"\blook\w* at (him|her)\b", text[sentence.start : span.start])
    known = material.roll.seen.get(person)
    other = {"him": Gender.FEMALE, "her": Gender.MALE}
    return bool(seen and known and known.character.gender is other[seen[1]])


def _kin(
    found: SourcedFact,
    person: str,
    material: VisibleFacts,
    source: StatementSource,
    *,
    certain: bool,
) -> Iterator[Statement]:
    other = material.roll.person(found.fact.detail("target"))
    kind = found.fact.detail("kind").casefold()
    if other and other != person and kind and certain:
        yield _made(
            found, person, KINSHIP_ATTRIBUTE, kind, material, source, True, other
        )


def _made(
    found: SourcedFact,
    person: str,
    attribute: str,
    value: str,
    material: VisibleFacts,
    source: StatementSource,
    certain: bool = True,
    other: str = "",
) -> Statement:
    place, span = found.evidence, found.fact.spans[0]
    whole = find_enclosing_sentence(material.sight.texts[place.document].text, span)
    evidence = material.sight.evidence(
        place.document, (whole,), place.keeper, place.certainty
    )
    rank = material.sight.key(place.document, span.start)
    return Statement(
        person, attribute, value, source, certain, rank, evidence, span, other
    )


def _answers(material: VisibleFacts, canon: Canon) -> Iterator[Statement]:
    for question, value in canon.answers.items():
        person = material.roll.person(question.about)
        label = normalize_attribute(question.attribute)
        attribute = COMPARED_ATTRIBUTES.get(label, "")
        other = material.roll.person(value)
        rank = (-2, "", 0)
        if person and attribute and attribute != "build":
            yield Statement(
                person, attribute, value, StatementSource.ANSWER, True, rank
            )
        elif person and label in RELATIONSHIP_WORDS and other:
            yield Statement(
                person,
                KINSHIP_ATTRIBUTE,
                label,
                StatementSource.ANSWER,
                True,
                rank,
                other=other,
            )
