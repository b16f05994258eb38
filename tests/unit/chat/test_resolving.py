from dataclasses import replace

import pytest

from lrwr.core.bible.values import Bible
from lrwr.core.chat.planning.rules import plan_by_rules, resolve_entities
from lrwr.core.chat.state import TurnQuestion
from lrwr.core.model.chunks import Passage
from lrwr.core.model.documents import DocumentType
from lrwr.core.model.facts import RULES_KEEPER
from lrwr.core.model.turns import (
    INTENTIONS_BY_SOURCE,
    AnswerIntent,
    AnswerSource,
    QuestionEntity,
    QuestionPlan,
    SourceChoice,
)
from tests.fakes.records import a_chunk

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


def places_asked(bible: Bible, text: str) -> dict[str, set[tuple[AnswerSource, str]]]:
    plan = plan_by_rules(TurnQuestion(text), bible)
    return {
        one.entity.name: {(place.source, place.name) for place in one.places}
        for one in resolve_entities(plan, bible, (), SAID)
    }


def said(text: str, chapter: int | None = 1) -> Passage:
    chunk = a_chunk(text)
    return Passage(chunk, DocumentType.SCENE, chapter, "One", 1, 1.0)


SAID = (said("The Marsh Lantern burned."),)


def test_one_source_and_whom_it_has(marsh_bible: Bible) -> None:
    asked = places_asked(marsh_bible, "How does PurpleFrog talk?")
    assert asked == {
        "PurpleFrog": {
            (PROFILES, "PurpleFrog"),
            (MANUSCRIPT, "PurpleFrog"),
            (MANUSCRIPT, "the Lampkeeper"),
        }
    }


def test_what_somebody_says_of_a_thing_is_looked_for_in_the_story_alone(
    marsh_bible: Bible,
) -> None:
    asked = places_asked(
        marsh_bible, "What does PurpleFrog say about the marsh lantern?"
    )
    assert (MANUSCRIPT, "PurpleFrog") in asked["PurpleFrog"]
    assert asked["the marsh lantern"] == {(MANUSCRIPT, "the marsh lantern")}
    assert {source for found in asked.values() for source, _ in found} == {MANUSCRIPT}


def test_two_sources_at_once_and_each_name_where_it_is(marsh_bible: Bible) -> None:
    asked = places_asked(
        marsh_bible, "Remind me who OchraMags is, and what PurpleFrog values"
    )
    assert asked == {
        "OchraMags": {
            (PROFILES, "OchraMags"),
            (MANUSCRIPT, "OchraMags"),
            (MANUSCRIPT, "Mags"),
        },
        "PurpleFrog": {
            (PROFILES, "PurpleFrog"),
            (MANUSCRIPT, "PurpleFrog"),
            (MANUSCRIPT, "the Lampkeeper"),
        },
    }


def test_a_name_that_two_sources_have_is_used_in_both(marsh_bible: Bible) -> None:
    asked = places_asked(
        marsh_bible, "How do the tide rules work, and does PurpleFrog break them?"
    )
    assert asked == {
        "tide rules": {(WORLD, "tide rules")},
        "PurpleFrog": {
            (PROFILES, "PurpleFrog"),
            (WORLD, "tide rules"),
            (MANUSCRIPT, "PurpleFrog"),
            (MANUSCRIPT, "the Lampkeeper"),
        },
    }


def test_a_name_that_only_an_unchosen_source_has_is_nowhere(marsh_bible: Bible) -> None:
    plan = plan_of([PROFILES], "PurpleFrog", "the marsh lantern")
    frog, lantern = resolve_entities(plan, marsh_bible, ("The marsh lantern",))
    assert [(one.source, one.name) for one in frog.places] == [(PROFILES, "PurpleFrog")]
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


@pytest.mark.parametrize(
    ("name", "text", "chapter", "there"),
    [
        ("Zoltan", "Then zoltan came.", 1, [("Zoltan", "exact", 1.0, "zoltan")]),
        ("Zoltan", "Zoltan is the villain.", None, []),
        ("Zoltan", "Nobody came.", 1, []),
        ("marsh lantern", "The Marsh Lantern!", 1,
         [("the marsh lantern", "exact", 1.0, "Marsh Lantern")]),
        ("Gull Post", "Nobody came.", 1, []),
    ],
)  # fmt: skip
def test_a_name_is_in_the_manuscript_only_if_the_story_has_it(
    marsh_bible: Bible,
    name: str,
    text: str,
    chapter: int | None,
    there: list[tuple[str, str, float, str]],
) -> None:
    (resolved,) = resolve_entities(
        plan_of([MANUSCRIPT], name), marsh_bible, (), (said(text, chapter),)
    )
    assert [(p.name, p.match, p.confidence, p.text) for p in resolved.places] == there


def test_an_alias_that_no_text_mentions_is_not_in_the_manuscript(
    marsh_bible: Bible,
) -> None:
    nell = marsh_bible.characters[2]
    forms = tuple(
        replace(form, mentions=0) if form.name == "Wren" else form
        for form in nell.aliases
    )
    bible = Bible(characters=(replace(nell, aliases=forms),))
    assert places(bible, [MANUSCRIPT], "Wren") == [
        (MANUSCRIPT, "Nell Tallow"),
        (MANUSCRIPT, "Nell"),
    ]


@pytest.mark.parametrize(
    ("source", "name", "location"),
    [
        (PROFILES, "PurpleFrog", ("PurpleFrog", "exact", 1.0, "PurpleFrog")),
        (PROFILES, "wren", ("Nell Tallow", "exact", 1.0, "Wren")),
        (PROFILES, "Tallow", ("Nell Tallow", "substring", 0.7, "Nell Tallow")),
        (PROFILES, "OcraMags", ("OchraMags", "fuzzy", 0.5, "OchraMags")),
        (PROFILES, "Gannet", ("Mrs. Gannet", "substring", 0.35, "Mrs. Gannet")),
        (MANUSCRIPT, "Mags", ("OchraMags", "alias", 0.9, "OchraMags")),
        (WORLD, "the lantern",
         ("the marsh lantern", "substring", 0.7, "the marsh lantern")),
        (WORLD, "mash lantern", ("the marsh lantern", "fuzzy", 0.5, "the marsh lantern")),
        (WORLD, "Mags", ("Gull Post", "alias", 0.9, "OchraMags")),
        (TIMELINE, "OchraMags", ("Mags", "alias", 0.9, "Mags")),
        (NOTES, "Nell", ("On Wren and the fog", "alias", 0.9, "Wren")),
        (WEB, "Macbeth", ("Macbeth", "exact", 1.0, "Macbeth")),
    ],
)  # fmt: skip
def test_a_location_says_how_the_name_matches_and_what(
    marsh_bible: Bible,
    source: AnswerSource,
    name: str,
    location: tuple[str, str, float, str],
) -> None:
    notes = ("On Wren and the fog",)
    (resolved,) = resolve_entities(plan_of([source], name), marsh_bible, notes)
    first = resolved.places[0]
    assert (first.name, first.match, first.confidence, first.text) == location


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
    assert [place.name for place in resolved[0].places] == ["C(+ notes"]
