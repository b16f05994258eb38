"""What a writer does to questions, and that nothing else changes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lrwr.core.model.errors import NotFound, SettingsProblem
from lrwr.pipeline.evaluation.question_generation.merger import is_reviewed, merged
from lrwr.pipeline.evaluation.questions import Gold, Kind, Question
from lrwr.pipeline.evaluation.review import (
    changed,
    dropped,
    edited,
    kept,
    question_called,
    standing,
    waiting,
)

GOLD = (Gold("1.md", "Nell lit the lamp."),)
ONE = Question("fact-ab12", "Who lights it?", GOLD, kind=Kind.FACT, made="a name")
OTHER = Question("fact-cd34", "Who is late?", GOLD, kind=Kind.FACT, made="a name")
THIRD = Question("fact-cd99", "Who is early?", GOLD, kind=Kind.FACT, made="a name")
ALL = [ONE, OTHER, THIRD]


def test_a_question_is_called_by_its_id_or_enough_of_it() -> None:
    assert question_called("fact-ab12", ALL) is ONE
    assert question_called("fact-a", ALL) is ONE
    assert question_called("34", ALL) is OTHER


@pytest.mark.parametrize("name", ["fact-cd", "fact", "nothing", "", " "])
def test_a_name_that_fits_none_or_several_is_refused(name: str) -> None:
    with pytest.raises(NotFound):
        question_called(name, ALL)


@given(st.sampled_from(ALL), st.sampled_from([kept, dropped]))
def test_a_change_is_of_one_question_alone(one: Question, change: object) -> None:
    assert callable(change)
    after = changed(ALL, one.id, change)
    assert [q.id for q in after] == [q.id for q in ALL]
    assert [q for q in after if q.id != one.id] == [q for q in ALL if q.id != one.id]


def test_what_is_dropped_can_be_kept_again() -> None:
    back = kept(dropped(ONE))
    assert not back.dropped
    assert is_reviewed(back)
    assert kept(back) == back


def test_an_edited_question_is_the_writers_under_its_old_id() -> None:
    mine = edited(ONE, text="Who  lights the lamp?", answer="Nell.")
    assert (mine.id, mine.text, mine.answer) == (
        ONE.id,
        "Who lights the lamp?",
        "Nell.",
    )
    assert merged([mine], [ONE]) == [mine]


def test_an_edit_that_changes_nothing_is_refused() -> None:
    with pytest.raises(SettingsProblem):
        edited(ONE, text=ONE.text)


def test_a_review_tells_how_far_it_has_come() -> None:
    now = [kept(ONE), dropped(OTHER), THIRD]
    told = standing(now)
    assert (told.kept, told.dropped, told.waiting) == (1, 1, 1)
    assert waiting(now) == [THIRD]
