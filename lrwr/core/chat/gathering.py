"""What is known for one question: of the people, the things and the moments it names."""

import re
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from lrwr.core.bible.values import (
    Bible,
    CharacterProfile,
    Gap,
    GapState,
    Moment,
    Quote,
    Relation,
    SceneTold,
    WorldElement,
)
from lrwr.core.chat.names import cast_of, name_key
from lrwr.core.chat.state import Question, RetrievalResult
from lrwr.core.chat.witness import Witness
from lrwr.core.model.certainty import Certainty
from lrwr.core.model.search import Passage
from lrwr.core.model.turns import Intent, Intention, Plan, Resolved, Source
from lrwr.core.model.words import content_words
from lrwr.core.ports.story_store import Role
from lrwr.core.retrieval.people import people_asked
from lrwr.core.retrieval.search import SearchResult

MOMENTS = 12
LINES = 60
SCENES = 6
"""How much of each is handed on, at most; the prompt's own budget cuts further."""

_NUMBERS = (
    "one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen"
    "|fifteen|sixteen|seventeen|eighteen|nineteen|twenty"
)
_CHAPTER = re.compile(
    r"\b(?:(?P<beyond>before|after|since|until|till|by|from|to|than)\s+)?"
    rf"(?P<whole>ch(?:apter|\.)?\s*(?P<number>\d{{1,4}}|{_NUMBERS}))\b",
    re.IGNORECASE,
)
"""A chapter by its number; what is before or after it is not in it."""

_T = TypeVar("_T")
_SURE = (Certainty.CONFIRMED, Certainty.VERIFIED)


def gather(
    question: Question,
    plan: Plan,
    resolved: Sequence[Resolved],
    bible: Bible,
    found: SearchResult,
) -> RetrievalResult:
    """Return what the chosen sources hold for `question`; nothing of the others.

    `bible` and `found` are bounded by the question's horizon. Where the question goes
    by what its character witnessed, all else is left out.
    """
    people = _named(resolved, (Source.PROFILES, Source.TIMELINE, Source.MANUSCRIPT))
    if question.character:
        people.setdefault(question.character, None)
    wanted = {choice.intention for choice in plan.choices}
    chapters = _chapters(question.text)
    moments = _moments(question, plan, people, resolved, bible)
    result = RetrievalResult(
        character_profiles=_profiles(question, plan, resolved, bible),
        ranked_chunks=_passages(plan, chapters, found, moments),
        world=_world(resolved, bible),
        moments=moments,
        relations=_relations(wanted, people, bible),
        scenes=_scenes(chapters, bible) if Intention.RECAP in wanted else (),
        gaps=_gaps(plan, wanted, resolved, people, bible),
        lines=_lines(question, plan, people, bible),
        unknown=_unknown(question, found),
        remarks=(*plan.remarks, *found.remarks),
    )
    if question.witnessed and question.character:
        return Witness(question.character, bible).bounded(result)
    return result


def _chapters(text: str) -> frozenset[int]:
    """Return the chapters that a question asks about by their numbers."""
    named = _NUMBERS.split("|")
    numbers = (
        found["number"].lower()
        for found in _CHAPTER.finditer(text)
        if not found["beyond"]
    )
    return frozenset(
        int(one) if one.isdecimal() else named.index(one) + 1 for one in numbers
    )


def _unknown(question: Question, found: SearchResult) -> tuple[str, ...]:
    """Return the words that nothing holds; a chapter's number is none of them."""
    told = " ".join(one["whole"] for one in _CHAPTER.finditer(question.text))
    return tuple(one for one in found.unknown if one not in content_words(told))


def _passages(
    plan: Plan,
    chapters: frozenset[int],
    found: SearchResult,
    moments: Sequence[Moment],
) -> tuple[Passage, ...]:
    """Return passages of the chapters asked about, and of notes first if asked for."""
    inside = tuple(one for one in found.passages if one.chapter in chapters)
    if chapters and (inside or moments):
        return inside
    if Source.NOTES in plan.sources:
        return tuple(sorted(found.passages, key=lambda one: one.chapter is not None))
    return found.passages


def _scenes(chapters: frozenset[int], bible: Bible) -> tuple[SceneTold, ...]:
    inside = tuple(one for one in bible.scenes if one.chapter in chapters)
    return inside[:SCENES] if inside else bible.scenes[-SCENES:]


def _named(resolved: Iterable[Resolved], sources: Sequence[Source]) -> dict[str, None]:
    """Return the names of what was found in `sources`, each once, in order."""
    return {
        place.name: None
        for one in resolved
        for place in one.places
        if place.source in sources
    }


def _profiles(
    question: Question, plan: Plan, resolved: Sequence[Resolved], bible: Bible
) -> tuple[CharacterProfile, ...]:
    named = _named(resolved, (Source.PROFILES,))
    if question.character:
        named.setdefault(question.character, None)
    if Source.PROFILES not in plan.sources and not question.character:
        return ()
    return tuple(profile for profile in bible.characters if profile.name in named)


