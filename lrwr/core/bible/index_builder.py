"""Builds the index of the story bible from facts, without the text of the story."""

from collections.abc import Iterable, Sequence

from lrwr.core.bible.horizon import HorizonCast, HorizonView
from lrwr.core.bible.index import (
    BibleIndex,
    IndexedCharacter,
    IndexedElement,
    StoredRelation,
)
from lrwr.core.bible.profiles import build_character_profiles, collect_visible_facts
from lrwr.core.bible.projection import StoryKnowledge
from lrwr.core.bible.relations import collect_relations
from lrwr.core.bible.values import TextEvidence
from lrwr.core.bible.world import (
    collect_world_elements,
    list_outer_words,
    normalize_place_name,
)
from lrwr.core.model.documents import DocumentId, Horizon
from lrwr.core.model.facts import Certainty, FactAbout, list_reader_models
from lrwr.core.model.text import LineRange, Span
from lrwr.core.ports.story_stores import DocumentFact
from lrwr.core.retrieval.story import StoryOrder

INDEXED_FACTS = frozenset(
    {FactAbout.CHARACTER, FactAbout.WORLD, FactAbout.RELATION_CUE}
)
"""The kinds of facts from which a `BibleIndex` is built."""


class OutlineView(HorizonView):
    """The whole story without its text: evidence has no words, lines and chapter.

    Spans are not compared with the length of the text.
    """

    def __init__(self, order: StoryOrder) -> None:
        super().__init__(order, {}, None)
        self._no_lines = LineRange(1, 1)

    def is_visible(self, document: DocumentId, spans: Sequence[Span]) -> bool:
        """Return whether there are `spans`, and `document` is in the library."""
        return self.is_document_visible(document) and bool(spans)

    def is_document_visible(self, document: DocumentId) -> bool:
        """Return whether `document` is in the library."""
        return document in self.order.outlines

    def evidence(
        self,
        document: DocumentId,
        spans: Sequence[Span],
        keeper: str,
        certainty: Certainty,
        *,
        speech: bool = False,
    ) -> TextEvidence:
        """Return `spans` of `document` as evidence without words; see `HorizonView`."""
        del speech
        return TextEvidence(
            document=document,
            spans=tuple(spans),
            text="",
            lines=self._no_lines,
            chapter=None,
            chapter_title="",
            scene=None,
            keeper=keeper,
            certainty=certainty,
        )


def build_bible_index(
    knowledge: StoryKnowledge, horizon: Horizon | None = None
) -> BibleIndex:
    """Return the index of the story bible up to `horizon`; None is the whole story.

    Quotations, appearances and gaps in `knowledge` are ignored; without a horizon,
    texts are, too.
    """
    view = (
        OutlineView(knowledge.order)
        if horizon is None
        else HorizonView(knowledge.order, knowledge.texts, horizon)
    )
    people = HorizonCast(
        knowledge.cast, knowledge.first_seen, view, knowledge.canon.names
    )
    material = collect_visible_facts(knowledge.facts, people, view)
    profiles = build_character_profiles(material, (), ())
    return BibleIndex(
        characters=tuple(
            IndexedCharacter(
                name, visible, tuple(claim.value for claim in profile.also_called)
            )
            for (name, visible), profile in zip(
                people.visible.items(), profiles, strict=True
            )
        ),
        elements=tuple(
            IndexedElement(
                element.name,
                tuple(claim.value for claim in element.connected_characters),
            )
            for element in collect_world_elements(material)
        ),
        readers=list_reader_models(f.fact.keeper for f in knowledge.facts),
        relations=tuple(map(StoredRelation.of, collect_relations(material))),
        subjects=_index_subjects(knowledge.facts),
        bounded=view.bounded,
    )


def _index_subjects(facts: Iterable[DocumentFact]) -> dict[str, tuple[str, ...]]:
    subjects = {f.fact.subject for f in facts if f.fact.about is FactAbout.WORLD}
    by_word: dict[str, list[str]] = {}
    for subject in sorted(subjects):
        for word in {*list_outer_words(normalize_place_name(subject))}:
            by_word.setdefault(word, []).append(subject)
    return {word: tuple(of_word) for word, of_word in by_word.items()}
