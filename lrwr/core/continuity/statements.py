"""Statements about people, from notes, answers and story, with the text around them."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

from lrwr.core.bible.claims import SourcedFact, VisibleFacts, normalize_attribute
from lrwr.core.bible.values import TextEvidence
from lrwr.core.canon.model import Canon
from lrwr.core.model.cast import Gender
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.facts import (
    RULES_KEEPER,
    WRITER_KEEPER,
    Certainty,
    CharacterField,
    FactAbout,
)
from lrwr.core.model.text import Span
from lrwr.core.nlp.facts.attribute_rules import EYE, HAIR
from lrwr.core.nlp.facts.clauses import SPOKEN_DETAIL, is_asserted
from lrwr.core.nlp.facts.kinship import RELATIONSHIP_WORDS


class StatementSource(StrEnum):
    """Who says so."""

    NOTE = "note"
    ANSWER = "canon answer"
    """The writer's answer or decision in the canon file; it has no passage."""
    TEXT = "text"


@dataclass(frozen=True, slots=True)
class ContradictionSide:
    """One of two values that cannot both be true.

    `evidence` is in story order, whole sentences, at least one but for the writer's
    decisions in the canon file.
    """

    value: str
    source: StatementSource
    evidence: tuple[TextEvidence, ...] = ()


@dataclass(frozen=True, slots=True)
class Contradiction:
    """Two sides of one attribute, `canon` the one that counts, `found` the other.

    `id` are a few letters that stay the same for as long as both values do. `because`
    is the writer's reason where it is `intended`, and may be empty then, too. `judge`
    is the language model that found it, with its reason, `why`; empty where rules did.
    The values are then quotes.
    """

    id: str
    about: str
    attribute: str
    canon: ContradictionSide
    found: ContradictionSide
    intended: bool = False
    because: str = ""
    judge: str = ""
    why: str = ""


@dataclass(frozen=True, slots=True)
class NewContradictions:
    """Contradictions that were not there before, and that nobody has intended."""

    found: tuple[Contradiction, ...]


_END = re.compile(r"(?<!\bMr)(?<!\bMrs)(?<!\bMs)(?<!\bDr)(?<!\bSt)[.!?][”’\"')*_]*\s")
_HEARSAY = re.compile(
    r"\b(?:they say|people sa(?:y|id)|it (?:is|was) said|so they said|rumou?r\w*|"
    r"supposed|believed|suppos\w+|according to|would|might|could|as if|as though|if|"
    r"legend|gossip\w*|story went|stories|lie|lied|lying|wrong\w*|(?<!no )mistak\w+|"
    r"false\w*|forge[dr]\w*|fake[ds]?|counterfeit\w*|"
    r"(?:sa(?:ys?|id)|stat(?:es?|ed)|wr(?:ites?|ote|itten)|tells?|told|reports?|reported|"
    r"announc\w+|maintain\w*|alleg\w+|testif\w+|swears?)(?: [\w’']+){0,4} that|"
    r"so (?:the )?\w+(?: \w+)? (?:sa(?:ys?|id)|told|wrote))\b",
    re.I,
)
_NOT_THERE = re.compile(
    r"\b(?:dream\w*|nightmare\w*|vision|portrait|pictured?|painting|photograph\w*|"
    r"miniature|disguise\w*|mask\w*|wig|on (?:the )?stage|actor|actress|"
    r"play(?:ed|ing)? the part|legend|imagin\w+|pretend\w*|delirium|delirious|statue|"
    r"doll|ghost|(?:in|for|on|to) (?:\w+(?:['’]s)? ){1,3}?(?:story|tale|play|novel|poem|"
    r"ballad|song|film|drama|charade|tableau|masquerade|masque|pantomime|fiction)s?)\b",
    re.I,
)
_CHANGES = re.compile(
    r"\b(?:once|formerly|used to|had been|had had|no longer|any ?more|"
    r"in (?:his|her|their) (?:youth|childhood|boyhood|girlhood)|as an? (?:child|boy|girl|"
    r"lad|young \w+|baby|youth)|years? (?:ago|before|earlier|since|later|after)|long ago|"
    r"(?:turn|grow|go|becom)(?:s|ed|n|ne|e|es|ing)? (?:\w+ ){0,2}(?:gr[ea]y|white|silver|black|dark\w*|brown|blonde?|fair\w*|red|green|blue|bald)\b|"
    r"(?:grew|went|became) (?:\w+ ){0,2}(?:gr[ea]y|white|silver|black|dark\w*|brown|blonde?|fair\w*|red|green|blue|bald)\b|"
    r"dye[ds]?|dyeing|bleach\w*|stain\w*|painted|tint\w*|powder\w*|fad(?:ed|ing)|"
    r"grey(?:ing|ed)|gray(?:ing|ed)|whiten\w*|darken\w*|lighten\w*|chang\w+|now|"
    r"these days|nowadays|by then|new)\b",
    re.I,
)
_WHEN = re.compile(
    r"\b(?:when|since|until|till|after|by the time|at th(?:at|is) time|remember\w*|"
    r"recall\w*|then|from the age|in \d{4}|as long as|before|ever since|while)\b",
    re.I,
)
_PLACED = re.compile(r"\W*(?:(?:And|But|Then),? )?(?:at|in|on|during|for|by)\b", re.I)
_APOSTROPHES = re.compile(r"(?:^|(?<=[\s—]))['‘](?=[A-Z])(?:[^'’]|(?<=\w)['’](?=\w))*$")
"""A quotation in single marks that is open where the text ends."""
_YEARS_PASS = re.compile(
    r"\b(?:years?|decades?) (?:later|after(?:wards)?|(?:had |have )?(?:passed|gone|went|"
    r"rolled|flew|elapsed|slipped))|\b(?:after|for|in) \w+ (?:long )?years\b|"
    r"\byears (?:and years|on)\b",
    re.I,
)


