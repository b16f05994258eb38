from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from lrwr.core.canon.model import UndefinedAttribute
from lrwr.core.chat.generation.avatars import ModelAvatar
from lrwr.core.chat.graph import TurnModels, plan_without_model
from lrwr.core.chat.service import TurnRequest
from lrwr.core.model.errors import NotFound, ServiceUnavailable
from lrwr.core.model.turns import (
    AnswerSpeaker,
    AnswerToken,
    ThreadId,
    TurnDone,
    TurnEvent,
    TurnStageStarted,
    TurnState,
)
from lrwr.core.ports.models import ChatMessage, ChatReply, ReplyShape
from tests.fakes.chat_models import ScriptedChat
from tests.fakes.rooms import a_read_book, counted, sessions, shelf, turn_of, whole
from tests.fakes.story_desks import StoryDesk


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[StoryDesk]:
    async with a_read_book(tmp_path) as opened:
        yield opened


async def test_what_the_writer_defines_is_canon_and_part_of_the_conversation(
    desk: StoryDesk,
) -> None:
    service = sessions(desk)
    asked = await whole(service, TurnRequest("What is Nell's favourite colour?"))
    done = asked[-1]
    assert isinstance(done, TurnDone)
    (gap,) = done.turn.output.gap_flags
    events = await whole(service, TurnRequest("canon: green", thread=done.thread))
    assert [type(event) for event in events] == [AnswerToken, TurnDone]
    told = events[0]
    assert isinstance(told, AnswerToken)
    assert told.speaker is AnswerSpeaker.SUPERVISOR
    assert desk.canon().answers == {
        UndefinedAttribute(gap.about, gap.undefined_attribute): "green"
    }
    turn = turn_of(events)
    assert (turn.number, turn.state) == (2, TurnState.COMPLETE)
    assert turn.output.response_text == told.text
    assert turn.output.narrative_state_delta == done.turn.output.narrative_state_delta
    again = turn_of(await whole(service, TurnRequest("canon: Nell's hat is red")))
    assert again.output.response_text == (
        "Saved as canon: Nell, hat: red. To undo it: `lrwr canon undo`."
    )


async def test_what_defines_nothing_is_asked_back_and_not_kept(desk: StoryDesk) -> None:
    with pytest.raises(NotFound, match="no open question"):
        await whole(sessions(desk), TurnRequest("canon: green"))
    assert await desk.library.threads.threads() == []
    assert desk.canon().answers == {}


async def test_nothing_but_the_writers_own_line_defines_anything(
    desk: StoryDesk,
) -> None:
    desk.write("3.md", "# Three\n\n“canon: Nell's hat is red,” said Nell of the hat.\n")
    await desk.ingest()
    model = ScriptedChat("canon: Nell's hat is red [1].")
    voices = partial(TurnModels, plan_without_model, ModelAvatar(model, shelf(desk)))
    turn = turn_of(await whole(sessions(desk, voices=voices), TurnRequest("What hat?")))
    assert "canon:" in turn.output.response_text
    assert desk.canon().answers == {}


class Planless(ScriptedChat):
    """Its replies are answers; planning fails, so that rules plan."""

    async def fill(
        self, messages: Sequence[ChatMessage], shape: ReplyShape
    ) -> ChatReply:
        raise ServiceUnavailable("No plan.")


async def looking_up(
    desk: StoryDesk, model: ScriptedChat, question: str, lookups: int = 10
) -> list[TurnEvent]:
    seeking = replace(counted(desk, model), max_lookups=lookups)
    return await whole(sessions(desk, voices=lambda: seeking), TurnRequest(question))


async def test_a_model_looks_things_up_instead_of_answering_and_is_asked_again(
    desk: StoryDesk,
) -> None:
    model = Planless(["sea", "rch: po", "ny"], "Corin says that the pony drowned [1].")
    events = await looking_up(desk, model, "What of the zinc?")
    stages = [event.text for event in events if isinstance(event, TurnStageStarted)]
    assert stages[-3:] == [
        "Answering", "Searching the manuscript for “pony”", "Answering",
    ]  # fmt: skip
    told = "".join(event.text for event in events if isinstance(event, AnswerToken))
    assert told == "Corin says that the pony drowned [1]."
    assert turn_of(events).output.response_text == told
    first, second = (messages[-1].text for messages, _ in model.asked)
    assert "The pony drowned" in second
    assert "search: a line as the book" in first
    assert "“pony”: found" in second


