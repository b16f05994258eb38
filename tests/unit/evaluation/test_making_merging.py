"""Making questions again keeps what the writer did to those made before."""

from collections.abc import Sequence
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from lrwr.pipeline.evaluation.questions import (
    WRITER_SOURCE,
    EvalQuestion,
    GoldQuote,
    QuestionKind,
)
from lrwr.pipeline.evaluation.review import (
    APPROVED,
    is_reviewed,
    merge_questions,
)

MADE = ["a quotation", "a profile"]
REVIEWED = [f"a quotation{APPROVED}", WRITER_SOURCE]


def questions(
    made: list[str], dropped: list[bool]
) -> st.SearchStrategy[list[EvalQuestion]]:
    one = st.builds(
        EvalQuestion,
        id=st.sampled_from([f"fact-{n}" for n in range(8)]),
        text=st.sampled_from([f"Who lights lamp {n}?" for n in range(8)]),
        gold=st.just((GoldQuote("1.md", "Nell lit the lamp."),)),
        as_of=st.sampled_from(["", "ch1"]),
        kind=st.just(QuestionKind.FACT),
        made=st.sampled_from(made),
        dropped=st.sampled_from(dropped),
    )
    return st.lists(one, max_size=8, unique_by=lambda one: one.id)


QUESTIONS = questions([*MADE, *REVIEWED], [False, True])
NEW = questions(MADE, [False])


def ids(questions: Sequence[EvalQuestion]) -> list[str]:
    return [one.id for one in questions]


@given(QUESTIONS, NEW)
def test_nothing_that_the_writer_did_is_lost(
    before: list[EvalQuestion], new: list[EvalQuestion]
) -> None:
    after = merge_questions(before, new)
    assert [one for one in before if is_reviewed(one)] == after[
        : sum(map(is_reviewed, before))
    ]


@given(QUESTIONS, NEW)
def test_merging_twice_is_merging_once(
    before: list[EvalQuestion], new: list[EvalQuestion]
) -> None:
    once = merge_questions(before, new)
    assert merge_questions(once, new) == once


@given(QUESTIONS, NEW)
def test_no_id_is_there_twice(
    before: list[EvalQuestion], new: list[EvalQuestion]
) -> None:
    after = merge_questions(before, new)
    assert len(set(ids(after))) == len(after)


@given(QUESTIONS, NEW)
def test_what_nobody_touched_gives_way_to_what_is_new(
    before: list[EvalQuestion], new: list[EvalQuestion]
) -> None:
    own = [one for one in before if is_reviewed(one)]
    for one in merge_questions(before, new)[len(own) :]:
        assert one in new


def test_what_was_dropped_stays_dropped() -> None:
    made = EvalQuestion(
        "fact-1", "Who lights it?", (GoldQuote("1.md", "x"),), made="a name"
    )
    assert merge_questions([replace(made, dropped=True)], [made]) == [
        replace(made, dropped=True)
    ]
