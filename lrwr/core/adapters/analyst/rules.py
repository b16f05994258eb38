"""The analyst that uses English rules only; it sends nothing and costs nothing."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain

from lrwr.core.model.facts import RULES_KEEPER, RULES_REVISION, Fact
from lrwr.core.model.language_model import Usage
from lrwr.core.model.text import SentenceSplitter, Span
from lrwr.core.nlp.facts.attributes import find_attribute_facts
from lrwr.core.nlp.facts.kinship import find_kinship_facts
from lrwr.core.nlp.facts.life_events import find_life_event_facts
from lrwr.core.nlp.facts.participants import (
    find_reported_speech_facts,
)
from lrwr.core.nlp.facts.places import find_place_facts
from lrwr.core.nlp.facts.relation_cues import find_relation_cues
from lrwr.core.nlp.text.prose import (
    AnnotatedProse,
    annotate_prose,
    ends_in_speech,
    find_marked_gaps,
    split_scene_spans,
)
from lrwr.core.nlp.text.scenes import (
    classify_passage,
    infer_point_of_view,
    select_key_sentences,
)
from lrwr.core.ports.models import Excerpt, ExcerptFinding


class RulesAnalyst:
    """Extracts facts from excerpts by rules; other facts need a language model."""

    def __init__(self, sentences: SentenceSplitter) -> None:
        self._sentences = sentences

    @property
    def name(self) -> str:
        """The name of this analyst as the source of facts."""
        return RULES_KEEPER

    @property
    def revision(self) -> str:
        """The version of the rules; documents are analysed again when it changes."""
        return RULES_REVISION

    def prompt_tokens(self, excerpts: Sequence[Excerpt], *, extracting: bool) -> int:
        """Return 0, since no model is called; the arguments are ignored."""
        del excerpts, extracting
        return 0

    async def classify(
        self, excerpts: Sequence[Excerpt]
    ) -> tuple[list[ExcerptFinding], Usage]:
        """Return one finding per excerpt, in the order of `excerpts`, and an empty
        usage.

        A finding has the content type of the passage and the marked gaps, such as TODO.
        """
        return [self._classified(excerpt) for excerpt in excerpts], Usage()

    async def extract(self, excerpt: Excerpt) -> tuple[ExcerptFinding, Usage]:
        """Return the facts stated in an excerpt, in text order, and an empty usage.

        They are about kinship, attributes, settings, reported speech, events and
        scenes.
        """
        prose = annotate_prose(excerpt.text, self._sentences, excerpt.known)
        events = list(find_life_event_facts(prose))
        facts = chain(
            find_kinship_facts(prose),
            find_relation_cues(prose),
            find_attribute_facts(prose),
            find_place_facts(prose),
            find_reported_speech_facts(prose),
            events,
            _scenes(prose, events),
        )
        return ExcerptFinding(_placed(facts, excerpt)), Usage()

    def _classified(self, excerpt: Excerpt) -> ExcerptFinding:
        prose = annotate_prose(excerpt.text, self._sentences, excerpt.known)
        facts = chain(
            classify_passage(prose, in_speech=ends_in_speech(excerpt.before)),
            find_marked_gaps(excerpt.text, excerpt.known),
        )
        return ExcerptFinding(_placed(facts, excerpt))


def _scenes(prose: AnnotatedProse, events: Sequence[Fact]) -> Iterator[Fact]:
    for scene in split_scene_spans(prose.text):
        for fact in (
            infer_point_of_view(prose, scene),
            select_key_sentences(prose, scene, events),
        ):
            if fact:
                yield fact


def _placed(facts: Iterator[Fact], excerpt: Excerpt) -> tuple[Fact, ...]:
    """Return facts with spans in the document, in text order."""
    start = excerpt.span.start
    moved = (
        replace(
            fact,
            spans=tuple(Span(s.start + start, s.end + start) for s in fact.spans),
        )
        for fact in facts
    )
    return tuple(sorted(moved, key=lambda fact: (fact.spans, fact.about, fact.field)))
