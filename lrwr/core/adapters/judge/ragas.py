"""The RAGAS figures, asked of our own chat model.

RAGAS is an extra of 420 MB: it is imported when a judge is opened, with its reports
to its makers turned off first. Keys, pace, consent and the log of what was sent stay
those of the chat model.
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
"""The version whose prompts these figures are; the extra pins it."""

_SILENCE = "RAGAS_DO_NOT_TRACK"

_SHOWN = 200
"""Characters of what is wrong with a reply that are told."""


class _RagasResult(Protocol):
    value: float


class _RagasMetric(Protocol):
    async def ascore(self, **arguments: str | list[str]) -> _RagasResult: ...


class _RagasMetricFactory(Protocol):
    def __call__(self, *, llm: "RagasChatModel") -> _RagasMetric: ...


class RagasChatModel:
    """What RAGAS takes for its language model: it asks a chat model of ours.

    One for each try, so that `usage` is what that try took.
    """

    def __init__(self, chat: ChatModel) -> None:
        self._chat = chat
        self.usage = Usage()

    def generate(self, prompt: str, response_model: type[T]) -> T:
        """Refuse: nothing here waits without a loop."""
        raise NotImplementedError(f"{response_model.__name__}: ask with `agenerate`")

    async def agenerate(self, prompt: str, response_model: type[T]) -> T:
        """Return the model's reply to a prompt, of the shape that is wanted.

        Raises:
            ServiceUnavailable: The server did not answer.
            MalformedReply: The reply has another shape.
        """
        messages = [ChatMessage("user", prompt)]
        try:
            reply = await self._chat.fill(messages, build_reply_shape(response_model))
        except ServiceUnavailable:
            self.usage += Usage(calls=1, failed=1)
            raise
        self.usage += Usage(1, reply.prompt_tokens, reply.completion_tokens)
        try:
            return response_model.model_validate(extract_json_object(reply.text))
        except ValidationError as error:
            self.usage += Usage(failed=1)
            raise MalformedReply(_told(error)) from error
        except MalformedReply:
            self.usage += Usage(failed=1)
            raise


class RagasJudge:
    """Judges with RAGAS; open one with `open`.

    A sample without a reference has no `context_precision` and no `context_recall`:
    they compare with it. Where no context was given both are 0.0, which RAGAS itself
    refuses to say. An answer that says that the text does not tell claims nothing, and
    has no `faithfulness`, nor has one that was given nothing.
    """

    def __init__(
        self, chat: ChatModel, metrics: Mapping[str, _RagasMetricFactory]
    ) -> None:
        self._chat = chat
        self._metrics = metrics

    @classmethod
    async def open(cls, chat: ChatModel) -> "RagasJudge":
        """Import RAGAS, which takes seconds. Nothing is sent.

        Raises:
            LrwrError: It is not installed.
        """
        return cls(chat, await asyncio.to_thread(_imported))

    @property
    def name(self) -> str:
        """Name the model."""
        return self._chat.name

    @property
    def revision(self) -> str:
        """Name the model and the version of RAGAS."""
        return f"{self.name}/ragas-{RAGAS_VERSION}"

    @property
    def figures(self) -> tuple[str, ...]:
        """Name what is judged."""
        return (FAITHFULNESS, CONTEXT_PRECISION, CONTEXT_RECALL)

    def estimate(self, sample: JudgeSample) -> Usage:
        """Return about what one try takes: the prompts, which are long, and the texts."""
        return sum((_ESTIMATES[figure](sample) for figure in _asked(sample)), Usage())

    async def judge(self, sample: JudgeSample) -> JudgeResult:
        """Judge a sample once, one figure after the other."""
        values: dict[str, float] = {}
        failed: dict[str, str] = {}
        usage = Usage()
        for figure, arguments in _asked(sample).items():
            if not sample.contexts:
                values[figure] = 0.0
                continue
            model = RagasChatModel(self._chat)
            try:
                scored = await self._metrics[figure](llm=model).ascore(**arguments)
                values[figure] = _number(scored.value)
            except ServiceUnavailable as error:
                failed[figure] = str(error)
            except MalformedReply as error:
                failed[figure] = f"The judge's reply cannot be understood: {error}"
            usage += model.usage
        return JudgeResult(values, failed, usage)


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
"""What a figure takes. The numbers are the tokens of its prompts around the texts, as
measured with `RAGAS_VERSION`."""


def _tokens(text: str) -> int:
    return -(-len(text) // 4)


def _asked(sample: JudgeSample) -> dict[str, Mapping[str, str | list[str]]]:
    """Return what each figure that applies is asked with, by its name in RAGAS."""
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
        raise MalformedReply("no figure comes of it (NaN)")
    if not 0.0 <= value <= 1.0:
        raise MalformedReply(f"{value:g} comes of it, which is not between 0 and 1")
    return float(value)


def _told(error: ValidationError) -> str:
    faults = error.errors(include_url=False, include_input=False)
    fault_texts = (
        f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}" for fault in faults
    )
    return "; ".join(fault_texts)[:_SHOWN]


def _imported() -> dict[str, _RagasMetricFactory]:
    """Import RAGAS with its reports turned off, and without its warnings."""
    os.environ[_SILENCE] = "true"
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
                hint='Add it with `pip install "lrwr[eval]"`.',
            ) from error
    # Its metrics take an instance of this class alone; it may be no base of ours, since
    # ours is made where RAGAS may not be.
    InstructorBaseRagasLLM.register(RagasChatModel)
    return {
        FAITHFULNESS: Faithfulness,
        CONTEXT_PRECISION: ContextPrecision,
        CONTEXT_RECALL: ContextRecall,
    }
