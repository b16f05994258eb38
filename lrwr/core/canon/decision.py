"""Each way to decide, and what is remembered of it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TypeAlias, assert_never

from lrwr.core.canon.model import (
    Canon,
    IntendedContradiction,
    ManuscriptLocation,
    UndefinedAttribute,
)
from lrwr.core.model.documents import DocumentId, DocumentType


@dataclass(frozen=True, slots=True)
class DocumentTypeSet:
    """This document is of that type."""

    document: DocumentId
    type: DocumentType


@dataclass(frozen=True, slots=True)
class StoryOrderSet:
    """These documents are told in this order; it replaces the order decided before."""

    documents: tuple[DocumentId, ...]


@dataclass(frozen=True, slots=True)
class PointOfViewSet:
    """This place is told from that character's point of view."""

    place: ManuscriptLocation
    character: str


@dataclass(frozen=True, slots=True)
class DocumentMoved:
    """This document goes by another path now, with all that was decided about it."""

    before: DocumentId
    now: DocumentId


@dataclass(frozen=True, slots=True)
class NamesMerged:
    """These names are one person; empty `canonical` leaves the first one's name."""

    names: tuple[str, ...]
    canonical: str = ""


@dataclass(frozen=True, slots=True)
class NamesSplit:
    """These two names are two people."""

    one: str
    other: str


@dataclass(frozen=True, slots=True)
class NameRenamed:
    """This person is to be called by that name."""

    old: str
    new: str


@dataclass(frozen=True, slots=True)
class NameIgnored:
    """This word names nobody."""

    name: str


@dataclass(frozen=True, slots=True)
class NameConfirmed:
    """This word surely names somebody."""

    name: str


@dataclass(frozen=True, slots=True)
class GapAnswered:
    """What the text leaves undefined is so; empty `about` for nobody's attribute."""

    about: str
    attribute: str
    answer: str


@dataclass(frozen=True, slots=True)
class GapDeclined:
    """What the text leaves undefined stays so, on purpose."""

    about: str
    attribute: str


@dataclass(frozen=True, slots=True)
class SlipIntended:
    """These two values contradict each other on purpose; `because` may be empty."""

    about: str
    attribute: str
    one: str
    other: str
    because: str = ""


NameDecision: TypeAlias = (
    NamesMerged | NamesSplit | NameRenamed | NameIgnored | NameConfirmed
)
"""What may be decided about names."""
GapDecision: TypeAlias = GapAnswered | GapDeclined
"""What may be decided about what the text leaves open."""
Decision: TypeAlias = (
    DocumentTypeSet
    | StoryOrderSet
    | PointOfViewSet
    | DocumentMoved
    | GapDecision
    | SlipIntended
    | NameDecision
)
"""Closed on purpose: to add a way to decide is to visit every place that matches."""


@dataclass(frozen=True, slots=True)
class CanonChange:
    """What a decision did to the canon."""

    before: Canon
    after: Canon

    @property
    def unsplit(self) -> tuple[tuple[str, str], ...]:
        """Pairs that were two people, and no longer are."""
        return tuple(
            pair
            for pair in self.before.names.split
            if pair not in self.after.names.split
        )

    def __bool__(self) -> bool:
        return self.before != self.after


@dataclass(frozen=True, slots=True)
class DecisionRecord:
    """A decision that was made here; `undone` ones wait to be redone."""

    decision: Decision
    when: datetime
    undone: bool


_MOST = 4
"""Documents of a story order that a sentence names."""


def format_decision(decision: Decision) -> str:
    """Return what was decided, as one sentence."""
    match decision:
        case DocumentTypeSet(document, kind):
            return f"{document} is a {kind} document."
        case StoryOrderSet(documents):
            return f"Told in this order: {_some(documents)}."
        case PointOfViewSet(place, character):
            return f"{place} is told from the point of view of {character}."
        case DocumentMoved(before, now):
            return f"What was decided about {before} holds for {now}."
        case GapAnswered(about, attribute, answer):
            return f"{UndefinedAttribute(about, attribute)}: “{answer}”."
        case GapDeclined(about, attribute):
            return f"{UndefinedAttribute(about, attribute)}: left open on purpose."
        case SlipIntended(about, attribute, value, other, because):
            why = f" ({because})" if because else ""
            return (
                f"{IntendedContradiction(about, attribute, value, other)}: meant{why}."
            )
        case _:
            return _of_names(decision)


def _of_names(decision: NameDecision) -> str:
    match decision:
        case NamesMerged(names, canonical):
            all_names = list(
                dict.fromkeys([*names, *([canonical] if canonical else [])])
            )
            canonical_note = f": {canonical}" if canonical else ""
            joined_names = f"{', '.join(all_names[:-1])} and {all_names[-1]}"
            return f"{joined_names} are one person{canonical_note}."
        case NamesSplit(split_name, other):
            return f"{split_name} and {other} are two people."
        case NameRenamed(old, new):
            return f"{old} is to be called {new}."
        case NameIgnored(name):
            return f"{name} names nobody."
        case NameConfirmed(name):
            return f"{name} is somebody."
        case _:
            assert_never(decision)


def _some(names: Sequence[str]) -> str:
    listed_names = ", ".join(names[:_MOST])
    more = len(names) - _MOST
    return f"{listed_names} and {more} more" if more > 0 else listed_names
