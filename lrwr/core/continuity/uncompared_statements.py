"""What no rule compares, as statements: notes and answers word by word, facts by name."""

import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType

from lrwr.core.bible.claims import SourcedFact, VisibleFacts, normalize_attribute
from lrwr.core.canon.model import Canon
from lrwr.core.continuity.statements import (
    COMPARED_ATTRIBUTES,
    KINSHIP_ATTRIBUTE,
    Statement,
    find_enclosing_sentence,
    is_asserted_in_context,
    mentions_change,
)
from lrwr.core.continuity.values import StatementSource
from lrwr.core.model.facts import (
    WRITER_KEEPER,
    Certainty,
    CharacterField,
    Fact,
    FactAbout,
    WorldField,
)
from lrwr.core.model.text import extract_content_words, stem_lightly
from lrwr.core.nlp.facts.claims import SPOKEN_DETAIL
from lrwr.core.nlp.facts.kinship import RELATIONSHIP_WORDS

DESCRIPTION_ATTRIBUTE = "description"

_LABELS: Mapping[str, str] = MappingProxyType(
    {
        "job": "occupation", "trade": "occupation", "profession": "occupation",
        "work": "occupation", "role": "occupation", "living": "occupation",
        "live": "home", "residence": "home", "address": "home", "house": "home",
        "birthplace": "place of birth", "born in": "place of birth",
    }
)  # fmt: skip
"""What two writers call one attribute."""

_ANOTHER_TIME = re.compile(
    r"\b(?:once|former\w*|used to|until|till|later|after|before|since|becomes?|will|"
    r"ch(?:apter)?\.? ?\d+|secret\w*|pretend\w*|claims?|lies?)\b",
    re.I,
)
"""Words of a note that say when it holds, or of whom: it cannot be held against all."""

_MEANT_TEXT = (
    "want need goal motivation motive fear desire hope wish arc theme flaw strength "
    "weakness secret lie truth conflict stake function archetype inspiration actor "
    "face claim summary note idea question todo source song playlist"
)
_MEANT = frozenset(_MEANT_TEXT.split())
"""Labels of what the writer means with somebody: no passage can gainsay it."""

_LOOKS = frozenset({"eye", "hair", "eyed", "haired"})


def collect_uncompared_statements(
    material: VisibleFacts, canon: Canon
) -> list[Statement]:
    """Return what is stated and no rule compares, in story order.

    Of the story what is told, by the narrator, of somebody by name; of notes and
    answers all that holds at any time.
    """
    statements = [
        statement
        for about in (FactAbout.CHARACTER, FactAbout.WORLD)
        for sourced_fact in material.about(about)
        for statement in _of(sourced_fact, material)
    ]
    statements += _answers(material, canon)
    return sorted(statements, key=lambda statement: statement.rank)


def extract_content_stems(text: str) -> frozenset[str]:
    """Return the stems of a text's content words, without those for eyes and hair."""
    stems = frozenset(map(stem_lightly, extract_content_words(text)))
    return stems - _LOOKS


def _of(sourced_fact: SourcedFact, material: VisibleFacts) -> Iterator[Statement]:
    fact, is_story = (
        sourced_fact.fact,
        material.sight.tells(sourced_fact.evidence.document),
    )
    about, label = _about(fact, material), _label(fact)
    if not (about and label) or SPOKEN_DETAIL in fact.details:
        return
    if not is_story and fact.keeper == WRITER_KEEPER:
        if not _ANOTHER_TIME.search(fact.value):
            yield _made(sourced_fact, about, label, StatementSource.NOTE, material)
    elif (
        is_story and label != DESCRIPTION_ATTRIBUTE and _is_told(sourced_fact, material)
    ):
        yield _made(sourced_fact, about, label, StatementSource.TEXT, material)


def _about(fact: Fact, material: VisibleFacts) -> str:
    if fact.about is FactAbout.CHARACTER:
        return material.roll.person(fact.subject)
    return fact.subject


def _label(fact: Fact) -> str:
    """Return which attribute a fact tells; empty where rules compare it or nobody can."""
    if fact.field == WorldField.DESCRIPTION:
        return DESCRIPTION_ATTRIBUTE
    if fact.field == CharacterField.BEHAVIOR:
        return "habits"
    if fact.field != CharacterField.ATTRIBUTE:
        return ""
    return label_attribute(fact.detail("attribute"))


def label_attribute(attribute: str) -> str:
    """Return what an attribute is called here; empty where rules compare it."""
    key = normalize_attribute(attribute)
    compared = (
        COMPARED_ATTRIBUTES.get(key, "") not in ("", "build")
        or key in RELATIONSHIP_WORDS
        or key == KINSHIP_ATTRIBUTE
    )
    if compared or not _MEANT.isdisjoint(key.split()):
        return ""
    return _LABELS.get(key, COMPARED_ATTRIBUTES.get(key, "") or key)


def _is_told(sourced_fact: SourcedFact, material: VisibleFacts) -> bool:
    """Say whether the narrator asserts it, as it is now."""
    place, span = sourced_fact.evidence, sourced_fact.fact.spans[0]
    text = material.sight.texts[place.document].text
    is_certain = sourced_fact.fact.certainty is not Certainty.PROBABLE
    asserted = place.chapter is not None and is_asserted_in_context(text, span)
    return is_certain and asserted and not mentions_change(text, span)


def _made(
    sourced_fact: SourcedFact,
    about: str,
    label: str,
    source: StatementSource,
    material: VisibleFacts,
) -> Statement:
    horizon_view, place, span = (
        material.sight,
        sourced_fact.evidence,
        sourced_fact.fact.spans[0],
    )
    text = horizon_view.texts[place.document].text
    sentence_span = (
        find_enclosing_sentence(text, span) if source is StatementSource.TEXT else span
    )
    evidence = horizon_view.evidence(
        place.document, (sentence_span,), place.keeper, place.certainty
    )
    rank = horizon_view.key(place.document, span.start)
    return Statement(
        about, label, sourced_fact.fact.value, source, True, rank, evidence, span
    )


def _answers(material: VisibleFacts, canon: Canon) -> Iterator[Statement]:
    for question, value in canon.answers.items():
        label = label_attribute(question.attribute)
        about = material.roll.person(question.about) or question.about
        if about and label and not _ANOTHER_TIME.search(value):
            yield Statement(
                about, label, value, StatementSource.ANSWER, True, (-2, "", 0)
            )
