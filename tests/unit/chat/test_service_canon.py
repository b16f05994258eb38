import json
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from lrwr.core.canon.model import UndefinedAttribute
from lrwr.core.chat.context.tool_loop import LookupLoop
from lrwr.core.chat.generation.avatars import ModelAvatar
from lrwr.core.chat.graph import TurnModels, plan_without_model
from lrwr.core.chat.service import TurnRequest
from lrwr.core.model.errors import NotFound
from lrwr.core.model.turns import (
    AnswerSpeaker,
    AnswerToken,
    ThreadId,
    TurnDone,
    TurnStageStarted,
    TurnState,
)
from lrwr.core.ports.models import ChatMessage, ReplyShape
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


async def test_a_model_looks_things_up_between_the_plan_and_the_answer(
    desk: StoryDesk,
) -> None:
    steps: list[dict[str, object]] = [
        {"tool": "search", "words": "pony"},
        {"tool": "enough", "keep": [1]},
    ]

    def reply(messages: Sequence[ChatMessage], shape: ReplyShape | None) -> str:
        match shape.name if shape else "":
            case "Tools":
                tool = {"tool": "manuscript", "intention": "find_passage"}
                tools = [{**tool, "confidence": 1.0}]
                return json.dumps({"intent": "analytical", "tools": tools})
            case "Entities":
                return '{"entities": []}'
            case "Step":
                unused: dict[str, object] = {
                    "words": "",
                    "chapter": 0,
                    "part": 0,
                    "keep": [],
                }
                return json.dumps(unused | steps.pop(0))
            case _:
                return "Corin says that the pony drowned [1]."

    model = ScriptedChat(answer=reply)
    seeking = replace(counted(desk, model), lookup_loop=LookupLoop(model, 60.0, 10))
    events = await whole(
        sessions(desk, voices=lambda: seeking), TurnRequest("What drowned?")
    )
    shapes = [shape.name if shape else "" for _, shape in model.asked]
    assert sorted(shapes[:2]) == ["Entities", "Tools"]
    assert shapes[2:] == ["Step", "Step", ""]
    stages = [event.text for event in events if isinstance(event, TurnStageStarted)]
    assert stages[-2:] == ["Searching the manuscript for “pony”", "Answering"]
    assert turn_of(events).output.response_text.endswith("drowned [1].")


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
