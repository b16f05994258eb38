"""The conversation on the screen: long ones, ones that are under way, and both."""

from dataclasses import replace

import pytest
from textual.widgets import Static

from lrwr.core.model.text import Span
from lrwr.core.model.turns import AnswerSpeaker, Turn
from lrwr.tui.widgets.reply import (
    FRAME_SECONDS,
    LONG_PARAGRAPH,
    VerbatimReply,
    compute_frame_seconds,
    render_citation_marks,
)
from lrwr.tui.widgets.transcript import INITIAL_TURNS, MAX_TURNS
from lrwr.tui.widgets.turn import TurnView
from tests.fakes.conversations import a_turn, some_turns
from tests.fakes.desk_app import a_desk, settle

MANY = 500


def shown_words(view: TurnView) -> str:
    return "\n".join(str(one.render()) for one in view.query(Static))


def questions(views: list[TurnView]) -> list[str]:
    return [view.question for view in views]


async def test_of_a_long_conversation_the_last_turns_are_mounted() -> None:
    async with a_desk() as (app, pilot):
        await app.desk.show(some_turns(MANY))
        await settle(app, pilot)
        transcript = app.desk.transcript
        asked = questions(transcript.views)
        assert asked == [f"Question {n}?" for n in range(MANY - INITIAL_TURNS, MANY)]
        assert transcript.scroll_y == transcript.max_scroll_y


async def test_older_turns_come_as_one_scrolls_up_and_nothing_jumps() -> None:
    async with a_desk() as (app, pilot):
        await app.desk.show(some_turns(MANY))
        await settle(app, pilot)
        transcript = app.desk.transcript
        first = transcript.views[0]
        before = first.region.y + round(transcript.scroll_y) - 4
        transcript.scroll_to(y=4, animate=False)
        await settle(app, pilot)
        assert transcript.views[0].question == "Question 470?"
        assert first.region.y == before


@pytest.mark.exhaustive
async def test_one_can_read_to_the_first_turn_and_back_with_few_of_them_mounted() -> (
    None
):
    async with a_desk() as (app, pilot):
        await app.desk.show(some_turns(120))
        await settle(app, pilot)
        transcript = app.desk.transcript
        most = 0
        while transcript.views[0].question != "Question 0?":
            transcript.scroll_to(y=0, animate=False)
            await settle(app, pilot)
            most = max(most, len(transcript.views))
        assert most <= MAX_TURNS
        while transcript.views[-1].question != "Question 119?":
            transcript.scroll_to(y=transcript.max_scroll_y, animate=False)
            await settle(app, pilot)
            assert len(transcript.views) <= MAX_TURNS
        asked = questions(transcript.views)
        assert asked == [f"Question {n}?" for n in range(120 - len(asked), 120)]


async def test_a_question_asked_far_up_is_shown_at_the_end() -> None:
    async with a_desk() as (app, pilot):
        await app.desk.show(some_turns(120))
        await settle(app, pilot)
        transcript = app.desk.transcript
        for _ in range(6):
            transcript.scroll_to(y=0, animate=False)
            await settle(app, pilot)
        await app.desk.start_turn("And now?")
        await settle(app, pilot)
        assert questions(transcript.views)[-2:] == ["Question 119?", "And now?"]
        assert transcript.scroll_y == transcript.max_scroll_y


async def test_a_short_conversation_begins_at_the_top() -> None:
    async with a_desk() as (app, pilot):
        await app.desk.start_turn("Who shut the sluice?")
        await settle(app, pilot)
        (view,) = app.desk.transcript.views
        assert app.desk.transcript.scroll_y == 0
        assert view.region.y <= 1


async def written(view: TurnView, count: int, *, model: str = "") -> None:
    for n in range(count):
        text = f"word{n} " + ("\n\n" if n % 20 == 19 else "")
        await view.write(text, AnswerSpeaker.AVATAR, avatar="", model=model)


@pytest.mark.parametrize("model", ["", "a-model"])
async def test_an_answer_under_way_is_followed_only_while_its_end_is_in_sight(
    model: str,
) -> None:
    async with a_desk() as (app, pilot):
        transcript = app.desk.transcript
        view = await app.desk.start_turn("Tell me all of it.")
        await written(view, 900, model=model)
        await pilot.pause(0.2)
        await settle(app, pilot)
        assert transcript.scroll_y == transcript.max_scroll_y > 0
        assert not app.query_one("#below").display
        transcript.scroll_to(y=2, animate=False)
        await pilot.pause()
        await written(view, 900, model=model)
        await pilot.pause(0.2)
        assert transcript.scroll_y == 2
        assert app.query_one("#below").display
        await transcript.action_to_end()
        await settle(app, pilot)
        assert transcript.scroll_y == transcript.max_scroll_y
        assert not app.query_one("#below").display


