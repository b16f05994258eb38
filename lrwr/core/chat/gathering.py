"""What is known for one question: of the people, the things and the moments it names."""

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
    WorldElement,
)
from lrwr.core.chat.names import cast_of
from lrwr.core.chat.state import Question, RetrievalResult
from lrwr.core.chat.witness import Witness
from lrwr.core.model.certainty import Certainty
from lrwr.core.model.turns import Intent, Intention, Plan, Resolved, Source
from lrwr.core.model.words import content_words
from lrwr.core.ports.story_store import Role
from lrwr.core.retrieval.people import people_asked
from lrwr.core.retrieval.search import SearchResult

MOMENTS = 12
LINES = 60
SCENES = 6
"""How much of each is handed on, at most; the prompt's own budget cuts further."""

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
    result = RetrievalResult(
        character_profiles=_profiles(question, plan, resolved, bible),
        ranked_chunks=found.passages,
        world=_world(resolved, bible),
        moments=_moments(question, plan, people, bible),
        relations=_relations(wanted, people, bible),
        scenes=bible.scenes[-SCENES:] if Intention.RECAP in wanted else (),
        gaps=_gaps(plan, wanted, resolved, people, bible),
        lines=_lines(question, wanted, people, bible),
        unknown=found.unknown,
        remarks=(*plan.remarks, *found.remarks),
    )
    if question.witnessed and question.character:
        return Witness(question.character, bible).bounded(result)
    return result


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
    question: Question, plan: Plan, people: dict[str, None], bible: Bible
) -> tuple[Moment, ...]:
    if Source.TIMELINE not in plan.sources:
        return ()
    words = set(content_words(question.text))

    def shared(moment: Moment) -> int:
        own = len(words.intersection(content_words(moment.text)))
        return own + 2 * len(people.keys() & set(moment.characters))

    return _best(bible.timeline, shared, MOMENTS)


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
    question: Question,
    wanted: set[Intention],
    people: dict[str, None],
    bible: Bible,
) -> tuple[Quote, ...]:
    """Return what is said by whoever is asked, verified first, then in story order."""
    speakers = {question.character} if question.character else set()
    if not speakers and wanted & {Intention.DIALOGUE_OF, Intention.VOICE}:
        speakers = _speaking(question, bible) or set(people)
    said = [quote for quote in bible.quotes if quote.speaker in speakers]
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


def _speaking(question: Question, bible: Bible) -> set[str]:
    """Return who speaks in a question about saying, not whom they speak to or of."""
    asked = people_asked(question.text, cast_of(bible))
    return {who for one in asked if one.role is Role.SPEAKS for who in one.people}


def _best(
    items: Sequence[_T], score: Callable[[_T], float], limit: int
) -> tuple[_T, ...]:
    """Return the `limit` items that score best, in their own order; never a 0."""
    scored = [(score(item), -place) for place, item in enumerate(items)]
    top = sorted(scored, reverse=True)[:limit]
    kept = sorted(-place for value, place in top if value > 0)
    return tuple(items[place] for place in kept)
