"""What a writer does to questions, and that nothing else changes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lrwr.core.model.errors import NotFound, SettingsProblem
from lrwr.pipeline.evaluation.questions import EvalQuestion, GoldQuote, QuestionKind
from lrwr.pipeline.evaluation.review import (
    change_question,
    count_review_progress,
    drop_question,
    edit_question,
    find_question,
    is_reviewed,
    keep_question,
    list_unreviewed_questions,
    merge_questions,
)

GOLD = (GoldQuote("1.md", "Nell lit the lamp."),)
ONE = EvalQuestion(
    "fact-ab12", "Who lights it?", GOLD, kind=QuestionKind.FACT, made="a name"
)
OTHER = EvalQuestion(
    "fact-cd34", "Who is late?", GOLD, kind=QuestionKind.FACT, made="a name"
)
THIRD = EvalQuestion(
    "fact-cd99", "Who is early?", GOLD, kind=QuestionKind.FACT, made="a name"
)
ALL = [ONE, OTHER, THIRD]


def test_a_question_is_called_by_its_id_or_enough_of_it() -> None:
    assert find_question("fact-ab12", ALL) is ONE
    assert find_question("fact-a", ALL) is ONE
    assert find_question("34", ALL) is OTHER


@pytest.mark.parametrize("name", ["fact-cd", "fact", "nothing", "", " "])
def test_a_name_that_fits_none_or_several_is_refused(name: str) -> None:
    with pytest.raises(NotFound):
        find_question(name, ALL)


@given(st.sampled_from(ALL), st.sampled_from([keep_question, drop_question]))
def test_a_change_is_of_one_question_alone(one: EvalQuestion, change: object) -> None:
    assert callable(change)
    after = change_question(ALL, one.id, change)
    assert [q.id for q in after] == [q.id for q in ALL]
    assert [q for q in after if q.id != one.id] == [q for q in ALL if q.id != one.id]


def test_what_is_dropped_can_be_kept_again() -> None:
    back = keep_question(drop_question(ONE))
    assert not back.dropped
    assert is_reviewed(back)
    assert keep_question(back) == back


def test_an_edited_question_is_the_writers_under_its_old_id() -> None:
    mine = edit_question(ONE, text="Who  lights the lamp?", answer="Nell.")
    assert (mine.id, mine.text, mine.answer) == (
        ONE.id,
        "Who lights the lamp?",
        "Nell.",
    )
    assert merge_questions([mine], [ONE]) == [mine]


def test_an_edit_that_changes_nothing_is_refused() -> None:
    with pytest.raises(SettingsProblem):
        edit_question(ONE, text=ONE.text)


def test_a_review_tells_how_far_it_has_come() -> None:
    now = [keep_question(ONE), drop_question(OTHER), THIRD]
    told = count_review_progress(now)
    assert (told.kept, told.dropped, told.waiting) == (1, 1, 1)
    assert list_unreviewed_questions(now) == [THIRD]
