"""A follow-up is understood without the earlier turns."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lrwr.core.bible.values import Bible
from lrwr.core.chat.planning.follow_up import rewrite_follow_up
from lrwr.core.chat.planning.rules import build_search_text, plan_by_rules
from lrwr.core.chat.state import TurnQuestion
from lrwr.core.model.cast import Gender
from lrwr.core.model.turns import AnswerSource, NarrativeState
from tests.fakes.conversations import a_turn

GENDERS = (
    Gender.FEMALE, Gender.FEMALE, Gender.FEMALE, Gender.FEMALE, Gender.MALE
)  # fmt: skip


@pytest.fixture
def bible(marsh_bible: Bible) -> Bible:
    people = zip(marsh_bible.characters, GENDERS, strict=True)
    return replace(
        marsh_bible,
        characters=tuple(replace(person, gender=gender) for person, gender in people),
    )


def follow_up(text: str, question: str, answer: str = "") -> TurnQuestion:
    return TurnQuestion(text, history=(a_turn(question, answer),))


@pytest.mark.parametrize(
    ("text", "question", "answer", "rewritten"),
    [
        ("How old is she?", "Who is Mags?", "", "How old is OchraMags?"),
        ("And how did he die?", "Who kept the lamp before PurpleFrog?",
         "Ivo Gannet kept it [1].", "How did Ivo Gannet die?"),
        ("And what did she keep of his?", "Who kept the lamp before PurpleFrog?",
         "Ivo Gannet kept it [1].", "What did PurpleFrog keep of Ivo Gannet’s?"),
        ("What is her trade?", "Who is Mags?", "", "What is OchraMags’s trade?"),
        ("Who told her?", "Who is Mags?", "", "Who told OchraMags?"),
        ("Who was with her when it went out?", "Does Mags trust the marsh lantern?", "",
         "Who was with OchraMags when the marsh lantern went out?"),
        ("Do they meet?", "Does Mags know Ivo Gannet?", "",
         "Do OchraMags and Ivo Gannet meet?"),
        ("And PurpleFrog?", "How old is Mags?", "", "How old is PurpleFrog?"),
        ("What about Ivo Gannet?", "What does Mags want?", "",
         "What does Ivo Gannet want?"),
        ("Why?", "Did Mags leave?", "", "Did Mags leave? Why?"),
        ("And in chapter 3?", "What does Mags want?", "",
         "What does Mags want in chapter 3?"),
    ],
)  # fmt: skip
def test_a_follow_up_gets_the_names_of_the_last_turn(
    bible: Bible, text: str, question: str, answer: str, rewritten: str
) -> None:
    assert rewrite_follow_up(follow_up(text, question, answer), bible) == rewritten


@pytest.mark.parametrize(
    "text",
    [
        "Who is Ivo Gannet?",
        "What does Mags say when she leaves?",
        "Is it true that Mags left?",
        "What happens in chapter 2?",
    ],
)
def test_a_question_that_stands_alone_is_not_rewritten(bible: Bible, text: str) -> None:
    assert rewrite_follow_up(follow_up(text, "Who is PurpleFrog?"), bible) == ""


def test_the_first_question_is_not_rewritten(bible: Bible) -> None:
    state = NarrativeState(entities=("OchraMags",))
    assert rewrite_follow_up(TurnQuestion("Who is she?", state=state), bible) == ""


def test_nobody_is_named_who_is_not_known_at_the_horizon(bible: Bible) -> None:
    asked = follow_up("How did he die?", "Who kept the lamp?", "Ivo Gannet kept it.")
    early = replace(bible, characters=bible.characters[:4])
    assert rewrite_follow_up(asked, early) == ""


def test_an_answer_whose_passages_have_changed_names_nobody(bible: Bible) -> None:
    asked = follow_up("How did he die?", "Who kept the lamp?", "Ivo Gannet kept it.")
    outdated = replace(asked, outdated=frozenset({asked.history[0].id}))
    assert rewrite_follow_up(outdated, bible) == ""


def test_a_follow_up_is_planned_and_searched_as_rewritten(bible: Bible) -> None:
    asked = follow_up("How old is she?", "Who is Mags?")
    plan = plan_by_rules(asked, bible)
    assert plan.question == "How old is OchraMags?"
    assert [entity.name for entity in plan.entities] == ["OchraMags"]
    assert AnswerSource.PROFILES in plan.sources
    assert build_search_text(asked, bible) == "How old is OchraMags?"


@given(st.text(max_size=60), st.text(max_size=60), st.text(max_size=60))
def test_any_text_can_follow_any_text(text: str, question: str, answer: str) -> None:
    rewrite_follow_up(follow_up(text, question, answer), Bible())
