"""Where the names of a question are found, in the sources that it needs."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from lrwr.core.bible.name_lookup import (
    match_elements,
    match_elements_exactly,
    match_people,
    match_people_exactly,
)
from lrwr.core.bible.values import Bible, CharacterProfile, WorldElement
from lrwr.core.model.turns import (
    AnswerSource,
    EntityLocation,
    QuestionPlan,
    ResolvedEntity,
)


@dataclass(frozen=True, slots=True)
class _EntityMatches:
    """Whom and what a name may mean, and all the names these go by."""

    people: tuple[CharacterProfile, ...]
    elements: tuple[WorldElement, ...]
    forms: tuple[str, ...]

    @property
    def names(self) -> frozenset[str]:
        """The names that the bible has for the people."""
        return frozenset(one.name for one in self.people)


def resolve_entities(
    plan: QuestionPlan, bible: Bible, notes: Sequence[str]
) -> tuple[ResolvedEntity, ...]:
    """Return each entity of `plan` with every place where a chosen source has it.

    `notes` are titles of the writer's notes, and places in them are such titles.
    Somebody is in the world where a thing is connected with them, in the timeline
    under each name that a moment has. The manuscript is searched by every form of a
    name, so everything is there; the web only for what the bible does not hold.
    Places come in the order of `AnswerSource`. An entity that no chosen source has keeps
    its confidence and has no places.
    """
    sources = [source for source in AnswerSource if source in plan.sources]
    resolved: list[ResolvedEntity] = []
    for entity in plan.entities:
        meant = _meant(entity.name, bible)
        places = (
            EntityLocation(source, name)
            for source in sources
            for name in _names_in(source, meant, entity.name, bible, notes)
        )
        resolved.append(ResolvedEntity(entity, tuple(dict.fromkeys(places))))
    return tuple(resolved)


def _meant(name: str, bible: Bible) -> _EntityMatches:
    """Look a name up; where anything bears it, nothing that is merely like it counts."""
    people, elements = (
        match_people_exactly(name, bible),
        match_elements_exactly(name, bible),
    )
    if not people and not elements:
        people, elements = match_people(name, bible), match_elements(name, bible)
    forms = dict.fromkeys(one.name for one in people)
    forms |= dict.fromkeys(form.name for one in people for form in one.aliases)
    forms |= dict.fromkeys(one.name for one in elements)
    return _EntityMatches(people, elements, tuple(forms) or (name,))


def _names_in(
    source: AnswerSource,
    meant: _EntityMatches,
    name: str,
    bible: Bible,
    notes: Sequence[str],
) -> Iterable[str]:
    match source:
        case AnswerSource.PROFILES:
            return (one.name for one in meant.people)
        case AnswerSource.WORLD:
            return _in_the_world(meant, bible)
        case AnswerSource.TIMELINE:
            return _in_the_timeline(meant, bible)
        case AnswerSource.MANUSCRIPT:
            return meant.forms
        case AnswerSource.NOTES:
            words = _any_of(meant.forms)
            return (title for title in notes if words.search(title))
        case AnswerSource.WEB:
            return () if meant.people or meant.elements else (name,)


def _in_the_world(meant: _EntityMatches, bible: Bible) -> Iterator[str]:
    yield from (one.name for one in meant.elements)
    for element in bible.world:
        if any(claim.value in meant.names for claim in element.connected_characters):
            yield element.name


def _in_the_timeline(meant: _EntityMatches, bible: Bible) -> Iterator[str]:
    there = {name for moment in bible.timeline for name in moment.characters}
    yield from (one.name for one in meant.people if one.name in there)
    for form in meant.forms:
        words = _any_of((form,))
        if any(words.search(moment.text) for moment in bible.timeline):
            yield form


def _any_of(names: Iterable[str]) -> re.Pattern[str]:
    """Return what finds any of `names`, whole and in any case, articles aside."""
    bare = (re.sub(r"^(?:the|an?)\s+(?=\S)", "", name, flags=re.I) for name in names)
    written = "|".join(r"\s+".join(map(re.escape, name.split())) for name in bare)
    return re.compile(rf"(?<!\w)(?:{written})(?!\w)", re.IGNORECASE)
