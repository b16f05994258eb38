import pytest

from lrwr.core.bible.values import Bible
from lrwr.core.chat.planning.rules import plan_by_rules, resolve_entities
from lrwr.core.chat.state import TurnQuestion
from lrwr.core.model.facts import RULES_KEEPER
from lrwr.core.model.turns import (
    INTENTIONS_BY_SOURCE,
    AnswerIntent,
    AnswerSource,
    EntityLocation,
    QuestionEntity,
    QuestionPlan,
    SourceChoice,
)

MANUSCRIPT, PROFILES, WORLD = (
    AnswerSource.MANUSCRIPT,
    AnswerSource.PROFILES,
    AnswerSource.WORLD,
)
TIMELINE, NOTES, WEB = AnswerSource.TIMELINE, AnswerSource.NOTES, AnswerSource.WEB


def plan_of(sources: list[AnswerSource], *entities: str) -> QuestionPlan:
    choices = tuple(
        SourceChoice(one, INTENTIONS_BY_SOURCE[one][0], 0.9) for one in sources
    )
    found = tuple(QuestionEntity(name, 0.8) for name in entities)
    return QuestionPlan(AnswerIntent.ANALYTICAL, choices, found, RULES_KEEPER)


def places(
    bible: Bible, sources: list[AnswerSource], name: str, *notes: str
) -> list[tuple[AnswerSource, str]]:
    (resolved,) = resolve_entities(plan_of(sources, name), bible, notes)
    return [(place.source, place.name) for place in resolved.places]


def places_asked(bible: Bible, text: str) -> dict[str, set[EntityLocation]]:
    plan = plan_by_rules(TurnQuestion(text), bible)
    return {
        one.entity.name: set(one.places) for one in resolve_entities(plan, bible, ())
    }


def test_one_source_and_whom_it_has(marsh_bible: Bible) -> None:
    asked = places_asked(marsh_bible, "How does PurpleFrog talk?")
    assert asked == {"PurpleFrog": {EntityLocation(PROFILES, "PurpleFrog")}}


def test_what_somebody_says_of_a_thing_is_looked_for_in_the_story_alone(
    marsh_bible: Bible,
) -> None:
    asked = places_asked(
        marsh_bible, "What does PurpleFrog say about the marsh lantern?"
    )
    assert EntityLocation(MANUSCRIPT, "PurpleFrog") in asked["PurpleFrog"]
    assert asked["the marsh lantern"] == {
        EntityLocation(MANUSCRIPT, "the marsh lantern")
    }
    assert {one.source for found in asked.values() for one in found} == {MANUSCRIPT}


def test_two_sources_at_once_and_each_name_where_it_is(marsh_bible: Bible) -> None:
    asked = places_asked(
        marsh_bible, "Remind me who OchraMags is, and what PurpleFrog values"
    )
    assert asked == {
        "OchraMags": {
            EntityLocation(PROFILES, "OchraMags"),
            EntityLocation(MANUSCRIPT, "OchraMags"),
            EntityLocation(MANUSCRIPT, "Mags"),
        },
        "PurpleFrog": {
            EntityLocation(PROFILES, "PurpleFrog"),
            EntityLocation(MANUSCRIPT, "PurpleFrog"),
            EntityLocation(MANUSCRIPT, "the Lampkeeper"),
        },
    }


def test_a_name_that_two_sources_have_is_used_in_both(marsh_bible: Bible) -> None:
    asked = places_asked(
        marsh_bible, "How do the tide rules work, and does PurpleFrog break them?"
    )
    assert asked == {
        "tide rules": {EntityLocation(WORLD, "tide rules")},
        "PurpleFrog": {
            EntityLocation(PROFILES, "PurpleFrog"),
            EntityLocation(WORLD, "tide rules"),
        },
    }


def test_a_name_that_only_an_unchosen_source_has_is_nowhere(marsh_bible: Bible) -> None:
    plan = plan_of([PROFILES], "PurpleFrog", "the marsh lantern")
    frog, lantern = resolve_entities(plan, marsh_bible, ("The marsh lantern",))
    assert frog.places == (EntityLocation(PROFILES, "PurpleFrog"),)
    assert lantern.places == ()
    assert lantern.entity == QuestionEntity("the marsh lantern", 0.8)


