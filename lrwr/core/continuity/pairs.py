"""Pairs of a confirmed statement and a story passage, which a language model judges."""

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from lrwr.core.bible.horizon import HorizonView
from lrwr.core.bible.profiles import SourcedFact, VisibleFacts, normalize_attribute
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
from lrwr.core.model.text import (
    Span,
    extract_content_words,
    is_inside_word,
    stem_lightly,
)
from lrwr.core.nlp.facts.clauses import SPOKEN_DETAIL
from lrwr.core.nlp.facts.kinship import RELATIONSHIP_WORDS

PAIR_CONTEXT_CHARS = 300
"""Maximum characters of context on each side, within the paragraph."""


@dataclass(frozen=True, slots=True)
class PairPassage:
    """The passage of one statement, with its context, as a model will see it.

    `core` is the span of the statement within `text`. `start` is the offset of `text`
    in `document`, in characters. For an answer in the canon file, `document` and
    `evidence` are None and `start` is 0.
    """

    text: str
    core: Span
    source: StatementSource
    document: DocumentId | None = None
    start: int = 0
    evidence: TextEvidence | None = None


@dataclass(frozen=True, slots=True)
class StatementPair:
    """Two passages about one attribute of `about`, a character or thing.

    `canon` is the passage that counts as true (a note, an answer in the canon file or
    an earlier document), `found` a passage of the story that may contradict it.
    """

    about: str
    attribute: str
    canon: PairPassage
    found: PairPassage

    def touches(self, documents: Collection[DocumentId]) -> bool:
        """Return whether either passage is in one of `documents`."""
        return any(
            passage.document in documents for passage in (self.canon, self.found)
        )


def build_pair_passage(
    statement: Statement, horizon_view: HorizonView
) -> PairPassage | None:
    """Return the passage of `statement` with its context.

    A note gives the statement alone; story text up to `PAIR_CONTEXT_CHARS` more
    characters on each side, within the paragraph and scene. None if the statement
    stands in an author's comment or outside of scenes, or its note contains a comment.
    """
    if statement.evidence is None:
        fact_text = f"{statement.attribute}: {statement.value}"
        return PairPassage(fact_text, Span(0, len(fact_text)), statement.source)
    document, core = statement.evidence.document, statement.evidence.spans[0]
    text = horizon_view.texts[document].text
    shown_span = core
    if horizon_view.is_story(document):
        own_part = _enclosing_part(document, statement.span or core, horizon_view)
        if own_part is None:
            return None
        core = Span(max(core.start, own_part.start), min(core.end, own_part.end))
        shown_span = _context_span(text, core, own_part)
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


def _enclosing_part(
    document: DocumentId, span: Span, horizon_view: HorizonView
) -> Span | None:
    """Return the part of the scene's own text that contains the start of `span`."""
    parts = (
        part
        for chapter in horizon_view.order.outlines[document].chapters
        for scene in chapter.scenes
        for part in scene.parts
    )
    return next((part for part in parts if part.start <= span.start < part.end), None)


def _context_span(text: str, core: Span, own_part: Span) -> Span:
    paragraph = find_enclosing_paragraph(text, core)
    start = max(own_part.start, paragraph.start, core.start - PAIR_CONTEXT_CHARS)
    end = min(own_part.end, paragraph.end, core.end + PAIR_CONTEXT_CHARS)
    while start < core.start and is_inside_word(text, start):
        start += 1
    while end > core.end and is_inside_word(text, end):
        end -= 1
    return Span(start, end)


DESCRIPTION_ATTRIBUTE = "description"
_LABELS: Mapping[str, str] = MappingProxyType(
    {
        "job": "occupation", "trade": "occupation", "profession": "occupation",
        "work": "occupation", "role": "occupation", "living": "occupation",
        "live": "home", "residence": "home", "address": "home", "house": "home",
        "birthplace": "place of birth", "born in": "place of birth",
    }
)  # fmt: skip
"""Standard names of attributes, by synonyms that writers use."""
_LIMITED = re.compile(
    r"\b(?:once|former\w*|used to|until|till|later|after|before|since|becomes?|will|"
    r"ch(?:apter)?\.? ?\d+|secret\w*|pretend\w*|claims?|lies?)\b",
    re.I,
)
"""Words that limit a note in time or truth, so it cannot contradict all passages."""
_INTENT_LABELS_TEXT = (
    "want need goal motivation motive fear desire hope wish arc theme flaw strength "
    "weakness secret lie truth conflict stake function archetype inspiration actor "
    "face claim summary note idea question todo source song playlist"
)
_INTENT_LABELS = frozenset(_INTENT_LABELS_TEXT.split())
"""Attributes about the author's intentions; no passage can contradict them."""
_LOOKS_STEMS = frozenset({"eye", "hair", "eyed", "haired"})


