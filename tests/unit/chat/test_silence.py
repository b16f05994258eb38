"""How far a text is silent, and in what words a writer is told so."""

from dataclasses import replace

import pytest

from lrwr.core.bible.values import Bible
from lrwr.core.chat.extractive.question_parts import split_question_parts
from lrwr.core.chat.extractive.writer import (
    NotFoundLevel,
    classify_not_found,
    format_not_found,
)
from lrwr.core.chat.planning.rules import plan_by_rules
from lrwr.core.chat.state import RetrievalResult, TurnQuestion
from lrwr.core.model.documents import Horizon
from tests.fakes.chatting import a_shelf, a_story


async def silence(
    text: str, unknown: tuple[str, ...], bible: Bible, result: RetrievalResult
) -> NotFoundLevel:
    question = TurnQuestion(text)
    plan = plan_by_rules(question, bible)
    result = replace(result, unknown=unknown, character_profiles=bible.characters)
    parts = await split_question_parts(question, plan, result, a_shelf(a_story().book))
    return classify_not_found(question, parts, result)


@pytest.mark.parametrize(
    ("text", "unknown", "expected"),
    [
        ("Who opened the ledger?", (), NotFoundLevel.NONE),
        ("Has Nell a bicycle?", ("bicycle",), NotFoundLevel.UNDEFINED),
        ("Who rode the bicycle to the fog?", ("bicycle", "rode"), NotFoundLevel.MAYBE),
        ("Is Zoltan in the fog?", ("zoltan",), NotFoundLevel.SURE),
    ],
)
async def test_silence_has_degrees(
    text: str, unknown: tuple[str, ...], expected: NotFoundLevel, marsh_bible: Bible
) -> None:
    assert await silence(text, unknown, marsh_bible, RetrievalResult()) is expected


def test_words_that_stand_nowhere_are_named() -> None:
    told = format_not_found(
        TurnQuestion("?"), ["tin", "sea"], NotFoundLevel.NONE, nearest=True
    )
    assert list(told) == ["Not found in the text: “tin”, “sea”."]
    bounded = TurnQuestion("?", horizon=Horizon(1))
    told = format_not_found(bounded, [], NotFoundLevel.SURE, nearest=False)
    assert list(told) == ["The text does not mention this up to this point."]


def test_a_misspelled_name_and_an_absent_phrase_are_told() -> None:
    told = format_not_found(
        TurnQuestion("Who says “half a bell” to Tallo's aunt?"),
        ["tallo", "half"],
        NotFoundLevel.NONE,
        nearest=True,
        similar_names=("Tallow",),
        phrases=("half a bell",),
    )
    assert list(told) == [
        "Not found in the text: “half a bell”, “Tallo”. Did you mean Tallow?"
    ]
