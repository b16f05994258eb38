"""The RAGAS scores, computed with lrwr's own chat model.

RAGAS is an optional dependency of 420 MB. It is imported when a judge is opened, with
its usage reports turned off. API key, rate limit, consent and send log are those of the
chat model.
"""

import asyncio
import os
import warnings
from collections.abc import Callable, Mapping
from math import isfinite
from types import MappingProxyType
from typing import Protocol, TypeVar

from pydantic import BaseModel, ValidationError

from lrwr.core.adapters.analyst.model_prompts import build_reply_shape
from lrwr.core.model.errors import LrwrError, ServiceUnavailable
from lrwr.core.model.language_model import MalformedReply, Usage, extract_json_object
from lrwr.core.ports.models import ChatMessage, ChatModel, JudgeResult, JudgeSample

T = TypeVar("T", bound=BaseModel)

FAITHFULNESS = "faithfulness"
CONTEXT_PRECISION = "context_precision"
CONTEXT_RECALL = "context_recall"

RAGAS_VERSION = "0.4.3"
"""The version whose prompts are used; the `eval` extra pins it."""

_NO_REPORTS_VARIABLE = "RAGAS_DO_NOT_TRACK"

_MAX_ERROR_CHARS = 200


class _RagasResult(Protocol):
    value: float


class _RagasMetric(Protocol):
    async def ascore(self, **arguments: str | list[str]) -> _RagasResult: ...


class _RagasMetricFactory(Protocol):
    def __call__(self, *, llm: "RagasChatModel") -> _RagasMetric: ...


class RagasChatModel:
    """RAGAS's interface to a language model, over lrwr's chat model.

    Create one for each score: its `usage` is then the usage of that score. After
    `replay`, a prompt that was answered before gets the same reply, without a call.
    """

    def __init__(self, chat: ChatModel) -> None:
        self._chat = chat
        self._replies: dict[str, BaseModel] = {}
        self._replays = False
        self.usage = Usage()

    def replay(self) -> None:
        """From now on, answer known prompts with the replies so far."""
        self._replays = True

    def generate(self, prompt: str, response_model: type[T]) -> T:
        """Always raise `NotImplementedError`: only `agenerate` is supported."""
        raise NotImplementedError(f"{response_model.__name__}: use `agenerate`")

    async def agenerate(self, prompt: str, response_model: type[T]) -> T:
        """Return the model's reply to `prompt`, parsed as `response_model`.

        Raises:
            ServiceUnavailable: The server did not answer.
            MalformedReply: The reply does not match the schema.
        """
        known = self._replies.get(prompt) if self._replays else None
        if isinstance(known, response_model):
            return known
        messages = [ChatMessage("user", prompt)]
        try:
            reply = await self._chat.fill(messages, build_reply_shape(response_model))
        except ServiceUnavailable:
            self.usage += Usage(calls=1, failed=1)
            raise
        self.usage += reply.usage
        try:
            parsed = response_model.model_validate(extract_json_object(reply.text))
        except ValidationError as error:
            self.usage += Usage(failed=1)
            raise MalformedReply(_describe_validation_error(error)) from error
        except MalformedReply:
            self.usage += Usage(failed=1)
            raise
        self._replies[prompt] = parsed
        return parsed


class RagasJudge:
    """Scores answers with RAGAS, from 0.0 to 1.0; create one with `open`.

    `context_precision` and `context_recall` need a reference; without contexts both are
    0.0, where RAGAS itself raises an error. `faithfulness` needs an answer and
    contexts, and is left out if the answer says that the text does not contain the
    answer: such an answer claims nothing.
    """

    def __init__(
        self, chat: ChatModel, metrics: Mapping[str, _RagasMetricFactory]
    ) -> None:
        self._chat = chat
        self._metrics = metrics

    @classmethod
    async def open(cls, chat: ChatModel) -> "RagasJudge":
        """Import RAGAS, which takes seconds, and return a judge that asks `chat`.

        Nothing is sent.

        Raises:
            LrwrError: RAGAS is not installed.
        """
        return cls(chat, await asyncio.to_thread(_import_ragas))

    @property
    def name(self) -> str:
        """The name of the language model."""
        return self._chat.name

    @property
    def revision(self) -> str:
        """The model's name and the version of RAGAS.

        Stored judgements are reused only for the same revision.
        """
        return f"{self.name}/ragas-{RAGAS_VERSION}"

    @property
    def figures(self) -> tuple[str, ...]:
        """The names of the scores that `judge` may return.

        They are "faithfulness", "context_precision" and "context_recall".
        """
        return (FAITHFULNESS, CONTEXT_PRECISION, CONTEXT_RECALL)

    def estimate(self, sample: JudgeSample) -> Usage:
        """Return the estimated usage of judging `sample`: calls and tokens of all its
        scores.

        A token of the texts counts as four characters; RAGAS's own prompts are
        included.
        """
        return sum(
            (_ESTIMATES[figure](sample) for figure in _select_arguments(sample)),
            Usage(),
        )

    async def judge(self, sample: JudgeSample) -> JudgeResult:
        """Compute the scores of `sample` that apply to it, at the same time.

        No error of the model is raised: a failed score is missing, and the result says
        why.
        """
        async with asyncio.TaskGroup() as group:
            tasks = [
                group.create_task(self._score(figure, arguments))
                for figure, arguments in _select_arguments(sample).items()
                if sample.contexts
            ]
        if not sample.contexts:
            return JudgeResult(
                dict.fromkeys(_select_arguments(sample), 0.0), {}, Usage()
            )
        results = [task.result() for task in tasks]
        return JudgeResult(
            {
                name: value
                for result in results
                for name, value in result.values.items()
            },
            {name: why for result in results for name, why in result.failed.items()},
            sum((result.usage for result in results), Usage()),
        )

    async def _score(
        self, figure: str, arguments: Mapping[str, str | list[str]]
    ) -> JudgeResult:
        model = RagasChatModel(self._chat)
        values: dict[str, float] = {}
        failed: dict[str, str] = {}
        try:
            metric = self._metrics[figure](llm=model)
            if figure == CONTEXT_PRECISION:
                await _ask_about_each_context(metric, arguments)
                model.replay()
            scored = await metric.ascore(**arguments)
            values[figure] = _number(scored.value)
        except ServiceUnavailable as error:
            failed[figure] = str(error)
        except MalformedReply as error:
            failed[figure] = f"The judge's reply is not valid: {error}"
        return JudgeResult(values, failed, model.usage)


