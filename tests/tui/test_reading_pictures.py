"""What reading looks like: answers and their passages, wide and narrow, dark and light."""

from dataclasses import replace

import pytest

from lrwr.core.model.choices import AnswerMode
from lrwr.core.model.text import Span
from lrwr.core.model.turns import (
    AnswerSpeaker,
    NarrativeState,
    Turn,
    TurnState,
    WebCitation,
)
from lrwr.tui.app import DARK, LIGHT
from tests.fakes.conversations import QUOTED, a_turn
from tests.fakes.desk_app import a_desk, settle
from tests.fakes.picture import check_picture
from tests.fakes.suite import sampled

SIZES = {"wide": (110, 24), "narrow": (60, 20)}
THEMES = {"dark": DARK, "light": LIGHT}
LOOKS = sampled([(s, t) for s in SIZES for t in THEMES], every=3)
HERSELF = replace(
    QUOTED,
    number=2,
    text="Nell Tallow had seen to it herself, with both hands",
)
ANSWER = "Nell Tallow did, by night [1], and with both hands [2]. Nobody saw her."
PAGE = WebCitation(
    1, "How sluices work", "https://example.org/sluices", "A sluice is a gate."
)


def answered() -> Turn:
    return a_turn(answer=ANSWER, citations=(QUOTED, HERSELF))


@pytest.mark.parametrize(("size", "theme"), LOOKS)
async def test_an_answer_with_its_passages(size: str, theme: str) -> None:
    async with a_desk(SIZES[size], theme=THEMES[theme]) as (app, pilot):
        await app.desk.show([answered()])
        await settle(app, pilot)
        await check_picture(app, f"reading-answer-{size}-{theme}")
        app.desk.jump("1")
        await settle(app, pilot)
        await check_picture(app, f"reading-passage-{size}-{theme}")


async def test_an_answer_that_was_stopped() -> None:
    turn = replace(answered(), state=TurnState.STOPPED)
    async with a_desk(SIZES["wide"]) as (app, pilot):
        await app.desk.show([turn])
        await settle(app, pilot)
        await check_picture(app, "reading-stopped-wide-dark")


async def test_an_answer_under_way() -> None:
    async with a_desk(SIZES["wide"]) as (app, pilot):
        await app.desk.show([answered()])
        view = await app.desk.start_turn("And who knows of it?")
        view.show_stage("Reading the question")
        view.show_stage("Searching the manuscript")
        await settle(app, pilot)
        await check_picture(app, "reading-under-way-wide-dark")
        await app.desk.add_citation(view, QUOTED)
        called = "Nell Tallow"
        await view.write(
            "Only I do [1].", AnswerSpeaker.AVATAR, avatar=called, model=""
        )
        await view.stop()
        await settle(app, pilot)
        await check_picture(app, "reading-just-stopped-wide-dark")


@pytest.mark.parametrize("theme", THEMES)
async def test_an_answer_with_a_stretch_that_nothing_bears_out(theme: str) -> None:
    turn = answered()
    doubted = Span(ANSWER.index("Nobody"), len(ANSWER))
    said = replace(turn.output, unsupported=(doubted,), low_confidence=True)
    async with a_desk(SIZES["wide"], theme=THEMES[theme]) as (app, pilot):
        await app.desk.show([replace(turn, output=said)])
        await settle(app, pilot)
        await check_picture(app, f"reading-unsupported-wide-{theme}")


async def test_an_answer_of_a_model_in_character_with_a_page_of_the_web() -> None:
    turn = answered()
    said = replace(
        turn.output,
        response_text="I did [1].\n\n- A sluice is a **gate** [w1].\n",
        model="a-model",
        web=(PAGE,),
        tavily_used=True,
        web_query="how sluices work",
        narrative_state_delta=NarrativeState("Nell Tallow", AnswerMode.IN_CHARACTER),
        remarks=("The reranker did not answer; the order is that of the search.",),
    )
    async with a_desk(SIZES["wide"]) as (app, pilot):
        await app.desk.show([replace(turn, output=said)])
        await settle(app, pilot)
        await check_picture(app, "reading-web-wide-dark")
