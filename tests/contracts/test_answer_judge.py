"""What every judge of answers promises, whatever the model says."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Sequence

import pytest

from lrwr.core.adapters.judge.model import CorrectnessJudge
from lrwr.core.adapters.judge.ragas import RagasJudge
from lrwr.core.model.errors import ServiceUnavailable
from lrwr.core.model.language_model import Usage
from lrwr.core.ports.models import (
    AnswerJudge,
    ChatMessage,
    ChatModel,
    JudgeSample,
    ReplyShape,
)
from tests.fakes.chat_models import ScriptedChat
from tests.fakes.model_replies import made_up

Open = Callable[[ChatModel], Awaitable[AnswerJudge]]

SAMPLE = JudgeSample(
    question="Who lit the lamp?",
    answer="Nell Tallow lit it [1].",
    contexts=("Nell Tallow lit the lamp.", "OchraMags counted the eels."),
    reference="Nell did.",
)
CALLS = 4
"""Calls for `SAMPLE` that a judge makes without waiting for another one."""
DOWN = ServiceUnavailable("Nobody answers.", hint="Wake it up.")


async def correctness(chat: ChatModel) -> AnswerJudge:
    return CorrectnessJudge(chat)


@pytest.fixture(
    params=[correctness, pytest.param(RagasJudge.open, marks=pytest.mark.eval_extra)]
)
def judge_over(request: pytest.FixtureRequest) -> Open:
    opened: Open = request.param
    return opened


def plainly(messages: Sequence[ChatMessage], shape: ReplyShape | None) -> str:
    assert shape is not None
    assert messages
    return json.dumps(made_up(json.loads(shape.schema)))


async def test_a_judge_is_called_what_its_model_is_called(judge_over: Open) -> None:
    one = await judge_over(ScriptedChat(name="judge-1"))
    other = await judge_over(ScriptedChat(name="judge-2"))
    assert (one.name, other.name) == ("judge-1", "judge-2")
    assert one.revision != other.revision


async def test_every_figure_that_it_names_is_a_share(judge_over: Open) -> None:
    judge = await judge_over(ScriptedChat(answer=plainly))
    judged = await judge.judge(SAMPLE)
    assert set(judged.values) == set(judge.figures)
    assert all(0.0 <= value <= 1.0 for value in judged.values.values())
    assert judged.failed == {}


async def test_what_it_takes_is_counted_and_about_what_was_estimated(
    judge_over: Open,
) -> None:
    chat = ScriptedChat(answer=plainly)
    judge = await judge_over(chat)
    usage = (await judge.judge(SAMPLE)).usage
    assert usage.calls == len(chat.asked) == judge.estimate(SAMPLE).calls
    estimated = judge.estimate(SAMPLE).prompt_tokens
    assert estimated == pytest.approx(usage.prompt_tokens, rel=0.1)


async def test_a_server_that_is_down_is_a_failure_of_each_figure(
    judge_over: Open,
) -> None:
    judge = await judge_over(ScriptedChat(*[DOWN] * CALLS))
    judged = await judge.judge(SAMPLE)
    assert judged.values == {}
    assert judged.failed == dict.fromkeys(judge.figures, "Nobody answers.")
    assert judged.usage.failed == judged.usage.calls >= len(judge.figures)


@pytest.mark.parametrize("said", ["", "I like it", "{", "[]", '{"reason": 7}', "null"])
async def test_a_reply_that_cannot_be_understood_is_a_failure_with_a_reason(
    judge_over: Open, said: str
) -> None:
    judge = await judge_over(ScriptedChat(*[said] * CALLS))
    judged = await judge.judge(SAMPLE)
    assert judged.values == {}
    assert set(judged.failed) == set(judge.figures)
    assert all("reply is not valid" in one for one in judged.failed.values())


async def test_what_compares_with_a_reference_is_not_tried_without_one(
    judge_over: Open,
) -> None:
    judge = await judge_over(ScriptedChat(answer=plainly))
    alone = JudgeSample(SAMPLE.question, SAMPLE.answer, SAMPLE.contexts)
    judged = await judge.judge(alone)
    assert set(judged.values) <= {"faithfulness"}
    assert judged.failed == {}


async def test_a_gap_that_was_given_nothing_costs_no_call_but_for_its_reference(
    judge_over: Open,
) -> None:
    judge = await judge_over(ScriptedChat())
    judged = await judge.judge(JudgeSample("Who?", "The text is silent.", (), "", True))
    assert (judged.values, judged.failed, judged.usage) == ({}, {}, Usage())
    assert judge.estimate(JudgeSample("Who?", "", ())) == Usage()


async def test_it_may_judge_several_at_once(judge_over: Open) -> None:
    judge = await judge_over(ScriptedChat(answer=plainly))
    judged = await asyncio.gather(*(judge.judge(SAMPLE) for _ in range(4)))
    assert all(one == judged[0] for one in judged)