def _world(resolved: Sequence[Resolved], bible: Bible) -> tuple[WorldElement, ...]:
    named = _named(resolved, (Source.WORLD,))
    return tuple(element for element in bible.world if element.name in named)


def _moments(
    question: Question,
    plan: Plan,
    people: dict[str, None],
    resolved: Sequence[Resolved],
    bible: Bible,
) -> tuple[Moment, ...]:
    """Return moments by the question's words, people, chapters, and places named.

    What would be if somebody … is asked of what they did: theirs alone, then.
    """
    played = plan.intent is Intent.SCENARIO
    if Source.TIMELINE not in plan.sources and not played:
        return ()
    words = set(content_words(question.text))
    chapters = _chapters(question.text)
    places = _Places(resolved, bible)

    def shared(moment: Moment) -> int:
        if chapters and moment.evidence.chapter not in chapters:
            return 0
        theirs = len(people.keys() & set(moment.characters))
        if played and Source.TIMELINE not in plan.sources and not theirs:
            return 0
        own = len(words.intersection(content_words(moment.text)))
        return own + 2 * theirs + bool(chapters) + places.near(moment)

    return _best(bible.timeline, shared, MOMENTS)


class _Places:
    """The things of the world that a question names, and which moments are at them."""

    def __init__(self, resolved: Sequence[Resolved], bible: Bible) -> None:
        named = {one.entity.name for one in resolved}
        elements = [one for one in bible.world if one.name in named]
        self._keys = [name_key(one.name) for one in elements]
        self._scenes = {
            (words.document, words.scene)
            for one in elements
            for claim in (
                *one.element_types, *one.descriptions, *one.connected_characters
            )
            for words in claim.evidence
            if words.scene is not None
        }  # fmt: skip
        self._people = {
            claim.value for one in elements for claim in one.connected_characters
        }

    def near(self, moment: Moment) -> int:
        """Say how near a moment is: its chapter or words name the place, or its scene
        does, or it is about somebody who belongs there."""
        title = name_key(moment.evidence.chapter_title)
        told = f" {title} {name_key(moment.text)} "
        named = any(f" {key} " in told for key in self._keys)
        scene = (moment.evidence.document, moment.evidence.scene) in self._scenes
        belongs = not self._people.isdisjoint(moment.characters)
        return 2 * (named or scene) + belongs


def _relations(
    wanted: set[Intention], people: dict[str, None], bible: Bible
) -> tuple[Relation, ...]:
    if Intention.RELATIONSHIPS not in wanted:
        return ()
    return tuple(
        relation
        for relation in bible.relations
        if relation.source in people or relation.target in people
    )


def _gaps(
    plan: Plan,
    wanted: set[Intention],
    resolved: Sequence[Resolved],
    people: dict[str, None],
    bible: Bible,
) -> tuple[Gap, ...]:
    asked = Intention.OPEN_QUESTION in wanted or plan.intent is Intent.GAP_PROBE
    names = people.keys() | _named(resolved, (Source.WORLD, Source.NOTES)).keys()
    return tuple(
        gap
        for gap in bible.gaps
        if gap.state is GapState.OPEN
        and (gap.about in names or (asked and not names))
        and (asked or gap.about)
    )


def _lines(
    question: Question, plan: Plan, people: dict[str, None], bible: Bible
) -> tuple[Quote, ...]:
    """Return what is said by whoever is asked, verified first, then in story order.

    Of somebody who tells somebody, what is told to them, where there is any.
    """
    wanted = {choice.intention for choice in plan.choices}
    speakers = {question.character} if question.character else set()
    hearers: set[str] = set()
    if not speakers and wanted & {Intention.DIALOGUE_OF, Intention.VOICE}:
        speakers = _doing(Role.SPEAKS, question, bible) or set(people)
        hearers = _doing(Role.HEARS, question, bible)
    if not speakers and plan.intent is Intent.SCENARIO:
        speakers = set(people)
    said = [quote for quote in bible.quotes if quote.speaker in speakers]
    said = [quote for quote in said if quote.addressee in hearers] or said
    words = set(content_words(question.text))

    def fit(quote: Quote) -> float:
        own = len(words.intersection(content_words(quote.evidence.text)))
        return own + 0.5 * (quote.evidence.certainty in _SURE) + 0.1

    return tuple(
        sorted(
            _best(said, fit, LINES),
            key=lambda quote: quote.evidence.certainty not in _SURE,
        )
    )


def _doing(role: Role, question: Question, bible: Bible) -> set[str]:
    """Return who speaks in a question about saying, or is spoken to; never its topic."""
    asked = people_asked(question.text, cast_of(bible))
    return {who for one in asked if one.role is role for who in one.people}


def _best(
    items: Sequence[_T], score: Callable[[_T], float], limit: int
) -> tuple[_T, ...]:
    """Return the `limit` items that score best, in their own order; never a 0."""
    scored = [(score(item), -place) for place, item in enumerate(items)]
    top = sorted(scored, reverse=True)[:limit]
    kept = sorted(-place for value, place in top if value > 0)
    return tuple(items[place] for place in kept)