async def test_every_word_of_a_quick_answer_is_shown_in_the_end() -> None:
    async with a_desk() as (app, pilot):
        view = await app.desk.start_turn("Tell me all of it.")
        view.show_stage("Searching the manuscript")
        view.show_stage("Answering")
        await pilot.pause()
        assert len(view.query(".step")) == 2
        await written(view, 3_000)
        turn = a_turn(answer=" ".join(f"word{n}" for n in range(3_000)), citations=())
        await app.desk.finish(view, turn)
        await settle(app, pilot)
        assert not view.query(".step")
        told = shown_words(view)
        assert all(f"word{n} " in told for n in range(3_000))


async def test_supervisor_analyst_and_avatar_are_told_apart_by_a_word() -> None:
    async with a_desk() as (app, pilot):
        view = await app.desk.start_turn("And?")
        await view.write("One. ", AnswerSpeaker.SUPERVISOR, avatar="Nell", model="")
        await view.write("Two. ", AnswerSpeaker.AVATAR, avatar="Nell", model="")
        await settle(app, pilot)
        told = [str(one.render()) for one in view.query(".speaker").results(Static)]
        assert told == ["lrwr", "Nell, in character"]
        colours = {one.styles.color.hex for one in view.query(".speaker")}
        assert len(colours) == 2


async def test_a_stopped_answer_bears_a_mark_and_takes_no_more_words() -> None:
    async with a_desk() as (app, pilot):
        view = await app.desk.start_turn("And?")
        await view.write("One. ", AnswerSpeaker.AVATAR, avatar="", model="")
        await view.stop()
        await view.write("Two. ", AnswerSpeaker.AVATAR, avatar="", model="")
        await settle(app, pilot)
        assert "■ stopped" in shown_words(view)
        assert "Two." not in shown_words(view)


def test_stretches_that_nothing_bears_out_are_underlined_where_they_are_shown() -> None:
    answer = "She \x1b[31mswims [1]. She reads [[Half House]] aloud."
    start = answer.index("She reads")
    reply = VerbatimReply(answer, [Span(start, len(answer))])
    content = reply.content
    (doubted,) = [
        one for one in getattr(content, "spans", []) if "underline" in str(one.style)
    ]
    assert str(content)[doubted.start : doubted.end] == "She reads Half House aloud."


def test_a_number_can_be_clicked_and_nothing_else_in_brackets() -> None:
    content = render_citation_marks("One [1], two [w2], [bold]three[/bold] [4000].")
    assert content.plain == "One [1], two [w2], [bold]three[/bold] [4000]."
    clicked = [content.plain[one.start : one.end] for one in content.spans]
    assert clicked == ["[1]", "[w2]"]


@pytest.mark.parametrize("model", ["", "a-model"])
async def test_words_can_be_chosen_with_the_mouse(model: str) -> None:
    turn = a_turn(answer="Nell Tallow shut it by night.")
    said = replace(turn.output, model=model)
    async with a_desk() as (app, pilot):
        await app.desk.show([replace(turn, output=said)])
        await settle(app, pilot)
        reply = app.desk.transcript.query(".reply")[-1]
        await pilot.mouse_down(reply, offset=(0, 0))
        await pilot.hover(reply, offset=(5, 0))
        await pilot.hover(reply, offset=(11, 0))
        await pilot.mouse_up(reply, offset=(11, 0))
        await pilot.pause()
        chosen = app.screen.get_selected_text()
        assert chosen is not None
        assert chosen.startswith("Nell Tallow")
        assert chosen in said.response_text


async def test_a_click_on_an_earlier_turn_shows_its_passages() -> None:
    async with a_desk() as (app, pilot):
        await app.desk.show([a_turn("One?"), a_turn("Two?", citations=())])
        await settle(app, pilot)
        await pilot.click(app.desk.transcript.views[0].query_one(".question"))
        await settle(app, pilot)
        assert [one.number for one in app.desk.sources.views] == ["1"]


async def test_choosing_an_earlier_turn_shows_its_passages() -> None:
    turns: list[Turn] = [*some_turns(3), a_turn("And the last?", citations=())]
    async with a_desk() as (app, pilot):
        await app.desk.show(turns)
        await settle(app, pilot)
        assert app.desk.sources.views == []
        app.desk.transcript.focus()
        await pilot.press("up")
        await settle(app, pilot)
        assert app.desk.transcript.chosen is app.desk.transcript.views[-2]
        assert [one.number for one in app.desk.sources.views] == ["1"]
        await pilot.press("1")
        await settle(app, pilot)
        assert app.focused is app.desk.sources


def test_a_long_paragraph_is_drawn_less_often_than_a_short_one() -> None:
    assert compute_frame_seconds(LONG_PARAGRAPH) == FRAME_SECONDS
    assert compute_frame_seconds(4 * LONG_PARAGRAPH) == 4 * FRAME_SECONDS
