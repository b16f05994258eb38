"""A pair: what is confirmed, and a passage that may gainsay it. For a model to judge."""

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from lrwr.core.bible.claims import SourcedFact, VisibleFacts, normalize_attribute
from lrwr.core.bible.horizon import HorizonView
from lrwr.core.bible.values import TextEvidence
from lrwr.core.canon.model import Canon
from lrwr.core.continuity.statements import (
    COMPARED_ATTRIBUTES,
    KINSHIP_ATTRIBUTE,
    Statement,
    StatementSource,
    find_enclosing_paragraph,
    find_enclosing_sentence,
    is_asserted_in_context,
    mentions_change,
)
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.facts import (
    WRITER_KEEPER,
    Certainty,
    CharacterField,
    Fact,
    FactAbout,
    WorldField,
)
from lrwr.core.model.text import Span, extract_content_words, stem_lightly
from lrwr.core.nlp.facts.clauses import SPOKEN_DETAIL
from lrwr.core.nlp.facts.kinship import RELATIONSHIP_WORDS

PAIR_CONTEXT_CHARS = 300
"""Characters of the same paragraph that are shown on each side, at most."""


@dataclass(frozen=True, slots=True)
class PairPassage:
    """Words to be judged, with a little of what stands around them.

    `core` is where in `text` the sentences stand that say it; the rest is there to be
    understood by. `start` is where `text` begins in its document, verbatim. What the
    writer decided in the canon file has no document and no evidence.
    """

    text: str
    core: Span
    source: StatementSource
    document: DocumentId | None = None
    start: int = 0
    evidence: TextEvidence | None = None


@dataclass(frozen=True, slots=True)
class StatementPair:
    """Two passages on one attribute of somebody or something; `canon` counts."""

    about: str
    attribute: str
    canon: PairPassage
    found: PairPassage

    def touches(self, documents: Collection[DocumentId]) -> bool:
        """Say whether either passage is in one of `documents`."""
        return any(
            passage.document in documents for passage in (self.canon, self.found)
        )


def build_pair_passage(
    statement: Statement, horizon_view: HorizonView
) -> PairPassage | None:
    """Return the passage of a statement; None where nothing of it may be shown.

    Of a note it is the sentence alone. Authors' comments are never part of it, nor is
    anything beyond the scene.
    """
    if statement.evidence is None:
        fact_text = f"{statement.attribute}: {statement.value}"
        return PairPassage(fact_text, Span(0, len(fact_text)), statement.source)
    document, core = statement.evidence.document, statement.evidence.spans[0]
    text = horizon_view.texts[document].text
    shown_span = core
    if horizon_view.tells(document):
        own_part = _own_part(document, statement.span or core, horizon_view)
        if own_part is None:
            return None
        core = Span(max(core.start, own_part.start), min(core.end, own_part.end))
        shown_span = _around(text, core, own_part)
    elif "<!--" in text[core.start : core.end] or "%%" in text[core.start : core.end]:
        return None
    return PairPassage(
        text=text[shown_span.start : shown_span.end],
        core=Span(core.start - shown_span.start, core.end - shown_span.start),
        source=statement.source,
        document=document,
        start=shown_span.start,
        evidence=statement.evidence,
    )


def _own_part(
    document: DocumentId, span: Span, horizon_view: HorizonView
) -> Span | None:
    """Return the stretch of the story's own words that `span` begins in."""
    parts = (
        part
        for chapter in horizon_view.order.outlines[document].chapters
        for scene in chapter.scenes
        for part in scene.parts
    )
    return next((part for part in parts if part.start <= span.start < part.end), None)


def _around(text: str, core: Span, own_part: Span) -> Span:
    paragraph = find_enclosing_paragraph(text, core)
    start = max(own_part.start, paragraph.start, core.start - PAIR_CONTEXT_CHARS)
    end = min(own_part.end, paragraph.end, core.end + PAIR_CONTEXT_CHARS)
    while start < core.start and _inside_word(text, start):
        start += 1
    while end > core.end and _inside_word(text, end):
        end -= 1
    return Span(start, end)


def _inside_word(text: str, at: int) -> bool:
    return 0 < at < len(text) and text[at - 1].isalnum() and text[at].isalnum()


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
