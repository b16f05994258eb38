"""Converts a model's replies into facts with verified quotations."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from lrwr.core.adapters.analyst.model_prompts import (
    Extracted,
    ExtractedGap,
    PassageClassification,
)
from lrwr.core.model.facts import (
    DIRECTED_DETAIL,
    PRESENT_FIELD,
    Certainty,
    CharacterField,
    Fact,
    FactAbout,
    PassageField,
    WorldField,
)
from lrwr.core.model.language_model import Usage, flatten_reply_text
from lrwr.core.model.text import Span
from lrwr.core.nlp.dialogue.quote_lookup import find_fuzzy_quote
from lrwr.core.ports.models import UNSURE_MARK, Excerpt

_FIELDS = {
    "alias": CharacterField.ALIAS,
    "trait": CharacterField.TRAIT,
    "value": CharacterField.STATED_VALUE,
    "behavior": CharacterField.BEHAVIOR,
    "speech": CharacterField.SPEECH_PATTERN,
    "reference": CharacterField.EXTERNAL_REFERENCE,
    "attribute": CharacterField.ATTRIBUTE,
}


@dataclass(slots=True)
class QuoteMatcher:
    """Finds quotations of a model in one excerpt, counts them, and creates facts.

    `keeper` is the source of the facts: the model's name. `offered` counts the calls of
    `find`, `found` those of them whose quotation is in the text.
    """

    excerpt: Excerpt
    keeper: str
    offered: int = 0
    found: int = 0

    def find(self, quote: str) -> tuple[Span, ...]:
        """Return where the excerpt contains `quote`, as spans in the document, and
        count it.

        It is one span, or one for each piece between ellipses in `quote`, in text
        order. Small deviations from the text are tolerated. Empty if the excerpt lacks
        the quotation.
        """
        self.offered += 1
        start = self.excerpt.span.start
        spans = find_fuzzy_quote(quote, self.excerpt.text)
        self.found += bool(spans)
        return tuple(Span(start + span.start, start + span.end) for span in spans)

    def usage(self) -> Usage:
        """Return the numbers of quotations looked up and found so far, as usage."""
        return Usage(quotes=self.offered, verified=self.found)

    def find_name(self, name: str) -> tuple[Span, ...]:
        """Return the span in the document where `name` first occurs in the excerpt.

        If it does not occur, or has only one letter, such as "I", return the span of
        the whole excerpt. Case matters. Nothing is counted.
        """
        start = self.excerpt.span.start
        match = re.search(rf"\b{re.escape(name)}\b", self.excerpt.text)
        if match is None or len(name) < 2:
            return (self.excerpt.span,)
        return (Span(start + match.start(), start + match.end()),)

    def fact(
        self,
        about: FactAbout,
        subject: str,
        field: str,
        value: str,
        spans: tuple[Span, ...],
        *details: tuple[str, str],
        certainty: Certainty = Certainty.VERIFIED,
    ) -> Fact:
        """Return a fact that `field` of `subject` is `value`, with the text at `spans`
        as evidence.

        `subject` may be empty, for a fact about a passage. `details` are pairs of a
        name and a text; those with an empty text are dropped. Each text is put on one
        line.
        """
        kept_details = tuple(
            (name, flatten_reply_text(text))
            for name, text in details
            if flatten_reply_text(text)
        )
        return Fact(
            about,
            flatten_reply_text(subject),
            flatten_reply_text(field),
            flatten_reply_text(value),
            spans,
            self.keeper,
            certainty,
            kept_details,
        )

    def guess(
        self,
        about: FactAbout,
        field: str,
        value: str,
        spans: tuple[Span, ...],
        subject: str = "",
    ) -> Fact:
        """Return a fact of probable certainty that `field` of `subject` is `value`.

        It is the model's opinion about the text at `spans`.
        """
        probable = Certainty.PROBABLE
        return self.fact(about, subject, field, value, spans, certainty=probable)


def build_passage_facts(
    passage: PassageClassification, evidence: QuoteMatcher
) -> Iterator[Fact]:
    """Yield the facts in a model's classification of the excerpt of `evidence`.

    They are its content type, narrative function and Story Grid element, the characters
    present, as facts about the scene, and references. References whose quotation is not
    in the excerpt are dropped.
    """
    excerpt_spans = (evidence.excerpt.span,)
    for field, value in (
        (PassageField.CONTENT_TYPE, passage.content),
        (PassageField.NARRATIVE_FUNCTION, passage.function),
        (PassageField.STORY_GRID_TAG, passage.tag),
    ):
        yield evidence.guess(FactAbout.PASSAGE, field, value, excerpt_spans)
    for name in _unique_texts(passage.present):
        at = evidence.find_name(name)
        yield evidence.guess(FactAbout.SCENE, PRESENT_FIELD, name, at)
    for reference in _unique_texts(passage.references):
        if spans := evidence.find(reference):
            field = PassageField.EXTERNAL_REFERENCE
            yield evidence.fact(FactAbout.PASSAGE, "", field, reference, spans)


def build_extracted_facts(reply: Extracted, evidence: QuoteMatcher) -> Iterator[Fact]:
    """Yield the facts in a reply: scenes, characters, relations, the world, events,
    facts that characters tell each other, gaps, and known names that name no person, in
    this order.

    Facts whose quotation is not in the excerpt of `evidence` are dropped.
    """
    yield from _scenes(reply, evidence)
    yield from _people(reply, evidence)
    yield from _relations(reply, evidence)
    yield from _world(reply, evidence)
    yield from _events(reply, evidence)
    yield from _told(reply, evidence)
    yield from _gaps(reply, evidence)
    for name in _unique_texts(reply.not_people):
        # A model may only exclude a name that it was shown and that stands in the text.
        if name in evidence.excerpt.text and _is_known(name, evidence.excerpt):
            spans = evidence.find_name(name)
            field = CharacterField.NOT_A_PERSON
            yield evidence.guess(FactAbout.CHARACTER, field, "", spans, name)


def _is_known(name: str, excerpt: Excerpt) -> bool:
    lines = (line.removesuffix(UNSURE_MARK) for line in excerpt.cast)
    forms = (form for line in lines for form in line.split(" = "))
    return name in excerpt.known or name in forms


def _scenes(reply: Extracted, evidence: QuoteMatcher) -> Iterator[Fact]:
    for scene in reply.scenes:
        spans = evidence.find(scene.opening)
        for field, value in (("pov", scene.pov), ("recap", scene.recap)):
            if spans and flatten_reply_text(value):
                yield evidence.guess(FactAbout.SCENE, field, value, spans)


def _people(reply: Extracted, evidence: QuoteMatcher) -> Iterator[Fact]:
    for person in reply.people:
        spans = evidence.find(person.quote)
        attribute = (
            flatten_reply_text(person.what).lower()
            if person.kind == "attribute"
            else ""
        )
        if person.kind == "attribute" and not attribute:
            continue
        if (
            spans
            and flatten_reply_text(person.who)
            and flatten_reply_text(person.value)
        ):
            field, detail = _FIELDS[person.kind], ("attribute", attribute)
            yield evidence.fact(
                FactAbout.CHARACTER, person.who, field, person.value, spans, detail
            )


def _relations(reply: Extracted, evidence: QuoteMatcher) -> Iterator[Fact]:
    field = CharacterField.RELATIONSHIP
    for relation in reply.relations:
        spans, person, subject = (
            evidence.find(relation.quote),
            flatten_reply_text(relation.person),
            flatten_reply_text(relation.of),
        )
        if spans and subject and person and subject != person:
            # In "Nell's sister Mags" the subject is Nell: the person whose sister it is.
            details = ("target", person), ("kind", relation.is_), DIRECTED_DETAIL
            yield evidence.fact(
                FactAbout.CHARACTER, subject, field, relation.valence, spans, *details
            )


def _world(reply: Extracted, evidence: QuoteMatcher) -> Iterator[Fact]:
    for element in reply.world:
        spans, name = evidence.find(element.quote), flatten_reply_text(element.name)
        if not spans or not name:
            continue
        yield evidence.fact(
            FactAbout.WORLD, name, WorldField.ELEMENT_TYPE, element.type, spans
        )
        if described := flatten_reply_text(element.about):
            field = WorldField.DESCRIPTION
            yield evidence.fact(FactAbout.WORLD, name, field, described, spans)
        for person in _unique_texts(element.people):
            field = WorldField.CONNECTED
            yield evidence.guess(FactAbout.WORLD, field, person, spans, name)


def _events(reply: Extracted, evidence: QuoteMatcher) -> Iterator[Fact]:
    for event in reply.events:
        spans = evidence.find(event.quote)
        if spans and flatten_reply_text(event.what):
            involved = [("involved", person) for person in _unique_texts(event.people)]
            feels = [("feels", feeling) for feeling in _feelings(event.feelings)]
            details = *involved, *feels, ("story_grid_tag", event.tag)
            yield evidence.fact(
                FactAbout.EVENT, "", "event", event.what, spans, *details
            )


def _feelings(texts: Iterable[str]) -> Iterator[str]:
    """Yield "NAME: feeling" for each text of that form."""
    for text in texts:
        person, _, feels = (
            part.strip() for part in flatten_reply_text(text).partition(":")
        )
        if person and feels:
            yield f"{person}: {feels}"


def _told(reply: Extracted, evidence: QuoteMatcher) -> Iterator[Fact]:
    for telling in reply.told:
        spans = evidence.find(telling.quote)
        if (
            spans
            and flatten_reply_text(telling.who)
            and flatten_reply_text(telling.fact)
        ):
            hearers = [("hearer", name) for name in _unique_texts(telling.to)]
            yield evidence.fact(
                FactAbout.TOLD, telling.who, "told", telling.fact, spans, *hearers
            )


def _gaps(reply: Extracted, evidence: QuoteMatcher) -> Iterator[Fact]:
    for gap in reply.gaps:
        if fact := _gap(gap, evidence, gap.fill):
            yield fact


def _gap(
    gap: ExtractedGap, evidence: QuoteMatcher, suggestion: str = ""
) -> Fact | None:
    spans = evidence.find(gap.quote)
    if not spans or not flatten_reply_text(gap.what):
        return None
    detail = ("suggestion", suggestion)
    return evidence.fact(FactAbout.GAP, gap.who, gap.what, gap.implied, spans, detail)


def _unique_texts(texts: Iterable[str]) -> list[str]:
    """Return the texts on one line each, without duplicates and empty ones."""
    return list(
        dict.fromkeys(
            flattened for text in texts if (flattened := flatten_reply_text(text))
        )
    )
