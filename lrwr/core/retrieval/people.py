"""Whom a question is about, what they do in it, and which passages have them so.

A passage is never shut out because somebody is missing from it: tags are incomplete,
and a filter on all names lost 25 of 60 gold passages where a boost lost none. English
rules.
"""

import math
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from lrwr.core.english.lookup import names_in_question
from lrwr.core.model.cast import Cast
from lrwr.core.model.chunks import ChunkId
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.search import Scope
from lrwr.core.model.text import Span
from lrwr.core.ports.story_store import Appearance, Role

_SAYING = re.compile(
    r"\b(?:say|says|said|saying|tell|tells|told|telling|ask|asks|asked|asking|speak"
    r"|speaks|spoke|talk|talks|talked|reply|replies|replied|answer|answers|answered"
    r"|promise|promises|promised|explain|explains|explained|words)\b",
    re.IGNORECASE,
)
_BEFORE = {
    Role.HEARS: re.compile(r"\b(?:to|with|against)\s*(?:the\s+)?$", re.IGNORECASE),
    Role.MENTIONED: re.compile(
        r"\b(?:about|of|on|concerning|regarding|over)\s*(?:the\s+)?$", re.IGNORECASE
    ),
    Role.SPEAKS: re.compile(r"\bby\s*(?:the\s+)?$", re.IGNORECASE),
}
_HEARD = re.compile(
    r"\b(?:tell|tells|told|ask|asks|asked|answer|answers|answered|promise|promises"
    r"|promised)\s*(?:the\s+)?$",
    re.IGNORECASE,
)
_FIRST = re.compile(r"\bfirst\b", re.IGNORECASE)
_LAST = re.compile(r"\blast\b", re.IGNORECASE)

ALIKE = 0.9
"""Passages whose people fit this well, the best being 1.0, are told apart by place."""

FIT: Mapping[Role | None, Mapping[Role, float]] = {
    Role.SPEAKS: {
        Role.SPEAKS: 1.0,
        Role.PRESENT: 0.3,
        Role.HEARS: 0.3,
        Role.MENTIONED: 0.1,
    },
    Role.HEARS: {
        Role.HEARS: 1.0,
        Role.SPEAKS: 0.5,
        Role.PRESENT: 0.4,
        Role.MENTIONED: 0.2,
    },
    Role.MENTIONED: {
        Role.MENTIONED: 1.0,
        Role.PRESENT: 0.6,
        Role.SPEAKS: 0.3,
        Role.HEARS: 0.3,
    },
    None: {
        Role.SPEAKS: 1.0,
        Role.HEARS: 0.8,
        Role.PRESENT: 1.0,
        Role.MENTIONED: 0.8,
    },
}
"""How well a role in a passage fits the one that a question gives a character."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A character whom a question names: likely people, and what they do in it."""

    span: Span
    people: tuple[str, ...]
    role: Role | None


def people_asked(question: str, cast: Cast) -> list[Asked]:
    """Return whom `question` names, in order, and whether they speak or hear in it."""
    named = _joined(question, names_in_question(question, cast))
    verb = _SAYING.search(question)
    return [
        Asked(span, people, _role(question, span, verb if verb else None))
        for span, people in named
    ]


def _joined(
    question: str, named: Sequence[tuple[Span, tuple[str, ...]]]
) -> list[tuple[Span, tuple[str, ...]]]:
    """Take names that stand side by side for one: that of whom both may mean."""
    whole: list[tuple[Span, tuple[str, ...]]] = []
    for span, people in named:
        if whole and not question[whole[-1][0].end : span.start].strip():
            before, others = whole.pop()
            both = tuple(who for who in people if who in others)
            span, people = Span(before.start, span.end), both or others or people
        whole.append((span, people))
    return whole


def earliness(
    question: str,
    scores: Mapping[ChunkId, float],
    places: Mapping[ChunkId, tuple[int, int]],
) -> dict[ChunkId, float]:
    """Score the best of `scores` by their place, 0.0 to 1.0, if the question asks so.

    "The first words" want the earliest, "the last" the latest; others get nothing.
    `places` sort the chunks of the story in story order.
    """
    last = _LAST.search(question) is not None
    if not last and _FIRST.search(question) is None:
        return {}
    best = max(scores.values(), default=0.0)
    near = [c for c, score in scores.items() if score >= ALIKE * best and c in places]
    ordered = sorted(near, key=lambda chunk: places[chunk], reverse=last)
    return {chunk: 1 - n / len(ordered) for n, chunk in enumerate(ordered)}


def within(document: DocumentId, span: Span, scope: Scope) -> bool:
    """Say whether `scope` lets a stretch of a document be seen."""
    if scope.documents is not None and document not in scope.documents:
        return False
    until = scope.until.get(document)
    return until is None or span.end <= until


def scores_of_people(
    asked: Sequence[Asked],
    appearances: Sequence[Appearance],
    scope: Scope,
    *,
    total: int,
) -> dict[ChunkId, float]:
    """Score the chunks in `scope` by who is in them, and as what; 0.0 to 1.0.

    A character counts the more the fewer of the `total` chunks have them.
    """
    best: dict[ChunkId, dict[int, float]] = {}
    rarity = _rarity(appearances, total)
    for one in appearances:
        if not within(one.document, one.span, scope):
            continue
        for number, wanted in enumerate(asked):
            if one.character in wanted.people:
                fit = FIT[wanted.role][one.role] * rarity[one.character]
                fits = best.setdefault(one.chunk, {})
                fits[number] = max(fits.get(number, 0.0), fit)
    whole = sum(_most(wanted, rarity) for wanted in asked)
    if whole <= 0:
        return {}
    return {chunk: sum(fits.values()) / whole for chunk, fits in best.items()}


def _role(question: str, span: Span, verb: "re.Match[str] | None") -> Role | None:
    if verb is None:
        return None
    before = question[: span.start]
    for role, words in _BEFORE.items():
        if words.search(before):
            return role
    if _HEARD.search(before):
        return Role.HEARS
    return Role.SPEAKS


def _rarity(appearances: Collection[Appearance], total: int) -> dict[str, float]:
    homes: dict[str, set[ChunkId]] = {}
    for one in appearances:
        homes.setdefault(one.character, set()).add(one.chunk)
    return {
        who: math.log(1 + total / (len(chunks) + 0.5)) for who, chunks in homes.items()
    }


def _most(wanted: Asked, rarity: Mapping[str, float]) -> float:
    return max((rarity.get(who, 0.0) for who in wanted.people), default=0.0)