def collect_uncompared_statements(
    material: VisibleFacts, canon: Canon
) -> list[Statement]:
    """Return the statements that no rule compares, in story order, notes first.

    From story text, what the narration asserts about a named character for the present;
    from notes and answers in the canon file, everything that is not limited in time.
    """
    statements = [
        statement
        for about in (FactAbout.CHARACTER, FactAbout.WORLD)
        for sourced_fact in material.about(about)
        for statement in _statements_of_fact(sourced_fact, material)
    ]
    statements += _answer_statements(material, canon)
    return sorted(statements, key=lambda statement: statement.rank)


def extract_content_stems(text: str) -> frozenset[str]:
    """Return the stems of the words of `text` except stop words, "eye" and "hair"."""
    stems = frozenset(map(stem_lightly, extract_content_words(text)))
    return stems - _LOOKS_STEMS


def _statements_of_fact(
    sourced_fact: SourcedFact, material: VisibleFacts
) -> Iterator[Statement]:
    fact, is_story = (
        sourced_fact.fact,
        material.view.is_story(sourced_fact.evidence.document),
    )
    about, label = _about(fact, material), _label(fact)
    if not (about and label) or SPOKEN_DETAIL in fact.details:
        return
    if not is_story and fact.keeper == WRITER_KEEPER:
        if not _LIMITED.search(fact.value):
            yield _build_statement(
                sourced_fact, about, label, StatementSource.NOTE, material
            )
    elif (
        is_story
        and label != DESCRIPTION_ATTRIBUTE
        and _is_narrated(sourced_fact, material)
    ):
        yield _build_statement(
            sourced_fact, about, label, StatementSource.TEXT, material
        )


def _about(fact: Fact, material: VisibleFacts) -> str:
    if fact.about is FactAbout.CHARACTER:
        return material.cast.resolve_name(fact.subject)
    return fact.subject


def _label(fact: Fact) -> str:
    """Return the attribute of a fact; empty if rules compare it or it cannot be
    checked.
    """
    if fact.field == WorldField.DESCRIPTION:
        return DESCRIPTION_ATTRIBUTE
    if fact.field == CharacterField.BEHAVIOR:
        return "habits"
    if fact.field != CharacterField.ATTRIBUTE:
        return ""
    return label_attribute(fact.detail("attribute"))


def label_attribute(attribute: str) -> str:
    """Return the standard name of `attribute`, such as "occupation" for "job".

    Empty if rules compare it, or if no passage can contradict it, such as "goal".
    """
    key = normalize_attribute(attribute)
    compared = (
        COMPARED_ATTRIBUTES.get(key, "") not in ("", "build")
        or key in RELATIONSHIP_WORDS
        or key == KINSHIP_ATTRIBUTE
    )
    if compared or not _INTENT_LABELS.isdisjoint(key.split()):
        return ""
    return _LABELS.get(key, COMPARED_ATTRIBUTES.get(key, "") or key)


def _is_narrated(sourced_fact: SourcedFact, material: VisibleFacts) -> bool:
    """Return whether narration asserts the fact for the present of the story."""
    place, span = sourced_fact.evidence, sourced_fact.fact.spans[0]
    text = material.view.texts[place.document].text
    is_certain = sourced_fact.fact.certainty is not Certainty.PROBABLE
    asserted = place.chapter is not None and is_asserted_in_context(text, span)
    return is_certain and asserted and not mentions_change(text, span)


def _build_statement(
    sourced_fact: SourcedFact,
    about: str,
    label: str,
    source: StatementSource,
    material: VisibleFacts,
) -> Statement:
    horizon_view, place, span = (
        material.view,
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
    rank = horizon_view.sort_key(place.document, span.start)
    return Statement(
        about, label, sourced_fact.fact.value, source, True, rank, evidence, span
    )


def _answer_statements(material: VisibleFacts, canon: Canon) -> Iterator[Statement]:
    for question, value in canon.answers.items():
        label = label_attribute(question.attribute)
        about = material.cast.resolve_name(question.about) or question.about
        if about and label and not _LIMITED.search(value):
            yield Statement(
                about, label, value, StatementSource.ANSWER, True, (-2, "", 0)
            )
