"""Statements about characters in notes, canon answers and story text, and the
contradictions between them.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from types import MappingProxyType

from lrwr.core.bible.profiles import SourcedFact, VisibleFacts, normalize_attribute
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
from lrwr.core.nlp.facts.attribute_rules import AGE, EYE, HAIR, NUMBER
from lrwr.core.nlp.facts.clauses import SPOKEN_DETAIL, is_asserted
from lrwr.core.nlp.facts.kinship import RELATIONSHIP_WORDS

ASSERTION_CACHE_SIZE = 8_192
"""Cached facts. Watch checks all facts after each save, and most are unchanged."""


class StatementSource(StrEnum):
    """Where a statement comes from: a note, a decision in the canon file, or story
    text.
    """

    NOTE = "note"
    ANSWER = "canon answer"
    """A decision in the canon file; it has no passage."""
    TEXT = "text"


@dataclass(frozen=True, slots=True)
class ContradictionSide:
    """One of the two values of a contradiction, and where it is stated.

    `evidence` lists whole sentences in story order; empty only for answers in the canon
    file and confirmed names.
    """

    value: str
    source: StatementSource
    evidence: tuple[TextEvidence, ...] = ()


@dataclass(frozen=True, slots=True)
class Contradiction:
    """Two values of one attribute of `about`, a character or thing, that cannot both be
    true.

    `canon` is the value that counts as true, `found` the contradicting one. `id` is
    derived from the meaning of both values, not their wording. `intended` means that
    the user accepted it, with the optional reason `because`. `possible` means that
    rules are not sure of it. If a language model found it, `judge` is its name, `why`
    its reason, and the values are quotations; if rules did, both are empty.
    """

    id: str
    about: str
    attribute: str
    canon: ContradictionSide
    found: ContradictionSide
    intended: bool = False
    because: str = ""
    possible: bool = False
    judge: str = ""
    why: str = ""


@dataclass(frozen=True, slots=True)
class NewContradictions:
    """Contradictions that the previous check did not find, without intended ones."""

    found: tuple[Contradiction, ...]


# End of a sentence: . ! or ? and closing marks, not after an abbreviated title
_END = re.compile(r"(?<!\bMr)(?<!\bMrs)(?<!\bMs)(?<!\bDr)(?<!\bSt)[.!?][”’\"')*_]*\s")
# The sentence reports what others say, or marks it as doubtful or false
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
# The sentence is about something imagined
_IMAGINED = re.compile(r"\b(?:imagin\w+|pretend\w*|pictured?|mask\w*|doll)\b", re.I)
# The paragraph is about a dream, picture, disguise or fiction inside the story
_FICTIONAL = re.compile(
    r"\b(?:dream\w*|nightmare\w*|vision|portrait|a picture|painting|photograph\w*|"
    r"miniature|disguise\w*|wig|on (?:the )?stage|actor|actress|"
    r"play(?:ed|ing)? the part|legend|delirium|delirious|statue|ghost|(?:in|for|on|to) (?:\w+(?:['’]s)? ){1,3}?(?:story|tale|play|novel|poem|"
    r"ballad|song|film|drama|charade|tableau|masquerade|masque|pantomime|fiction)s?)\b",
    re.I,
)
# The sentence is about the past or about a change of looks
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
WHEN = re.compile(
    r"\b(?:when|since|until|till|after|by the time|at th(?:at|is) time|remember\w*|"
    r"recall\w*|then|from the age|in \d{4}|as long as|before|ever since|while)\b",
    re.I,
)
"""An age in a sentence with these words may belong to another time."""
_TIME_OR_PLACE = re.compile(
    r"\W*(?:(?:And|But|Then),? )?(?:at|in|on|during|for|by)\b", re.I
)
_APOSTROPHES = re.compile(r"(?:^|(?<=[\s—]))['‘](?=[A-Z])(?:[^'’]|(?<=\w)['’](?=\w))*$")
"""An open quotation in single marks at the end of the text."""


def find_enclosing_sentence(text: str, span: Span) -> Span:
    """Return the span of the sentence of `text` that contains `span`; of all sentences
    that it touches, if there are several.

    It never crosses the end of the paragraph.
    """
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
    """Return the span of the paragraph of `text` that contains `span`.

    Blank lines separate paragraphs.
    """
    start = text.rfind("\n\n", 0, span.start)
    end = text.find("\n\n", span.end)
    return Span(0 if start < 0 else start + 2, len(text) if end < 0 else end)


@lru_cache(maxsize=ASSERTION_CACHE_SIZE)
def is_asserted_in_context(text: str, span: Span) -> bool:
    """Return whether `text` asserts the words at `span` as a fact of the story.

    False for doubt, hearsay, dreams, pictures and fiction within the story, and for
    words in italics or quotation marks of any kind.
    """
    sentence = find_enclosing_sentence(text, span)
    before = re.sub(r"\blike th(?:at|is)\b", "", text[sentence.start : span.start])
    return is_asserted(before) and is_narrated(text, span)


def is_narrated(text: str, span: Span) -> bool:
    """Return whether the narrator says the words at `span`, and says them of the story:
    they may still be doubtful, but are no hearsay, dream, picture, fiction or quotation.
    """
    sentence = find_enclosing_sentence(text, span)
    paragraph = find_enclosing_paragraph(text, span)
    if any(
        pattern.search(text, sentence.start, sentence.end)
        for pattern in (_HEARSAY, _IMAGINED)
    ):
        return False
    if _FICTIONAL.search(text, paragraph.start, paragraph.end):
        return False
    led = text[paragraph.start : span.start]
    is_quoted = led.count("“") > led.count("”") or led.count('"') % 2
    is_quoted = is_quoted or bool(_APOSTROPHES.search(led))
    return not is_quoted and led.count("*") % 2 == 0 and led.count("_") % 2 == 0


def mentions_change(text: str, span: Span) -> bool:
    """Return whether the sentence of `text` at `span` is about another time or a
    change.

    Such a sentence, as in "her hair had been red", contradicts nothing.
    """
    sentence = find_enclosing_sentence(text, span)
    return bool(_CHANGES.search(text, sentence.start, sentence.end))


def mentions_past_age(text: str, span: Span) -> bool:
    """Return whether the age in the sentence of `text` at `span` may be that of another
    time.

    Also true if the sentence starts with a time or place ("In the year of the flood
    …").
    """
    sentence = find_enclosing_sentence(text, span)
    if _TIME_OR_PLACE.match(text, sentence.start, span.start):
        return True
    return bool(WHEN.search(text, sentence.start, sentence.end))


KINSHIP_ATTRIBUTE = "kin"
"""Attribute of kinship statements: `other` is the `value` ("father") of `about`."""
COMPARED_ATTRIBUTES = MappingProxyType(
    {
        "eye": "eyes", "hair": "hair", "age": "age", "life": "life", "born": "born",
        "birthday": "born", "birth": "born", "date birth": "born", "date of birth": "born",
        "birth date": "born", "build": "build",
    }
)  # fmt: skip
"""Attributes that rules compare, by the names that writers use for them."""
_LOOKS_ADJECTIVE = re.compile(r"(?P<value>[a-z]+)-(?P<of>haired|eyed)\b")
_NOTE_LOOKS = (
    ("eyes", re.compile(rf"\b(?P<value>{EYE}) eyes\b", re.I)),
    ("eyes", re.compile(rf"\beyes (?:are |of )?(?P<value>{EYE})\b", re.I)),
    ("hair", re.compile(rf"\b(?P<value>{HAIR}) hair\b", re.I)),
    ("hair", re.compile(rf"\bhair (?:is )?(?P<value>{HAIR})\b", re.I)),
    (
        "age",
        re.compile(
            rf"\b(?:aged |(?:he|she) is |(?:man|woman|girl|boy) of |(?:^|, )(?=past |nearly "
            rf"|about |over |just ))(?P<value>{AGE})(?= years old|[.,;]|$)",
            re.I,
        ),
    ),
    ("age", re.compile(rf"\b(?P<value>{NUMBER})[- ]years?[- ]old\b", re.I)),
)
# The description is about a relative, or about another time
_OTHER_PERSON_OR_TIME = re.compile(
    rf"\b(?:{'|'.join(sorted(RELATIONSHIP_WORDS))})(?:s|'s|’s)?\b|\b\w+['’]s\b|\[\[|\b(?:not|never|"
    r"once|dyed?|wig|was|had|when|before|after|until)\b",
    re.I,
)
# A verb before "her eyes" whose subject owns them ("raised her blue eyes")
_OWN_EYES = re.compile(
    r"\b(?:open|rais|lift|shut|clos|lower|narrow|rubb?|wip|fix|turn|blink|widen|roll)"
    r"(?:e?d|t?ing|ing|)(?: up)? $"
)
_OWN_HAIR = re.compile(
    r"\b(?:push|toss|tie|ty|pinn|shook|shak|swept|sweep|smooth|brush|comb|wore|wear)"
    r"(?:e?d|ing|)(?: (?:back|up|out|away))? $"
)
# Words after a subject that name nobody else who may own "his father"
_ONLY_SUBJECT = (
    r"(?:,? and|(?: (?!(?:and|whose|who|an?|the|another|every|each|one)\b)[a-z]+){0,3}?"
    r"(?: an? (?:letter|note|visit|message|line|word|present))?(?: [a-z]+)?)\s"
)
_PRONOUN_GENDER = MappingProxyType({"his": Gender.MALE, "her": Gender.FEMALE})


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement that an attribute of `about`, a character or thing, has a value.

    For kinship, `other` is the `value` ("father") of `about`; else it is empty. Both
    are names of the whole cast. `evidence` is the whole sentence, `span` the exact
    words in its document; both are None for answers in the canon file and confirmed
    names. `rank` sorts by story order, notes and answers first. If `certain` is false,
    it cannot contradict later statements.
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
        """The document that makes the statement; None without `evidence`."""
        return self.evidence.document if self.evidence else None


def collect_statements(material: VisibleFacts, canon: Canon) -> list[Statement]:
    """Return the statements about attributes and kinship of characters that rules
    compare, in story order, notes and answers of `canon` first.

    Story text counts only where the narration asserts it about a named character.
    """
    statements = [
        statement
        for sourced_fact in material.about(FactAbout.CHARACTER)
        for statement in _statements_of_fact(sourced_fact, material)
    ]
    statements += _answer_statements(material, canon)
    return sorted(statements, key=lambda statement: statement.rank)


def _statements_of_fact(
    sourced_fact: SourcedFact, material: VisibleFacts
) -> Iterator[Statement]:
    fact = sourced_fact.fact
    person = material.cast.resolve_name(fact.subject)
    if not person or SPOKEN_DETAIL in fact.details:
        return
    if fact.keeper == WRITER_KEEPER and not material.view.is_story(
        sourced_fact.evidence.document
    ):
        yield from _note_statements(sourced_fact, person, material)
    elif fact.keeper == RULES_KEEPER and material.view.is_story(
        sourced_fact.evidence.document
    ):
        yield from _story_statements(sourced_fact, person, material)


def _note_statements(
    sourced_fact: SourcedFact, person: str, material: VisibleFacts
) -> Iterator[Statement]:
    fact = sourced_fact.fact
    if fact.field == CharacterField.RELATIONSHIP:
        yield from _kinship_statements(
            sourced_fact, person, material, StatementSource.NOTE, certain=True
        )
    elif fact.field == CharacterField.ATTRIBUTE:
        for attribute, value in _note_values(fact.detail("attribute"), fact.value):
            yield build_statement(
                sourced_fact, person, attribute, value, material, StatementSource.NOTE
            )


def _note_values(label: str, value: str) -> Iterator[tuple[str, str]]:
    attribute = COMPARED_ATTRIBUTES.get(normalize_attribute(label), "")
    if attribute and attribute != "build":
        yield attribute, value
    if normalize_attribute(label) == "description" and not _OTHER_PERSON_OR_TIME.search(
        value
    ):
        for looks, pattern in _NOTE_LOOKS:
            if match := pattern.search(value):
                yield looks, match["value"]


def _story_statements(
    sourced_fact: SourcedFact, person: str, material: VisibleFacts
) -> Iterator[Statement]:
    fact, place = sourced_fact.fact, sourced_fact.evidence
    text, span = material.view.texts[place.document].text, fact.spans[0]
    if place.chapter is None or not is_asserted_in_context(text, span):
        return
    certain = fact.certainty is not Certainty.PROBABLE
    certain = certain or _is_subject_kin(sourced_fact, person, text, material)
    if not (
        certain
        or _moves_own(text, span, person, material)
        or _is_looked_at(text, span, person, material)
    ):
        return
    if fact.field == CharacterField.RELATIONSHIP:
        yield from _kinship_statements(
            sourced_fact, person, material, StatementSource.TEXT, certain=certain
        )
    elif attribute := COMPARED_ATTRIBUTES.get(
        normalize_attribute(fact.detail("attribute")), ""
    ):
        for name, value in _split_looks(attribute, fact.value):
            yield build_statement(
                sourced_fact,
                person,
                name,
                value,
                material,
                StatementSource.TEXT,
                certain,
            )


def _split_looks(attribute: str, value: str) -> Iterator[tuple[str, str]]:
    """Yield attribute and value; the build "red-haired" gives ("hair", "red")."""
    if attribute != "build":
        yield attribute, value
        return
    for match in _LOOKS_ADJECTIVE.finditer(value):
        yield ("hair" if match["of"] == "haired" else "eyes"), match["value"]


def _is_subject_kin(
    sourced_fact: SourcedFact, person: str, text: str, material: VisibleFacts
) -> bool:
    """Return whether only the subject can own "his" in "his father, Bram"."""
    fact, visible = sourced_fact.fact, material.cast.visible.get(person)
    gender = _PRONOUN_GENDER.get(fact.detail("pronoun"))
    if not gender or visible is None or visible.character.gender is not gender:
        return False
    before = text[
        find_enclosing_sentence(text, fact.spans[0]).start : fact.spans[0].start
    ]
    return bool(re.fullmatch(re.escape(fact.subject) + _ONLY_SUBJECT, before))


def _moves_own(text: str, span: Span, person: str, material: VisibleFacts) -> bool:
    """Return whether "her blue eyes" belong to the character who moves them."""
    words = re.match(r"(his|her) .*(eyes|hair)$", text[span.start : span.end], re.S)
    visible_character = material.cast.visible.get(person)
    if not (
        words
        and visible_character
        and visible_character.character.gender is _PRONOUN_GENDER[words[1]]
    ):
        return False
    moves = _OWN_EYES if words[2] == "eyes" else _OWN_HAIR
    return bool(moves.search(text[max(0, span.start - 20) : span.start]))


def _is_looked_at(text: str, span: Span, person: str, material: VisibleFacts) -> bool:
    """Return whether the other person looks "at him … with those green eyes"."""
    if not text[span.start : span.end].startswith("with those"):
        return False
    sentence = find_enclosing_sentence(text, span)
    match = re.search(r"\blook\w* at (him|her)\b", text[sentence.start : span.start])
    visible_character = material.cast.visible.get(person)
    other = {"him": Gender.FEMALE, "her": Gender.MALE}
    return bool(
        match
        and visible_character
        and visible_character.character.gender is other[match[1]]
    )


def _kinship_statements(
    sourced_fact: SourcedFact,
    person: str,
    material: VisibleFacts,
    source: StatementSource,
    *,
    certain: bool,
) -> Iterator[Statement]:
    other = material.cast.resolve_name(sourced_fact.fact.detail("target"))
    kind = sourced_fact.fact.detail("kind").casefold()
    if other and other != person and kind and certain:
        yield build_statement(
            sourced_fact, person, KINSHIP_ATTRIBUTE, kind, material, source, True, other
        )


def build_statement(
    sourced_fact: SourcedFact,
    person: str,
    attribute: str,
    value: str,
    material: VisibleFacts,
    source: StatementSource,
    certain: bool = True,
    other: str = "",
) -> Statement:
    """Return the statement that a fact makes about `person`, with its sentence."""
    place, span = sourced_fact.evidence, sourced_fact.fact.spans[0]
    enclosing_sentence = find_enclosing_sentence(
        material.view.texts[place.document].text, span
    )
    evidence = material.view.evidence(
        place.document, (enclosing_sentence,), place.keeper, place.certainty
    )
    rank = material.view.sort_key(place.document, span.start)
    return Statement(
        person, attribute, value, source, certain, rank, evidence, span, other
    )


def _answer_statements(material: VisibleFacts, canon: Canon) -> Iterator[Statement]:
    for question, value in canon.answers.items():
        person = material.cast.resolve_name(question.about)
        label = normalize_attribute(question.attribute)
        attribute = COMPARED_ATTRIBUTES.get(label, "")
        other = material.cast.resolve_name(value)
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
