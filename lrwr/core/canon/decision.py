"""The kinds of decisions, their wording, and records of them."""

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
    """The document has this type."""

    document: DocumentId
    type: DocumentType


@dataclass(frozen=True, slots=True)
class StoryOrderSet:
    """The documents are told in this order; replaces an earlier order."""

    documents: tuple[DocumentId, ...]


@dataclass(frozen=True, slots=True)
class PointOfViewSet:
    """The location is told from this character's point of view."""

    place: ManuscriptLocation
    character: str


@dataclass(frozen=True, slots=True)
class DocumentMoved:
    """The document was renamed; its decisions move to the new path."""

    before: DocumentId
    now: DocumentId


@dataclass(frozen=True, slots=True)
class NamesMerged:
    """The names are one person; if `canonical` is empty, the first name is the main
    one.
    """

    names: tuple[str, ...]
    canonical: str = ""


@dataclass(frozen=True, slots=True)
class NamesSplit:
    """The two names are two people."""

    one: str
    other: str


@dataclass(frozen=True, slots=True)
class NameRenamed:
    """The person called `old` is displayed as `new`."""

    old: str
    new: str


@dataclass(frozen=True, slots=True)
class NameIgnored:
    """The word is not a character."""

    name: str


@dataclass(frozen=True, slots=True)
class NameConfirmed:
    """The word is certainly a character."""

    name: str


@dataclass(frozen=True, slots=True)
class GapAnswered:
    """The writer defines an attribute; `about` is empty if it is nobody's."""

    about: str
    attribute: str
    answer: str


@dataclass(frozen=True, slots=True)
class GapDeclined:
    """The attribute stays undefined on purpose."""

    about: str
    attribute: str


@dataclass(frozen=True, slots=True)
class SlipIntended:
    """The two values contradict each other on purpose; `because` may be empty."""

    about: str
    attribute: str
    one: str
    other: str
    because: str = ""


NameDecision: TypeAlias = (
    NamesMerged | NamesSplit | NameRenamed | NameIgnored | NameConfirmed
)
"""Any decision about names."""
GapDecision: TypeAlias = GapAnswered | GapDeclined
"""Any decision about gaps."""
Decision: TypeAlias = (
    DocumentTypeSet
    | StoryOrderSet
    | PointOfViewSet
    | DocumentMoved
    | GapDecision
    | SlipIntended
    | NameDecision
)
"""Closed union of all decisions: mypy checks that every `match` handles each of them."""


@dataclass(frozen=True, slots=True)
class CanonChange:
    """The canon before and after a decision; false if nothing changed."""

    before: Canon
    after: Canon

    @property
    def unsplit(self) -> tuple[tuple[str, str], ...]:
        """Pairs of names that are no longer two people."""
        return tuple(
            pair
            for pair in self.before.names.split
            if pair not in self.after.names.split
        )

    def __bool__(self) -> bool:
        return self.before != self.after


@dataclass(frozen=True, slots=True)
class DecisionRecord:
    """A decision in the history; `undone` ones can be redone."""

    decision: Decision
    when: datetime
    undone: bool


_MAX_LISTED = 4
"""Maximum documents named in the sentence about a story order."""


def format_decision(decision: Decision) -> str:
    """Return the decision as one sentence."""
    match decision:
        case DocumentTypeSet(document, kind):
            return f"{document} is a {kind} document."
        case StoryOrderSet(documents):
            return f"Story order: {_format_documents(documents)}."
        case PointOfViewSet(place, character):
            return f"Point of view of {place}: {character}."
        case DocumentMoved(before, now):
            return f"Decisions about {before} now apply to {now}."
        case GapAnswered(about, attribute, answer):
            return f"{UndefinedAttribute(about, attribute)}: “{answer}”."
        case GapDeclined(about, attribute):
            return f"{UndefinedAttribute(about, attribute)}: left open on purpose."
        case SlipIntended(about, attribute, value, other, because):
            why = f" ({because})" if because else ""
            contradiction = IntendedContradiction(about, attribute, value, other)
            return f"{contradiction}: intended{why}."
        case _:
            return _format_name_decision(decision)


def _format_name_decision(decision: NameDecision) -> str:
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
            return f"{old} is renamed to {new}."
        case NameIgnored(name):
            return f"{name} is not a character."
        case NameConfirmed(name):
            return f"{name} is a character."
        case _:
            assert_never(decision)


def _format_documents(names: Sequence[str]) -> str:
    listed_names = ", ".join(names[:_MAX_LISTED])
    more = len(names) - _MAX_LISTED
    return f"{listed_names} and {more} more" if more > 0 else listed_names
