"""Decisions as sentences."""

from collections.abc import Sequence
from typing import assert_never

from lrwr.core.canon.decision import (
    Decision,
    DocumentMoved,
    DocumentTypeSet,
    GapAnswered,
    GapDeclined,
    NameConfirmed,
    NameDecision,
    NameIgnored,
    NameRenamed,
    NamesMerged,
    NamesSplit,
    PointOfViewSet,
    SlipIntended,
    StoryOrderSet,
)
from lrwr.core.canon.model import IntendedContradiction, UndefinedAttribute

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