async def _ask_about_each_context(
    metric: _RagasMetric, arguments: Mapping[str, str | list[str]]
) -> None:
    """Score each context alone, all at the same time.

    RAGAS asks about one context after the other. Its prompts are the same for one
    context as for many, so the score of all can use the replies.

    Raises:
        ServiceUnavailable: The server did not answer.
        MalformedReply: A reply does not match the schema.
    """
    results = await asyncio.gather(
        *(
            metric.ascore(**{**arguments, "retrieved_contexts": [context]})
            for context in arguments["retrieved_contexts"]
        ),
        return_exceptions=True,
    )
    for result in results:
        if isinstance(result, BaseException):
            raise result


def _faithfulness(sample: JudgeSample) -> Usage:
    answer, context_tokens = _tokens(sample.answer), sum(map(_tokens, sample.contexts))
    sent_tokens = (
        460 + _tokens(sample.question) + answer + 870 + 2 * answer + context_tokens
    )
    return Usage(2, sent_tokens, 40 + 5 * answer)


def _precision(sample: JudgeSample) -> Usage:
    calls = len(sample.contexts)
    prompt_tokens = 1_050 + _tokens(sample.question) + _tokens(sample.reference)
    sent_tokens = calls * prompt_tokens + sum(map(_tokens, sample.contexts))
    return Usage(calls, sent_tokens, 60 * calls)


def _recall(sample: JudgeSample) -> Usage:
    if not sample.contexts:
        return Usage()
    reference_tokens = _tokens(sample.reference)
    sent_tokens = (
        1_510
        + _tokens(sample.question)
        + reference_tokens
        + sum(map(_tokens, sample.contexts))
    )
    return Usage(1, sent_tokens, 40 + 4 * reference_tokens)


_ESTIMATES: Mapping[str, Callable[[JudgeSample], Usage]] = MappingProxyType(
    {
        FAITHFULNESS: _faithfulness,
        CONTEXT_PRECISION: _precision,
        CONTEXT_RECALL: _recall,
    }
)
"""Estimators of the usage of a score. Their constants are the tokens of RAGAS's prompts
around the texts, measured with `RAGAS_VERSION`."""


def _tokens(text: str) -> int:
    return -(-len(text) // 4)


def _select_arguments(sample: JudgeSample) -> dict[str, Mapping[str, str | list[str]]]:
    """Return the arguments of each score that applies to a sample, by RAGAS's names."""
    common: dict[str, str | list[str]] = {
        "user_input": sample.question,
        "retrieved_contexts": list(sample.contexts),
    }
    arguments: dict[str, Mapping[str, str | list[str]]] = {}
    if sample.answer.strip() and sample.contexts and not sample.says_gap:
        arguments[FAITHFULNESS] = {**common, "response": sample.answer}
    if sample.reference.strip():
        compared = MappingProxyType({**common, "reference": sample.reference})
        arguments |= {CONTEXT_PRECISION: compared, CONTEXT_RECALL: compared}
    return arguments


def _number(value: float) -> float:
    if not isfinite(value):
        raise MalformedReply("the score is not a number (NaN)")
    if not 0.0 <= value <= 1.0:
        raise MalformedReply(f"the score {value:g} is not between 0 and 1")
    return float(value)


def _describe_validation_error(error: ValidationError) -> str:
    faults = error.errors(include_url=False, include_input=False)
    fault_texts = (
        f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}" for fault in faults
    )
    return "; ".join(fault_texts)[:_MAX_ERROR_CHARS]


def _import_ragas() -> dict[str, _RagasMetricFactory]:
    os.environ[_NO_REPORTS_VARIABLE] = "true"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            from ragas.llms.base import InstructorBaseRagasLLM
            from ragas.metrics.collections import (
                ContextPrecision,
                ContextRecall,
                Faithfulness,
            )
        except ImportError as error:
            raise LrwrError(
                "RAGAS is not installed",
                hint='Install it with `pip install "lrwr[eval]"`.',
            ) from error
    # RAGAS's metrics accept only instances of this class. It cannot be a base class,
    # because RAGAS may not be installed.
    InstructorBaseRagasLLM.register(RagasChatModel)
    return {
        FAITHFULNESS: Faithfulness,
        CONTEXT_PRECISION: ContextPrecision,
        CONTEXT_RECALL: ContextRecall,
    }
