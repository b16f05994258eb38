import pytest
from hypothesis import given
from hypothesis import strategies as st

from lrwr.core.bible.gaps import (
    CanonCommand,
    build_gap_answer,
    format_gap_answer,
    parse_canon_command,
)
from lrwr.core.bible.values import Bible, Gap, GapState
from lrwr.core.canon.decision import GapAnswered
from lrwr.core.canon.model import UndefinedAttribute
from lrwr.core.model.errors import NotFound
from lrwr.core.model.turns import GapFlag

COLOUR = GapFlag("PurpleFrog", "favourite colour")
SHOE = GapFlag("OchraMags", "shoe size")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("canon: green", CanonCommand("green")),
        (" Canon :  green,\n like the marsh ", CanonCommand("green, like the marsh")),
        ("canon BDFK: green", CanonCommand("green", "bdfk")),
        ("canon:", CanonCommand("")),
        ("What is canon: the green or the grey?", None),
        ("canonical: green", None),
        ("Is it canon?", None),
    ],
)
def test_what_begins_with_canon_defines(text: str, said: CanonCommand | None) -> None:
    assert parse_canon_command(text) == said


@given(st.text())
def test_any_line_is_a_question_or_a_definition(text: str) -> None:
    said = parse_canon_command(text)
    assert said is None or text.lstrip()[:5].lower() == "canon"


def test_the_one_thing_left_open_is_what_is_answered(marsh_bible: Bible) -> None:
    decision = build_gap_answer(CanonCommand("green"), marsh_bible, [COLOUR])
    assert decision == GapAnswered("PurpleFrog", "favourite colour", "green")


@pytest.mark.parametrize(
    ("text", "decision"),
    [
        ("Mags's coat is blue.", GapAnswered("OchraMags", "coat", "blue")),
        ("PurpleFrog’s eyes are grey", GapAnswered("PurpleFrog", "eyes", "grey")),
    ],
)
def test_whose_what_is_what_needs_no_gap(
    text: str, decision: GapAnswered, marsh_bible: Bible
) -> None:
    assert build_gap_answer(CanonCommand(text), marsh_bible, []) == decision
    assert build_gap_answer(CanonCommand(text), marsh_bible, [COLOUR, SHOE]) == decision


def test_the_house_of_a_stranger_is_an_answer_like_any_other(
    marsh_bible: Bible,
) -> None:
    said = CanonCommand("the sailor's hat is where it went")
    decision = build_gap_answer(said, marsh_bible, [SHOE])
    assert decision == GapAnswered("OchraMags", "shoe size", said.text)


def test_a_gap_of_the_ledger_is_answered_by_its_id() -> None:
    asked = UndefinedAttribute("Mags", "shoe size")
    gap = Gap("bdfk", asked, "OchraMags", "shoe size", GapState.OPEN)
    decision = build_gap_answer(
        CanonCommand("six", "bdfk"), Bible(gaps=(gap,)), [COLOUR]
    )
    assert decision == GapAnswered("Mags", "shoe size", "six")


@pytest.mark.parametrize(
    ("said", "left_open", "why"),
    [
        (CanonCommand(""), [COLOUR], "no statement after"),
        (CanonCommand("green"), [], "no open question"),
        (CanonCommand("the Duke's hat is red"), [], "“the Duke” names no character"),
        (CanonCommand("green"), [COLOUR, SHOE], "PurpleFrog, favourite colour; Ochra"),
        (CanonCommand("green", "bdfk"), [COLOUR], "No open question has the id"),
    ],
)
def test_what_may_mean_nothing_or_several_things_is_asked_back(
    said: CanonCommand, left_open: list[GapFlag], why: str, marsh_bible: Bible
) -> None:
    with pytest.raises(NotFound, match=why) as error:
        build_gap_answer(said, marsh_bible, left_open)
    assert error.value.hint


def test_the_writer_is_told_what_is_canon_now_or_was_before() -> None:
    decision = GapAnswered("Mags", "shoe size", "six")
    assert format_gap_answer(decision, new=True) == (
        "Saved as canon: Mags, shoe size: six. To undo it: `lrwr canon undo`."
    )
    told_again = format_gap_answer(decision, new=False)
    assert told_again == "Already canon: Mags, shoe size: six."
