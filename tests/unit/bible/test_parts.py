"""Parts of the bible that are read for one question equal the whole bible's."""

from asyncio import run
from dataclasses import replace
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from lrwr.core.bible.index import BibleParts
from lrwr.core.bible.values import (
    Bible,
    CharacterProfile,
    SceneSummary,
    TimelineMoment,
    TimelineMomentKind,
)
from lrwr.core.canon.model import Canon, UndefinedAttribute
from lrwr.core.chat.context.builder import complete_moments, gather_context
from lrwr.core.chat.planning.rules import (
    plan_by_rules,
    resolve_entities,
    select_bible_parts,
)
from lrwr.core.chat.state import TurnQuestion
from lrwr.core.model.facts import Certainty
from lrwr.core.retrieval.search_model import SearchResult
from tests.fakes.suite import examples
from tests.unit.bible.tellings import NAMES, Telling, telling

CANON = Canon(
    answers={UndefinedAttribute("Nella", "eyes"): "v98"},
    unsaid=(UndefinedAttribute("Corin", "coat"),),
)
QUESTIONS = (
    "Who is {0}?",
    "What does {0} say to {1}?",
    "Who told {0} about {1}?",
    "When did {0} meet {1}?",
    "What happens in chapter 2?",
    "Summarise the story so far",
    "recap chapter 1",
    "Who was there when {0} met {1}?",
    "What if {0} had never met {1}?",
    "What is left open about {0}?",
    "Which open questions are there?",
    "How is {0} related to {1}?",
    "Tell me about {0}",
    "Who is at {0}?",
)


@settings(max_examples=examples(300))
@given(st.integers(0, 2**32))
def test_every_part_equals_that_of_the_whole_bible(seed: int) -> None:
    known, chance = telling(seed), Random(seed)
    horizon = chance.choice([None, known.horizon])
    service = known.stories.service(lambda: CANON)
    whole = run(service.read(horizon))
    parts = some_parts(whole, known, chance)
    found = run(service.read_parts(parts, horizon))
    assert wanted(found, parts) == wanted(whole, parts)
    assert found.gaps == whole.gaps
    assert found.readers == whole.readers
    assert [q for q in whole.quotes if q in found.quotes] == list(found.quotes)


@settings(max_examples=examples(300))
@given(st.integers(0, 2**32))
def test_a_question_gathers_the_same_from_its_parts(seed: int) -> None:
    known, chance = telling(seed), Random(seed)
    horizon = chance.choice([None, known.horizon])
    service = known.stories.service(lambda: CANON)
    whole = run(service.read(horizon))
    names = run(service.names(horizon))
    people = [profile.name for profile in whole.characters]
    character = chance.choice(["", *people])
    question = TurnQuestion(
        chance.choice(QUESTIONS).format(*chance.sample(NAMES, 2)),
        character=character,
        horizon=horizon,
        witnessed=bool(character) and chance.random() < 0.5,
    )
    plan = plan_by_rules(question, whole)
    assert plan_by_rules(question, names) == plan
    result, order = SearchResult(()), known.stories.knowledge(CANON).order
    parts = select_bible_parts(question, plan, names, result, order)
    found = run(service.read_parts(parts, horizon))
    entities = resolve_entities(plan, whole, ())
    assert resolve_entities(plan, found, ()) == entities
    gathered = gather_context(question, plan, entities, found, result)
    completed = run(
        complete_moments(gathered, lambda parts: service.read_parts(parts, horizon))
    )
    assert completed == gather_context(question, plan, entities, whole, result)


def some_parts(whole: Bible, known: Telling, chance: Random) -> BibleParts:
    def some(values: list[str]) -> frozenset[str]:
        return frozenset(value for value in values if chance.random() < 0.4)

    people = [profile.name for profile in whole.characters]
    return BibleParts(
        people=some([*people, "v1"]),
        elements=some([element.name for element in whole.world]),
        speakers=some(people),
        documents=frozenset(
            d for d in known.stories.book.documents if chance.random() < 0.4
        ),
        timeline=chance.random() < 0.5,
        relations=chance.random() < 0.7,
    )


def known_profile(profile: CharacterProfile, parts: BibleParts) -> CharacterProfile:
    if profile.name not in parts.people:
        return only_names(profile)
    return profile if parts.relations else replace(profile, relationships=())


def known_moment(moment: TimelineMoment, parts: BibleParts) -> TimelineMoment:
    if moment.kind is not TimelineMomentKind.SCENE:
        return moment
    known = tuple(name for name in moment.characters if name in parts.people)
    return replace(moment, characters=known)


def known_scene(scene: SceneSummary, parts: BibleParts) -> SceneSummary:
    if scene.document in parts.documents:
        return scene
    known = tuple(name for name in scene.present if name in parts.people)
    return replace(scene, present=known)


def wanted(bible: Bible, parts: BibleParts) -> Bible:
    """Return the bible without what is not part of `parts`."""

    return Bible(
        characters=tuple(
            known_profile(profile, parts) for profile in bible.characters
        ),
        world=tuple(
            element if element.name in parts.elements else replace(
                element, element_types=(), descriptions=(), connected_characters=(),
                certainty=Certainty.VERIFIED,
            )
            for element in bible.world
        ),
        relations=tuple(
            relation
            for relation in bible.relations
            if parts.relations and parts.people & {relation.source, relation.target}
        ),
        events=bible.events if parts.timeline else (),
        told=bible.told if parts.timeline else (),
        timeline=tuple(known_moment(one, parts) for one in bible.timeline if parts.timeline),
        scenes=tuple(
            known_scene(scene, parts)
            for scene in bible.scenes
            if parts.timeline or scene.document in parts.documents
        ),
        quotes=tuple(
            quote
            for quote in bible.quotes
            if quote.speaker in parts.speakers
            or quote.evidence.document in parts.documents
        ),
        bounded=bible.bounded,
    )  # fmt: skip


def only_names(profile: CharacterProfile) -> CharacterProfile:
    return CharacterProfile(
        profile.name,
        profile.aliases,
        profile.gender,
        profile.gender_certainty,
        profile.certainty,
        profile.because,
        profile.narrator,
        also_called=tuple(
            replace(claim, evidence=(), label="", certainty=Certainty.VERIFIED)
            for claim in profile.also_called
        ),
    )
