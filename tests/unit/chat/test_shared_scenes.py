"""Whether people meet, and in which scenes they are, is answered from who is present."""

import pytest

from lrwr.app.presenters.answers import is_answer_doubtful
from lrwr.core.bible.values import Bible
from lrwr.core.chat.context.builder import gather_context
from lrwr.core.chat.extractive.shared_scenes import (
    SceneRequest,
    describe_unnamed_person,
    find_scene_request,
)
from lrwr.core.chat.planning.rules import plan_by_rules, resolve_entities
from lrwr.core.chat.state import TurnQuestion
from lrwr.core.model.documents import Horizon
from lrwr.core.model.turns import (
    AnswerIntent,
    NarrativeState,
    SupervisorOutput,
    Turn,
    TurnId,
)
from lrwr.core.ports.story_stores import AppearanceRole
from lrwr.core.retrieval.search_model import SearchResult
from tests.fakes.answered import Said, answer
from tests.fakes.chatting import ONE, TWO, a_bible, a_story
from tests.fakes.stories import Book, Stories

FORMS = ("Nell Tallow", "Nell", "Mags", "Corin Vale")


@pytest.mark.parametrize(
    ("question", "request_"),
    [
        ("Have Nell and Mags met by the end of chapter 3?", SceneRequest.MEETING),
        ("Do Nell and Mags ever come face to face?", SceneRequest.MEETING),
        ("When did Nell first meet Corin Vale?", SceneRequest.MEETING),
        ("List all scenes with Nell and Mags", SceneRequest.LIST),
        ("In which scenes are Nell and Mags together?", SceneRequest.LIST),
        ("How many scenes does Nell share with Mags?", SceneRequest.LIST),
        ("Who has not appeared since chapter 4?", SceneRequest.ABSENCE),
        ("Which characters never appear after chapter two?", SceneRequest.ABSENCE),
        ("Who hasn't been seen since ch. 4?", SceneRequest.ABSENCE),
        ("Who disappears from the story after chapter 1?", SceneRequest.ABSENCE),
        ("Who has not lit a lamp since chapter 4?", None),
        ("Who has appeared since chapter 4?", None),
        ("Did Nell tell Mags about the lamp?", None),
        ("Why did Nell never meet Mags on the marsh?", None),
        ("Which scenes show the fog?", None),
    ],
)
def test_questions_for_meetings_and_scenes_are_told_from_others(
    question: str, request_: SceneRequest | None
) -> None:
    assert find_scene_request(question, FORMS) is request_


@pytest.fixture
def story() -> Stories:
    stories = a_story()
    for path, words, name in (
        (ONE, "said Nell", "Nell Tallow"),
        (ONE, "said Mags", "Mags"),
        (TWO, "said Nell", "Nell Tallow"),
        (TWO, "Corin Vale came", "Corin Vale"),
    ):
        stories.appears(path, words, name, AppearanceRole.PRESENT, 1)
    return stories


async def answered(story: Stories, text: str, horizon: Horizon | None = None) -> Said:
    bible: Bible = a_bible(story, horizon)
    question = TurnQuestion(text, horizon=horizon)
    plan = plan_by_rules(question, bible)
    resolved = resolve_entities(plan, bible, ())
    result = gather_context(question, plan, resolved, bible, SearchResult(()))
    return await answer(story, question, plan, result)


async def test_who_meets_is_answered_with_the_first_scene_of_both(
    story: Stories,
) -> None:
    said = await answered(story, "Has Nell met Corin Vale?")
    assert said.text.startswith(
        "First scene with Corin Vale and Nell Tallow, chapter 2"
    )
    assert [citation.document for citation in said.citations] == [TWO]


async def test_words_of_one_to_the_other_are_shown_with_their_place(
    story: Stories,
) -> None:
    said = await answered(story, "Have Nell and Mags met?")
    assert "First certain words of Mags to Nell Tallow, chapter 1" in said.text
    assert "The fog is only weather" in said.text


async def test_people_without_a_scene_together_are_said_to_have_none(
    story: Stories,
) -> None:
    said = await answered(story, "Have Mags and Corin Vale met?")
    assert said.lines[0] == "No scene found with Corin Vale and Mags."
    assert "Corin Vale first, chapter 2" in said.text
    assert "Mags first, chapter 1" in said.text
    output = SupervisorOutput(
        said.text, AnswerIntent.ANALYTICAL, (), (), (), NarrativeState()
    )
    turn = Turn(id=TurnId("t"), number=1, asked_at=0.0, question="?", output=output)
    assert is_answer_doubtful(turn)


async def test_scenes_beyond_the_horizon_are_not_counted(story: Stories) -> None:
    text = "Have Nell and Corin Vale met by chapter 1?"
    said = await answered(story, text, Horizon(1))
    assert "First scene" not in said.text