def find_enclosing_sentence(text: str, span: Span) -> Span:
    """Return the whole sentence or sentences that `span` stands in."""
    paragraph = find_enclosing_paragraph(text, span)
    start, end = paragraph.start, paragraph.end
    for stop in _END.finditer(text, paragraph.start, paragraph.end):
        if stop.end() <= span.start:
            start = stop.end()
        elif stop.end() > span.end:
            end = stop.end()
            break
    while end > span.end and text[end - 1].isspace():
        end -= 1
    return Span(start, end)


def find_enclosing_paragraph(text: str, span: Span) -> Span:
    """Return the paragraph that `span` stands in, up to empty lines."""
    start = text.rfind("\n\n", 0, span.start)
    end = text.find("\n\n", span.end)
    return Span(0 if start < 0 else start + 2, len(text) if end < 0 else end)


def is_asserted_in_context(text: str, span: Span) -> bool:
    """Say whether the words around `span` assert it: no doubt, dream, picture, hearsay.

    Nor may they stand in italics, as thoughts and letters do, or in any quotation
    marks, be they of another kind than the book's.
    """
    sentence, paragraph = (
        find_enclosing_sentence(text, span),
        find_enclosing_paragraph(text, span),
    )
    before = re.sub(r"\blike th(?:at|is)\b", "", text[sentence.start : span.start])
    if not is_asserted(before) or _HEARSAY.search(text, sentence.start, sentence.end):
        return False
    if _NOT_THERE.search(text, paragraph.start, paragraph.end):
        return False
    led = text[paragraph.start : span.start]
    is_quoted = led.count("“") > led.count("”") or led.count('"') % 2
    is_quoted = is_quoted or bool(_APOSTROPHES.search(led))
    return not is_quoted and led.count("*") % 2 == 0 and led.count("_") % 2 == 0


def mentions_change(text: str, span: Span) -> bool:
    """Say whether the sentence speaks of another time, or of something that changed."""
    sentence = find_enclosing_sentence(text, span)
    return bool(_CHANGES.search(text, sentence.start, sentence.end))


def mentions_past_age(text: str, span: Span) -> bool:
    """Say whether the sentence tells how old somebody was at some other time.

    It does where a time or a place stands in front ("In the year of the flood …").
    """
    sentence = find_enclosing_sentence(text, span)
    if _PLACED.match(text, sentence.start, span.start):
        return True
    return bool(_WHEN.search(text, sentence.start, sentence.end))


def may_skip_years(text: str) -> bool:
    """Say whether a text may leap over years."""
    return bool(_YEARS_PASS.search(text))


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
    statements = [
        statement
        for sourced_fact in material.about(FactAbout.CHARACTER)
        for statement in _of(sourced_fact, material)
    ]
    statements += _answers(material, canon)
    return sorted(statements, key=lambda statement: statement.rank)


