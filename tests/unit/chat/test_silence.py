"""How far a text is silent, and in what words a writer is told so."""

from dataclasses import replace

import pytest

from lrwr.core.bible.values import Bible
from lrwr.core.chat.extractive.not_found import Silence, silence_in_words, silence_of
from lrwr.core.chat.extractive.question_parts import parts_of
from lrwr.core.chat.planning.rules import plan_by_rules
from lrwr.core.chat.state import Question, RetrievalResult
from lrwr.core.model.story import Horizon
from tests.fakes.chatting import a_shelf, a_story


async def silence(
    text: str, unknown: tuple[str, ...], bible: Bible, result: RetrievalResult
) -> Silence:
    question = Question(text)
    plan = plan_by_rules(question, bible)
    result = replace(result, unknown=unknown, character_profiles=bible.characters)
    parts = await parts_of(question, plan, result, a_shelf(a_story().book))
    return silence_of(question, parts, result)


@pytest.mark.parametrize(
    ("text", "unknown", "expected"),
    [
        ("Who opened the ledger?", (), Silence.NONE),
        ("Has Nell a bicycle?", ("bicycle",), Silence.UNDEFINED),
        ("Who rode the bicycle to the fog?", ("bicycle", "rode"), Silence.MAYBE),
        ("Is Zoltan in the fog?", ("zoltan",), Silence.SURE),
    ],
)
async def test_silence_has_degrees(
    text: str, unknown: tuple[str, ...], expected: Silence, marsh_bible: Bible
) -> None:
    assert await silence(text, unknown, marsh_bible, RetrievalResult()) is expected


async def test_a_search_that_is_not_sure_makes_passages_doubtful_and_facts_not(
    marsh_bible: Bible,
) -> None:
    weak = RetrievalResult(low_confidence=True)
    assert await silence("Who opened it?", (), marsh_bible, weak) is Silence.MAYBE
    assert silence_of(Question("Who?"), (), weak, known=True) is Silence.NONE


def test_words_that_stand_nowhere_are_named() -> None:
    told = silence_in_words(Question("?"), ["tin", "sea"], Silence.NONE, nearest=True)
    assert list(told) == ["Your text never says “tin” or “sea”."]
    bounded = Question("?", horizon=Horizon(1))
    told = silence_in_words(bounded, [], Silence.SURE, nearest=False)
    assert list(told) == ["Your text is silent on this so far."]
