"""Answers of a language model to a plan: inserted, and nothing that is there is lost."""

import json

import pytest

from lrwr.core.bible.values import Bible
from lrwr.core.drafting.board import parse_board
from lrwr.core.drafting.folder import INTENT_TEMPLATE, DraftFile
from lrwr.core.drafting.plan_questions import (
    PlanMaterial,
    PlanQuestion,
    PlanStep,
    insert_answers,
    list_plan_questions,
    parse_answers,
)
from lrwr.core.model.language_model import MalformedReply

BOARD = """# Board

%% mine: keep %%

#### Loose ^loose

### Chapter 2

#### Next ^next
- pov: Nell

<!-- a note -->
She comes.

##### She waits

#### Last ^last
Nobody knows.
"""
ANSWERS = {
    "genre": "a quiet mystery",
    "never": "nobody dreams",
    "pov": "Hob",
    "people": "Nell, Hob",
    "place": "Half House",
    "words": "900",
    "summary": "Hob tells her who rang.",
    "beats": "Hob knocks; Nell waits; he tells",
    "part": "The Tide",
    "chapter": "Chapter 1",
}


def ask(
    step: PlanStep, board: str = BOARD, intent: str = INTENT_TEMPLATE
) -> list[PlanQuestion]:
    material = PlanMaterial(
        board=parse_board(board),
        board_path="drafts/board.md",
        written=(),
        intent=DraftFile("drafts/intent.md", intent),
        sheets=(),
        sheets_path="drafts/sheets",
        bible=Bible(),
    )
    return list_plan_questions(step, material)


def reply_to(questions: list[PlanQuestion]) -> str:
    rows = [
        {"question": n, "answer": ANSWERS.get(question.field, "")}
        for n, question in enumerate(questions, start=1)
    ]
    return json.dumps({"answers": rows})


def answer(step: PlanStep, text: str, path: str) -> str:
    questions = ask(step, text if "board" in path else BOARD, text)
    answers = parse_answers(reply_to(questions), questions)
    new, inserted = insert_answers(text, path, answers)
    lines = new.splitlines()
    for insertion in inserted:
        rows = insertion.text.split("\n")
        shown = "\n".join(lines[insertion.line - 1 :])
        assert rows[0] in shown
    return new


def is_within(text: str, new: str) -> bool:
    """Whether all lines of `text`, but empty fields, stand in `new` in this order."""
    rows = iter(new.splitlines())
    return all(
        any(row.startswith(line) if line.endswith(":") else row == line for row in rows)
        for line in text.splitlines()
    )


def test_scenes_get_what_they_lack_and_lose_nothing() -> None:
    new = answer(PlanStep.SCENES, BOARD, "drafts/board.md")
    assert is_within(BOARD, new)
    loose, following, last = parse_board(new).cards
    assert (loose.pov, loose.people) == ("Hob", ("Nell", "Hob"))
    assert (loose.words, loose.summary) == (900, "Hob tells her who rang.")
    assert loose.beats == ("Hob knocks", "Nell waits", "he tells")
    assert (following.pov, following.place) == ("Nell", "Half House")
    assert (following.summary, following.beats) == ("She comes.", ("She waits",))
    assert last.summary == "Nobody knows."
    assert last.chapter == "Chapter 2"
    assert ask(PlanStep.SCENES, new) == []


def test_a_chapter_or_part_opens_before_the_scenes_that_lack_one() -> None:
    board = BOARD.replace("### Chapter 2\n", "#### Other ^other\n")
    new = answer(PlanStep.CHAPTERS, board, "drafts/board.md")
    assert is_within(board, new)
    assert new.count("### Chapter 1") == 1
    assert {card.chapter for card in parse_board(new).cards} == {"Chapter 1"}
    parts = answer(PlanStep.PARTS, BOARD, "drafts/board.md")
    assert {card.part for card in parse_board(parts).cards} == {"The Tide"}


def test_empty_fields_of_the_intent_are_filled() -> None:
    text = INTENT_TEMPLATE.replace("- theme:", "- theme: tides")
    new = answer(PlanStep.INTENT, text, "drafts/intent.md")
    assert is_within(text, new)
    assert "- genre: a quiet mystery\n- theme: tides\n- setting:\n" in new
    assert "## Never\n\n- nobody dreams\n" in new
    fields = {question.field for question in ask(PlanStep.INTENT, intent=new)}
    assert fields == {"setting", "style", "length", "always"}
    assert "- genre: a quiet mystery" in answer(PlanStep.INTENT, "", "drafts/intent.md")


@pytest.mark.parametrize(
    ("rows", "problem"),
    [
        ([{"question": 9, "answer": "x"}], "there is no question 9"),
        ([{"question": 1, "answer": "x"}] * 2, "answered twice"),
        ([{"question": 1, "answer": "# x"}], "has markup"),
        ([{"question": 1, "answer": "x <!-- y"}], "has markup"),
        ([{"question": 1, "answer": "x" * 601}], "is longer than"),
        ([{"question": 2, "answer": "many"}], "no number of words"),
        ([{"question": 1}], "an answer is not"),
        (["x"], "an answer is not"),
    ],
)
def test_an_answer_that_cannot_stand_in_the_plan_is_named(
    rows: list[object], problem: str
) -> None:
    questions = [
        PlanQuestion("Next, place", "Where?", "drafts/board.md:5", "place"),
        PlanQuestion("Next, words", "How long?", "drafts/board.md:5", "words"),
    ]
    with pytest.raises(MalformedReply, match=problem):
        parse_answers(json.dumps({"answers": rows}), questions)