def _of(sourced_fact: SourcedFact, material: VisibleFacts) -> Iterator[Statement]:
    fact = sourced_fact.fact
    person = material.roll.person(fact.subject)
    if not person or SPOKEN_DETAIL in fact.details:
        return
    if fact.keeper == WRITER_KEEPER and not material.sight.tells(
        sourced_fact.evidence.document
    ):
        yield from _noted(sourced_fact, person, material)
    elif fact.keeper == RULES_KEEPER and material.sight.tells(
        sourced_fact.evidence.document
    ):
        yield from _told(sourced_fact, person, material)


def _noted(
    sourced_fact: SourcedFact, person: str, material: VisibleFacts
) -> Iterator[Statement]:
    fact = sourced_fact.fact
    if fact.field == CharacterField.RELATIONSHIP:
        yield from _kin(
            sourced_fact, person, material, StatementSource.NOTE, certain=True
        )
    elif fact.field == CharacterField.ATTRIBUTE:
        for attribute, value in _in_a_note(fact.detail("attribute"), fact.value):
            yield _made(
                sourced_fact, person, attribute, value, material, StatementSource.NOTE
            )


def _in_a_note(label: str, value: str) -> Iterator[tuple[str, str]]:
    attribute = COMPARED_ATTRIBUTES.get(normalize_attribute(label), "")
    if attribute and attribute != "build":
        yield attribute, value
    if normalize_attribute(label) == "description" and not _ANOTHERS.search(value):
        for looks, pattern in _IN_A_NOTE:
            if match := pattern.search(value):
                yield looks, match["value"]


def _told(
    sourced_fact: SourcedFact, person: str, material: VisibleFacts
) -> Iterator[Statement]:
    fact, place = sourced_fact.fact, sourced_fact.evidence
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
        yield from _kin(
            sourced_fact, person, material, StatementSource.TEXT, certain=certain
        )
    elif attribute := COMPARED_ATTRIBUTES.get(
        normalize_attribute(fact.detail("attribute")), ""
    ):
        for name, value in _looks(attribute, fact.value):
            yield _made(
                sourced_fact,
                person,
                name,
                value,
                material,
                StatementSource.TEXT,
                certain,
            )


def _looks(attribute: str, value: str) -> Iterator[tuple[str, str]]:
    """Yield what is said; of a build that somebody is red-haired, their hair."""
    if attribute != "build":
        yield attribute, value
        return
    for match in _ITS_LOOKS.finditer(value):
        yield ("hair" if match["of"] == "haired" else "eyes"), match["value"]


def _moves_own(text: str, span: Span, person: str, material: VisibleFacts) -> bool:
    """Say whether "her blue eyes" are those of whoever raises them."""
    words = re.match(r"(his|her) .*(eyes|hair)$", text[span.start : span.end], re.S)
    visible_character = material.roll.seen.get(person)
    if not (
        words
        and visible_character
        and visible_character.character.gender is _SEX[words[1]]
    ):
        return False
    moves = _OWN_EYES if words[2] == "eyes" else _OWN_HAIR
    return bool(moves.search(text[max(0, span.start - 20) : span.start]))


def _looked(text: str, span: Span, person: str, material: VisibleFacts) -> bool:
    """Say whether somebody was looked at "with those green eyes" by the other sex."""
    if not text[span.start : span.end].startswith("with those"):
        return False
    sentence = find_enclosing_sentence(text, span)
    match = re.search(r"\blook\w* at (him|her)\b", text[sentence.start : span.start])
    visible_character = material.roll.seen.get(person)
    other = {"him": Gender.FEMALE, "her": Gender.MALE}
    return bool(
        match
        and visible_character
        and visible_character.character.gender is other[match[1]]
    )


def _kin(
    sourced_fact: SourcedFact,
    person: str,
    material: VisibleFacts,
    source: StatementSource,
    *,
    certain: bool,
) -> Iterator[Statement]:
    other = material.roll.person(sourced_fact.fact.detail("target"))
    kind = sourced_fact.fact.detail("kind").casefold()
    if other and other != person and kind and certain:
        yield _made(
            sourced_fact, person, KINSHIP_ATTRIBUTE, kind, material, source, True, other
        )


def _made(
    sourced_fact: SourcedFact,
    person: str,
    attribute: str,
    value: str,
    material: VisibleFacts,
    source: StatementSource,
    certain: bool = True,
    other: str = "",
) -> Statement:
    place, span = sourced_fact.evidence, sourced_fact.fact.spans[0]
    enclosing_sentence = find_enclosing_sentence(
        material.sight.texts[place.document].text, span
    )
    evidence = material.sight.evidence(
        place.document, (enclosing_sentence,), place.keeper, place.certainty
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
