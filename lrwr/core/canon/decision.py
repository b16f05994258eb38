"""The kinds of decisions, their wording, and records of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TypeAlias, assert_never

from lrwr.core.canon.model import (
    Canon,
    ManuscriptLocation,
    UndefinedAttribute,
)
from lrwr.core.model.documents import DocumentId, DocumentType


@dataclass(frozen=True, slots=True)
class DocumentTypeSet:
    """Decision: the document has this type, whatever lrwr infers."""

    document: DocumentId
    type: DocumentType


@dataclass(frozen=True, slots=True)
class StoryOrderSet:
    """Decision: the story order of `documents` is the order listed here.

    It replaces an earlier decision about the story order. Documents that are not listed
    have no decided position.
    """

    documents: tuple[DocumentId, ...]


@dataclass(frozen=True, slots=True)
class PointOfViewSet:
    """Decision: `place`, a document, chapter or scene, is told from the point of view
    of `character`, a name.
    """

    place: ManuscriptLocation
    character: str


@dataclass(frozen=True, slots=True)
class DocumentMoved:
    """Decision: the document with the path `before` now has the path `now`.

    Decisions about `before` then apply to `now`. Where both paths have one, that of
    `now` stays.
    """

    before: DocumentId
    now: DocumentId


@dataclass(frozen=True, slots=True)
class NamesMerged:
    """Decision: all `names` belong to one character.

    `canonical` is the main name; if it is empty, the main name of the first of `names`
    is used.
    """

    names: tuple[str, ...]
    canonical: str = ""


@dataclass(frozen=True, slots=True)
class NamesSplit:
    """Decision: the names `one` and `other` belong to two different characters."""

    one: str
    other: str


@dataclass(frozen=True, slots=True)
class NameRenamed:
    """Decision: the character called `old`, a main name or an alias, is displayed as
    `new`.
    """

    old: str
    new: str


@dataclass(frozen=True, slots=True)
class NameIgnored:
    """Decision: the word `name` is not the name of a character; it is removed from
    earlier decisions about names.
    """

    name: str


@dataclass(frozen=True, slots=True)
class NameConfirmed:
    """Decision: the word `name` is certainly the name of a character, whatever lrwr
    infers.
    """

    name: str


@dataclass(frozen=True, slots=True)
class GapAnswered:
    """Decision: the user answers an open question by defining an attribute.

    `about` is the character or thing that has the attribute; empty if none has.
    """

    about: str
    attribute: str
    answer: str


@dataclass(frozen=True, slots=True)
class GapDeclined:
    """Decision: an attribute stays undefined on purpose, so it is no open question.

    `about` is the character or thing that has the attribute; empty if none has.
    """

    about: str
    attribute: str


@dataclass(frozen=True, slots=True)
class SlipIntended:
    """Decision: an attribute has two contradicting values, `one` and `other`, on
    purpose.

    `about` is the character or thing that has the attribute. `because` is the reason;
    if it is empty, the reason of an earlier such decision stays.
    """

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
    """The canon before and after one decision; falsy if the decision changed
    nothing.
    """

    before: Canon
    after: Canon

    @property
    def unsplit(self) -> tuple[tuple[str, str], ...]:
        """Pairs of names that the earlier canon separated (`NamesSplit`) and the new
        one does not.

        Each pair is in alphabetical order. Empty if the decision removed no separation.
        """
        return tuple(
            pair
            for pair in self.before.names.split
            if pair not in self.after.names.split
        )

    def __bool__(self) -> bool:
        return self.before != self.after


@dataclass(frozen=True, slots=True)
class DecisionRecord:
    """A decision in the history, and the time `when` it was made, in UTC.

    `undone` is True if the user has undone it; it can then be redone.
    """

    decision: Decision
    when: datetime
    undone: bool


_MAX_LISTED = 4
"""Maximum documents named in the sentence about a story order."""


def format_decision(decision: Decision) -> str:
    """Return the decision as one English sentence with a period.

    Of a story order, only the first four documents are named, with the number of
    others.
    """
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
            question = UndefinedAttribute(about, attribute)
            return f"Answered “{question}” with “{answer}”."
        case GapDeclined(about, attribute):
            question = UndefinedAttribute(about, attribute)
            return f"Left “{question}” open on purpose."
        case SlipIntended(about, attribute, value, other, because):
            why = f" ({because})" if because else ""
            owner = f"{about}'s " if about else ""
            return f"Marked as intended: {owner}{attribute}, {value} and {other}{why}."
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
            return f"{joined_names} are one character{canonical_note}."
        case NamesSplit(split_name, other):
            return f"{split_name} and {other} are not the same character."
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
