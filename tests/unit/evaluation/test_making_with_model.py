"""A model asks questions; every word that they rest on is looked up."""

import json
from collections.abc import Sequence

import pytest

from lrwr.core.model.errors import ServiceUnavailable
from lrwr.core.ports.models import ChatMessage, ReplyShape
from lrwr.pipeline.evaluation.question_generation.generator import GeneratedQuestions
from lrwr.pipeline.evaluation.question_generation.model_generator import (
    generate_questions_with_model,
)
from lrwr.pipeline.evaluation.question_generation.source_material import SourceMaterial
from lrwr.pipeline.evaluation.questions import QuestionKind
from tests.fakes.chat_models import ScriptedChat
from tests.unit.evaluation.made_books import a_material

HID = "Nell Tallow hid the kettle under the red blanket."
ASKED = "Under what is the pot out of sight?"
NOBODY = "Which instrument is heard at night?"


@pytest.fixture(scope="module")
def material() -> SourceMaterial:
    return a_material()


def row(question: str, quote: str, passage: int = 1) -> dict[str, object]:
    quotes = [{"passage": passage, "quote": quote}] if quote else []
    return {"question": question, "answer": "An answer.", "quotes": quotes}


def replying(*rows: dict[str, object]) -> ScriptedChat:
    """Answers every call with these, each quote said to be from where it stands."""

    def answer(messages: Sequence[ChatMessage], shape: ReplyShape | None) -> str:
        shown = messages[1].text.split("</passage")
        told = []
        for one in rows:
            quotes = [
                {"passage": number, "quote": words}
                for quoted in _quotes(one)
                for words in [quoted]
                for number, text in enumerate(shown, start=1)
                if words in text
            ]
            kept = quotes or [{"passage": 1, "quote": q} for q in _quotes(one)]
            told.append({**one, "quotes": kept})
        return json.dumps({"questions": told})

    return ScriptedChat(answer=answer)


def _quotes(one: dict[str, object]) -> list[str]:
    quotes = one["quotes"]
    assert isinstance(quotes, list)
    return [quote["quote"] for quote in quotes]


async def ask(
    chat: ScriptedChat,
    material: SourceMaterial,
    number: int = 10,
    *,
    answers: bool = False,
) -> tuple[GeneratedQuestions, list[int]]:
    steps: list[int] = []

    async def answered(question: str) -> bool:
        return answers

    made = await generate_questions_with_model(
        chat, material, number, advance=steps.append, answered=answered
    )
    return made, steps


async def test_a_question_whose_quote_stands_there_is_kept(
    material: SourceMaterial,
) -> None:
    made, steps = await ask(replying(row(ASKED, HID)), material)
    kept = next(one for one in made.questions if one.text == ASKED)
    assert [gold.quote for gold in kept.gold] == [HID]
    assert kept.made == "the model scripted"
    assert sum(steps) == 10


async def test_a_quote_that_does_not_stand_there_is_dropped_and_counted(
    material: SourceMaterial,
) -> None:
    near = HID.replace("red", "old")
    made, _ = await ask(replying(row(ASKED, near)), material)
    assert all(one.text != ASKED for one in made.questions)
    assert any("do not occur in the passage" in remark for remark in made.remarks)


async def test_a_question_that_repeats_the_text_is_dropped_and_counted(
    material: SourceMaterial,
) -> None:
    copied = "Nell Tallow hid the kettle under which red blanket?"
    made, _ = await ask(replying(row(copied, HID)), material)
    assert all(one.text != copied for one in made.questions)
    assert any("repeated most of a quote" in remark for remark in made.remarks)


async def test_what_turns_out_to_have_an_answer_is_dropped(
    material: SourceMaterial,
) -> None:
    chat = replying(row(NOBODY, ""))
    made, _ = await ask(chat, material, answers=True)
    assert all(one.text != NOBODY for one in made.questions)
    assert any("have an answer" in remark for remark in made.remarks)
    made, _ = await ask(chat, material, answers=False)
    gone = next(one for one in made.questions if one.text == NOBODY)
    assert gone.kind is QuestionKind.UNANSWERABLE and not gone.gold


async def test_without_a_search_no_model_says_what_has_no_answer(
    material: SourceMaterial,
) -> None:
    chat = replying(row(NOBODY, ""))
    made = await generate_questions_with_model(
        chat, material, 10, advance=lambda _: None
    )
    gone = [one for one in made.questions if one.kind is QuestionKind.UNANSWERABLE]
    assert gone and all(one.text != NOBODY for one in gone)
    assert any("Search cannot check" in remark for remark in made.remarks)


@pytest.mark.parametrize(
    "chat",
    [
        ScriptedChat(answer=lambda messages, shape: "I cannot do that."),
        ScriptedChat(answer=lambda messages, shape: '{"questions": [{"q": 1}]}'),
        ScriptedChat(*[ServiceUnavailable("The model is not there")] * 40),
    ],
    ids=["no JSON", "another shape", "no server"],
)
async def test_a_model_that_fails_leaves_the_templates_and_a_remark(
    chat: ScriptedChat, material: SourceMaterial
) -> None:
    made, _ = await ask(chat, material)
    assert 5 < len(made.questions) < 10  # templates know four of the six kinds
    assert any("templates supply the rest" in remark for remark in made.remarks)


async def test_passages_are_fenced(
    material: SourceMaterial,
) -> None:
    chat = replying(row(ASKED, HID))
    await ask(chat, material, 4)
    assert chat.asked
    for messages, shape in chat.asked:
        assert messages[1].text.startswith("<passage 1 ")
        assert HID not in messages[0].text
        assert shape is not None