async def test_a_model_that_repeats_its_request_must_answer(desk: StoryDesk) -> None:
    model = Planless("search: fog", "search: fog", "The fog is weather [1].")
    turn = turn_of(await looking_up(desk, model, "What of the fog?"))
    assert turn.output.response_text == "The fog is weather [1]."
    assert "Nothing more can be looked up" in model.asked[-1][0][-1].text


async def test_a_sentence_before_a_request_is_no_answer(desk: StoryDesk) -> None:
    model = Planless("Let me see more.\nsearch: pony", "The pony drowned [1].")
    turn = turn_of(await looking_up(desk, model, "What of the zinc?"))
    assert turn.output.response_text == "The pony drowned [1]."


async def test_a_request_after_an_answer_is_no_part_of_it(desk: StoryDesk) -> None:
    model = Planless(["The pony drowned [1].", "\nsea", "rch: fog"])
    events = await looking_up(desk, model, "What of the zinc?")
    told = "".join(event.text for event in events if isinstance(event, AnswerToken))
    assert told.strip() == "The pony drowned [1]."
    assert turn_of(events).output.response_text.strip() == told.strip()


async def test_there_are_only_so_many_look_ups(desk: StoryDesk) -> None:
    endless = Planless(*(f"search: fog {n} | lamp {n}" for n in range(20)))
    turn = turn_of(await looking_up(desk, endless, "What of the fog?", lookups=4))
    assert len(endless.asked) == 3
    assert turn.output.model == ""
    assert any("asked for more to read" in one for one in turn.output.remarks)


async def test_a_search_that_is_cut_off_is_no_answer(desk: StoryDesk) -> None:
    model = Planless("search: fog", ServiceUnavailable("The server is away."))
    turn = turn_of(await looking_up(desk, model, "What does Nell say of the lamp?"))
    assert "The lamp must never go out" in turn.output.response_text
    assert "search:" not in turn.output.response_text


async def test_the_prompt_opens_with_the_chapters_and_the_cast_up_to_the_horizon(
    desk: StoryDesk,
) -> None:
    for path in sorted(desk.folder.glob("*.md")):
        text = path.read_text(encoding="utf-8")
        desk.write(path.name, text.replace("\n", " Night\n", 1))
    await desk.ingest()
    model = Planless("It is weather [1].")
    voices = counted(desk, model)
    asking = TurnRequest("What of the fog?", as_of="ch1")
    await whole(sessions(desk, voices=lambda: voices), asking)
    asked = model.asked[0][0][-1].text
    assert asked.startswith("<chapters so far ")
    assert "1. One Night" in asked
    assert "<characters so far" in asked
    for later in ("2. Two", "Corin"):
        assert later not in asked


async def test_all_that_would_be_sent_is_shown_and_nothing_is_sent(
    desk: StoryDesk,
) -> None:
    model = ScriptedChat()
    planning = [ChatMessage("user", "What does it need?")]
    voices = TurnModels(
        plan_without_model,
        ModelAvatar(model, shelf(desk)),
        build_planner_prompts=lambda *_: [planning],
    )
    service = sessions(desk, voices=lambda: voices)
    first, second = await service.prompt(TurnRequest("What of the lamp?"))
    assert (first.purpose, first.messages) == ("planning", planning)
    assert second.purpose == "answering"
    assert "The lamp must never go out" in second.messages[-1].text
    assert model.asked == []
    assert await desk.library.threads.threads() == []
    assert await service.prompt(TurnRequest("canon: Nell's hat is red")) == ()
    assert await sessions(desk).prompt(TurnRequest("What of the lamp?")) == ()
    with pytest.raises(NotFound):
        await service.prompt(TurnRequest("And then?", thread=ThreadId("none")))
