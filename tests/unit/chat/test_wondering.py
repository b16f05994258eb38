import asyncio
import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lrwr.core.bible.values import Bible, Gap, GapState
from lrwr.core.canon.model import UndefinedAttribute as Asked
from lrwr.core.chat.context.gap_finder import (
    MAX_ATTRIBUTE_CHARS,
    MAX_GAPS_PER_QUESTION,
    GapFinder,
    GapFinderResult,
    build_gaps_shape,
    may_reveal_gap,
    parse_gaps_reply,
)
from lrwr.core.chat.nodes import AvatarAnswer, assemble_output
from lrwr.core.chat.state import RetrievalResult, TurnQuestion
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.errors import ServiceUnavailable
from lrwr.core.model.language_model import MalformedReply
from lrwr.core.model.text import LineRange, Span
from lrwr.core.model.turns import AnswerIntent, Citation, GapFlag
from lrwr.core.ports.models import ChatMessage, ChatReply, ReplyShape
from tests.fakes.chat_models import ScriptedChat
from tests.fakes.chatting import BOOK, ONE, a_plan, a_story, paragraphs

COLOUR = {
    "about": "purplefrog",
    "undefined_attribute": "favourite colour",
    "what_is_implied": "Purple, perhaps.",
    "development_suggestion": "Paint her door.",
}
AGE = Gap("bdfk", Asked("OchraMags", "age"), "OchraMags", "age", GapState.OPEN)
WHAT = TurnQuestion("What is PurpleFrog's favourite colour?")


def told(*gaps: dict[str, str]) -> str:
    return json.dumps({"gaps": gaps})


async def find(bible: Bible, reply: str | ServiceUnavailable) -> GapFinderResult:
    finder = GapFinder(ScriptedChat(reply), 60.0)
    return await finder.find(WHAT, a_plan(), RetrievalResult(), bible, "Silent.")


async def test_a_gap_is_of_somebody_known_by_their_name(marsh_bible: Bible) -> None:
    nobodys = {**COLOUR, "about": ""}
    found = await find(marsh_bible, told(COLOUR, nobodys))
    one = GapFlag(
        "PurpleFrog", "favourite colour", "Purple, perhaps.", "Paint her door."
    )
    assert found == GapFinderResult((one, replace(one, about="")))


@pytest.mark.parametrize(
    "wrong", [{"about": "Somebody Else"}, {"undefined_attribute": " \n"}]
)
async def test_what_is_nobodys_or_nothing_is_no_gap(
    wrong: dict[str, str], marsh_bible: Bible
) -> None:
    assert await find(marsh_bible, told({**COLOUR, **wrong})) == GapFinderResult()


async def test_gaps_are_few_and_short_and_on_one_line(marsh_bible: Bible) -> None:
    long = {**COLOUR, "undefined_attribute": "a\x1b[31m\n" + "b " * 200}
    found = await find(marsh_bible, told(*[long] * 9))
    assert len(found.gaps) == MAX_GAPS_PER_QUESTION
    attribute = found.gaps[0].undefined_attribute
    assert attribute.startswith("a [31m b")
    assert len(attribute) == MAX_ATTRIBUTE_CHARS


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        (ServiceUnavailable("The server is gone.", hint="Start it."), "server is gone"),
        ("None that I see.", "was not in the requested format"),
        ('{"gaps": ["colour"]}', "was not in the requested format"),
        ('{"gaps": "colour"}', "was not in the requested format"),
    ],
)
async def test_a_model_that_fails_finds_none_and_says_so(
    reply: str | ServiceUnavailable, why: str, marsh_bible: Bible
) -> None:
    found = await find(marsh_bible, reply)
    (remark,) = found.remarks
    assert found.gaps == ()
    assert remark.startswith("Open questions were not analysed: ")
    assert why in remark


class Sleeper(ScriptedChat):
    async def fill(
        self, messages: Sequence[ChatMessage], shape: ReplyShape
    ) -> ChatReply:
        await asyncio.Event().wait()
        return await super().fill(messages, shape)


async def test_a_model_that_takes_too_long_finds_none(marsh_bible: Bible) -> None:
    finder = GapFinder(Sleeper(), 0.01)
    found = await finder.find(WHAT, a_plan(), RetrievalResult(), marsh_bible, "")
    assert found.remarks == (
        "Open questions were not analysed: the model took more than 0.01 seconds"
        " (`model.plan_timeout`).",
    )


