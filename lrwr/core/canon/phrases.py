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
        case SlipIntended(about, attribute, one, other, because):
            why = f" ({because})" if because else ""
            return f"{IntendedContradiction(about, attribute, one, other)}: meant{why}."
        case _:
            return _of_names(decision)


def _of_names(decision: NameDecision) -> str:
    match decision:
        case NamesMerged(names, canonical):
            every = list(dict.fromkeys([*names, *([canonical] if canonical else [])]))
            known = f": {canonical}" if canonical else ""
            together = f"{', '.join(every[:-1])} and {every[-1]}"
            return f"{together} are one person{known}."
        case NamesSplit(one, other):
            return f"{one} and {other} are two people."
        case NameRenamed(old, new):
            return f"{old} is to be called {new}."
        case NameIgnored(name):
            return f"{name} names nobody."
        case NameConfirmed(name):
            return f"{name} is somebody."
        case _:
            assert_never(decision)


def _some(names: Sequence[str]) -> str:
    shown = ", ".join(names[:_MOST])
    more = len(names) - _MOST
    return f"{shown} and {more} more" if more > 0 else shown