@pytest.mark.parametrize(
    ("name", "people"),
    [
        ("PurpleFrog", ["PurpleFrog"]),
        ("wren", ["Nell Tallow"]),
        ("lampkeeper", ["PurpleFrog"]),
        ("Tallow", ["Nell Tallow"]),
        ("OcraMags", ["OchraMags"]),
        ("Gannet", ["Mrs. Gannet", "Ivo Gannet"]),
        ("Zoltan", []),
    ],
)
def test_everybody_is_found_whom_a_name_may_mean(
    marsh_bible: Bible, name: str, people: list[str]
) -> None:
    assert places(marsh_bible, [PROFILES], name) == [(PROFILES, one) for one in people]


@pytest.mark.parametrize(
    ("name", "things"),
    [
        ("Marsh Lantern", ["the marsh lantern"]),
        ("a tide rule", ["tide rules"]),
        ("the lantern", ["the marsh lantern"]),
        ("mash lantern", ["the marsh lantern"]),
        ("OchraMags", ["Gull Post"]),
        ("Zoltan", []),
    ],
)
def test_the_world_has_things_and_whom_they_are_connected_with(
    marsh_bible: Bible, name: str, things: list[str]
) -> None:
    assert places(marsh_bible, [WORLD], name) == [(WORLD, one) for one in things]


@pytest.mark.parametrize(
    ("name", "there"),
    [
        ("PurpleFrog", ["PurpleFrog", "the Lampkeeper"]),
        ("OchraMags", ["Mags"]),
        ("Nell", ["Nell Tallow"]),
        ("gull post", ["Gull Post"]),
        ("quarrel", ["quarrel"]),
        ("quarre", []),
        ("Ivo Gannet", []),
    ],
)
def test_the_timeline_has_a_name_among_its_people_and_in_its_words(
    marsh_bible: Bible, name: str, there: list[str]
) -> None:
    assert places(marsh_bible, [TIMELINE], name) == [(TIMELINE, one) for one in there]


def test_notes_are_found_by_any_of_the_names_in_their_titles(
    marsh_bible: Bible,
) -> None:
    notes = ("Nell Tallow", "On Wren and the fog", "Nellie", "Gull Post")
    assert places(marsh_bible, [NOTES], "Nell", *notes) == [
        (NOTES, "Nell Tallow"),
        (NOTES, "On Wren and the fog"),
    ]


def test_the_manuscript_is_searched_for_what_nothing_else_knows(
    marsh_bible: Bible,
) -> None:
    assert places(marsh_bible, [MANUSCRIPT], "Zoltan") == [(MANUSCRIPT, "Zoltan")]


def test_the_web_is_told_no_name_of_the_story(marsh_bible: Bible) -> None:
    assert places(marsh_bible, [WEB], "Macbeth") == [(WEB, "Macbeth")]
    assert places(marsh_bible, [WEB], "Nell") == []
    assert places(marsh_bible, [WEB], "marsh lantern") == []


def test_what_bears_a_name_hides_what_is_merely_like_it(marsh_bible: Bible) -> None:
    assert places(marsh_bible, [PROFILES, WORLD], "Ivo Gannet") == [
        (PROFILES, "Ivo Gannet")
    ]


def test_every_source_is_looked_at_in_one_order(marsh_bible: Bible) -> None:
    notes = ("The Lampkeeper",)
    found = places(marsh_bible, list(reversed(AnswerSource)), "PurpleFrog", *notes)
    order = list(dict.fromkeys(source for source, _ in found))
    assert order == [MANUSCRIPT, PROFILES, WORLD, TIMELINE, NOTES]


def test_names_with_signs_in_them_are_looked_for_as_they_are() -> None:
    plan = plan_of([TIMELINE, NOTES, MANUSCRIPT], "C(+", "")
    resolved = resolve_entities(plan, Bible(), ("C(+ notes",))
    assert EntityLocation(NOTES, "C(+ notes") in resolved[0].places