async def test_all_that_anybody_wrote_is_fenced(marsh_bible: Bible) -> None:
    story = a_story()
    result = RetrievalResult(
        ranked_chunks=tuple(paragraphs(story.book, ONE)), gaps=(AGE,), unknown=("pink",)
    )
    asked_of_pink = TurnQuestion("What colour does Pink like?")
    model = ScriptedChat(told())
    plan = replace(a_plan(), question="What colour does Pink like best?")
    answer = "The text is silent on pink."
    await GapFinder(model, 60.0).find(asked_of_pink, plan, result, marsh_bible, answer)
    ((messages, shape),) = model.asked
    assert shape == build_gaps_shape()
    asked = messages[-1].text
    assert BOOK[ONE].split("\n\n")[1] in asked
    for label, words in (
        ("question", plan.question),
        ("passages", "[chapter 1] "),
        ("answer", answer),
        ("names that stand nowhere", "pink"),
    ):
        inside = asked.split(f"<{label} ")[1].split(f"</{label} ")[0]
        assert words in inside
    assert plan.question not in messages[0].text


def test_a_model_is_asked_if_the_answer_or_the_question_speaks_of_a_gap() -> None:
    plain, found = a_plan(), RetrievalResult(low_confidence=True)
    probe = a_plan(intent=AnswerIntent.GAP_PROBE)
    assert not may_reveal_gap(plain, found, is_silent=False)
    assert may_reveal_gap(plain, found, is_silent=True)
    assert may_reveal_gap(probe, found, is_silent=False)
    by_words = RetrievalResult(by_words_only=True)
    assert not may_reveal_gap(probe, by_words, is_silent=True)


async def test_a_gap_about_a_thing_that_the_passages_name_is_kept(
    marsh_bible: Bible,
) -> None:
    story = a_story()
    result = RetrievalResult(ranked_chunks=tuple(paragraphs(story.book, ONE)))
    word = next(w for w in BOOK[ONE].split() if w.islower() and len(w) > 4).strip(".,")
    model = ScriptedChat(told({**COLOUR, "about": f"the {word}"}))
    finder = GapFinder(model, 60.0)
    found = await finder.find(WHAT, a_plan(), result, marsh_bible, "Silent.")
    assert [gap.about for gap in found.gaps] == [f"the {word}"]


def test_the_gap_of_an_answer_is_named_by_the_model_if_it_names_one() -> None:
    by_words = GapFlag("PurpleFrog", "favourite colour have")
    by_model = GapFlag("PurpleFrog", "favourite colour", "Purple, perhaps.")
    answer = AvatarAnswer("The text is silent.", gaps=(by_words,), is_silent=True)

    def flags(*found: GapFlag) -> tuple[GapFlag, ...]:
        gaps = GapFinderResult(found)
        plan, result = a_plan(), RetrievalResult()
        return assemble_output(WHAT, plan, (), Bible(), result, gaps, answer).gap_flags

    assert flags(by_model) == (by_model,)
    assert flags() == (by_words,)


@pytest.mark.parametrize(
    ("is_silent", "low"), [(False, None), (True, True)], ids=["answered", "silent"]
)
def test_a_model_that_answers_from_the_passages_clears_the_doubt_of_the_search(
    is_silent: bool, low: bool | None
) -> None:
    cited = Citation(1, DocumentId("1.md"), Span(0, 4), LineRange(1, 1), "Half", 1)
    answer = AvatarAnswer("Half [1].", (cited,), model="m", is_silent=is_silent)
    chunks = paragraphs(a_story().book, ONE)
    result = RetrievalResult(ranked_chunks=tuple(chunks), low_confidence=True)
    cited = replace(cited, document=chunks[0].chunk.document, span=chunks[0].chunk.span)
    answer = replace(answer, citations=(cited,))
    gaps = GapFinderResult()
    output = assemble_output(WHAT, a_plan(), (), Bible(), result, gaps, answer)
    assert output.low_confidence is low


@given(st.text())
def test_nothing_that_a_model_says_raises_anything_else(reply: str) -> None:
    with suppress(MalformedReply):
        parse_gaps_reply(reply)
