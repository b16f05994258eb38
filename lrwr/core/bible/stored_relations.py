"""Relations as the index of the story bible stores them: without the words of the text."""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

from lrwr.core.bible.horizon import HorizonView
from lrwr.core.bible.values import CharacterRelation, TextEvidence
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.facts import Certainty
from lrwr.core.model.text import Span


@dataclass(frozen=True, slots=True)
class StoredPlace:
    """Where the text supports a relation, and who said so; see `TextEvidence`."""

    document: DocumentId
    spans: tuple[Span, ...]
    keeper: str
    certainty: Certainty


@dataclass(frozen=True, slots=True)
class StoredRelation:
    """A `CharacterRelation` of two displayed names, without the words that support it."""

    source: str
    target: str
    kind: str
    valence: str
    places: tuple[StoredPlace, ...]
    certainty: Certainty
    derived: bool = False

    @classmethod
    def of(cls, relation: CharacterRelation) -> "StoredRelation":
        """Return `relation` without the words."""
        return cls(
            relation.source,
            relation.target,
            relation.kind,
            relation.valence,
            tuple(
                StoredPlace(e.document, e.spans, e.keeper, e.certainty)
                for e in relation.evidence
            ),
            relation.certainty,
            relation.derived,
        )


def select_relations(
    relations: Iterable[StoredRelation], people: Collection[str]
) -> Iterator[StoredRelation]:
    """Yield the relations with any of `people`, which are displayed names, in order."""
    for relation in relations:
        if relation.source in people or relation.target in people:
            yield relation


def quote_relations(
    relations: Iterable[StoredRelation], view: HorizonView
) -> Iterator[CharacterRelation]:
    """Yield `relations` with the words that support them.

    `view` needs the texts of their places. A place whose text cannot be read is left
    out, and so is a relation without any.
    """
    for relation in relations:
        if evidence := tuple(_quote_places(relation.places, view)):
            yield CharacterRelation(
                relation.source,
                relation.target,
                relation.kind,
                relation.valence,
                evidence,
                relation.certainty,
                relation.derived,
            )


def _quote_places(
    places: Iterable[StoredPlace], view: HorizonView
) -> Iterator[TextEvidence]:
    for place in places:
        if view.is_visible(place.document, place.spans):
            yield view.evidence(
                place.document, place.spans, place.keeper, place.certainty
            )