async def test_all_scenes_with_somebody_are_listed(story: Stories) -> None:
    said = await answered(story, "List all scenes with Nell")
    first, *scenes = said.text.split("\n\n")
    assert first == "Scenes with Nell Tallow: 2"
    assert [line.split(":")[0] for line in scenes] == ["Chapter 1", "Chapter 2"]


async def test_the_first_scene_is_one_whose_narration_names_both() -> None:
    book = {
        ONE: "# One\n\n“What Mags?” asked Nell. Nell went home.\n",
        TWO: "# Two\n\nNell sat down. Mags came in with the lamp.\n",
    }
    stories = Stories(Book(book))
    for name in ("Nell", "Mags"):
        stories.name(name)
        stories.appears(ONE, "Nell went home.", name, AppearanceRole.PRESENT, 1)
        stories.appears(TWO, "Mags came in", name, AppearanceRole.PRESENT, 1)
    said = await answered(stories, "Have Nell and Mags met?")
    first, before, *_ = said.text.split("\n\n")
    assert first.startswith("First scene that names Mags and Nell together, chapter 2")
    assert said.citations[0].text == "Nell sat down. Mags came in with the lamp."
    assert before.startswith("Probably in a scene together before, chapter 1")
    listed = await answered(stories, "List all scenes with Nell and Mags")
    assert "\n\nChapter 1: " in listed.text


async def test_a_scene_that_names_people_apart_is_shown_with_a_place_for_each() -> None:
    text = (
        "# One\n\nNell sat down. It rained. The clock struck. Nell rose.\n\n"
        "The lamp went out. It was late. Mags came in. Nobody spoke.\n"
    )
    stories = Stories(Book({ONE: text}))
    for name, words in (("Nell", "Nell sat down."), ("Mags", "Mags came in.")):
        stories.name(name)
        stories.appears(ONE, words, name, AppearanceRole.PRESENT, 1)
    said = await answered(stories, "List all scenes with Nell and Mags")
    assert "\n\nChapter 1: “Nell rose.” [1] “Mags came in.” [2]" in said.text
    assert [c.text for c in said.citations] == ["Nell rose.", "Mags came in."]


async def test_a_child_of_the_same_given_name_is_not_the_one_with_the_title() -> None:
    book = {
        ONE: "# One\n\nNell sat down. Arthur played with the lamp.\n",
        TWO: "# Two\n\nNell sat down. Mr. Rook came in with the lamp.\n",
    }
    stories = Stories(Book(book))
    stories.name("Nell")
    stories.name("Arthur", "Mr. Rook")
    stories.appears(ONE, "Nell sat down.", "Nell", AppearanceRole.PRESENT, 1)
    stories.appears(ONE, "Arthur played", "Arthur", AppearanceRole.PRESENT, 1)
    said = await answered(stories, "Has Nell met Mr. Rook?")
    assert said.text.startswith("No scene found that names Mr. Rook and Nell together.")
    assert not said.citations
    said = await answered(stories, "Has Nell met Arthur?")
    assert said.text.startswith("First scene with Arthur and Nell, chapter 1")
    stories.appears(TWO, "Nell sat down.", "Nell", AppearanceRole.PRESENT, 1)
    stories.appears(TWO, "Mr. Rook came in", "Arthur", AppearanceRole.PRESENT, 1)
    said = await answered(stories, "Has Nell met Mr Rook?")
    assert said.text.startswith("First scene with Mr. Rook and Nell, chapter 2")


async def test_who_is_absent_since_a_chapter_is_listed_with_the_last_scene(
    story: Stories,
) -> None:
    said = await answered(story, "Who has not appeared since chapter 1?")
    first, *people = said.text.split("\n\n")
    assert first == "1 character is in no scene after chapter 1; their last scenes:"
    assert [line.split(":")[0] for line in people] == ["Mags, chapter 1"]
    assert [citation.document for citation in said.citations] == [ONE]


async def test_that_nobody_is_absent_is_said(story: Stories) -> None:
    story.appears(TWO, "said Nell", "Mags", AppearanceRole.PRESENT, 1)
    said = await answered(story, "Who hasn't appeared since chapter 1?")
    assert said.text == "Everybody who is in a scene is in one after chapter 1, too."


@pytest.mark.parametrize(
    ("question", "unknown", "silence"),
    [
        (
            "Has Nell met Captain Vale by chapter 5?",
            ["captain", "vale"],
            "No scene found with Nell and Captain Vale up to this point.",
        ),
        ("Has Nell met Captain Vale by chapter 5?", ["chapter"], ""),
        ("Has Nell painted Captain Vale by chapter 5?", ["captain"], ""),
    ],
)
def test_somebody_who_is_not_named_so_far_is_met_in_no_scene(
    question: str, unknown: list[str], silence: str
) -> None:
    asked = TurnQuestion(question, horizon=Horizon(5))
    assert describe_unnamed_person(asked, unknown) == silence
