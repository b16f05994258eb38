"""Notes below an answer."""

from dataclasses import replace

import pytest

from lrwr.app.presenters.answers import describe_answer_notes
from tests.fakes.conversations import a_turn


@pytest.mark.parametrize(
    ("question", "command"),
    [
        ("What does Nell know about the sluice?", "--witnessed"),
        ("Which of my findings are new since yesterday?", "lrwr check --since"),
        ("What has changed since the last reading?", "lrwr diff --last"),
        ("Who has not appeared since chapter 4?", "--absent-since"),
    ],
)
def test_a_question_for_another_screen_names_it_without_a_model(
    question: str, command: str
) -> None:
    turn = a_turn(question)
    assert any(command in note.text for note in describe_answer_notes(turn))
    answered = replace(turn, output=replace(turn.output, model="a model"))
    assert list(describe_answer_notes(answered)) == []


@pytest.mark.parametrize(
    "question", ["What changed Nell?", "Who knows what Nell did?", "Who left?"]
)
def test_other_questions_have_no_such_note(question: str) -> None:
    assert list(describe_answer_notes(a_turn(question))) == []
