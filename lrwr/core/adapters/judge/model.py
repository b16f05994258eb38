"""A language model that judges whether an answer is correct."""

import json
from collections.abc import Callable, Sequence
from functools import cache

from lrwr.core.model.errors import ServiceUnavailable
from lrwr.core.model.language_model import (
    FENCE_RULE,
    MalformedReply,
    Usage,
    build_strict_schema,
    extract_json_object,
    generate_fence_mark,
    wrap_in_fence,
)
from lrwr.core.ports.models import (
    ChatMessage,
    ChatModel,
    JudgeResult,
    JudgeSample,
    ReplyShape,
)

CORRECTNESS = "correctness"

CORRECTNESS_PROMPT_REVISION = "1"
"""Change it with the prompt below: cached judgements depend on it."""

_REPLY_TOKENS = 40
"""Estimated tokens of a reply."""

_RULES = f"""\
{FENCE_RULE}
You mark an answer to a question about a book against the right answer.
correct: 1 if the answer says what the right answer says, in whatever words, and \
nothing that it rules out; else 0. More detail does no harm. An answer that says that \
the text does not tell is 0.
reason: why, in one short sentence."""


class CorrectnessJudge:
    """Asks a language model whether an answer agrees with the reference answer.

    The score `correctness` is 1.0 if it does, else 0.0. A sample without a reference
    gets no score. `mark` is called with the texts of the prompt and returns a text that
    does not occur in them; it separates them from the instructions.
    """

    def __init__(
        self, chat: ChatModel, mark: Callable[..., str] = generate_fence_mark
    ) -> None:
        self._chat = chat
        self._mark = mark

    @property
    def name(self) -> str:
        """The name of the language model."""
        return self._chat.name

    @property
    def revision(self) -> str:
        """The model's name and the revision of the prompt.

        Stored judgements are reused only for the same revision.
        """
        return f"{self.name}/{CORRECTNESS}-{CORRECTNESS_PROMPT_REVISION}"

    @property
    def figures(self) -> tuple[str, ...]:
        """The names of the scores that `judge` returns: only "correctness"."""
        return (CORRECTNESS,)

    def estimate(self, sample: JudgeSample) -> Usage:
        """Return the estimated usage of judging `sample`; a token counts as four
        characters.

        Empty if the sample has no reference, since no model is called then.
        """
        if not sample.reference.strip():
            return Usage()
        characters = sum(
            len(chat_message.text) for chat_message in _messages(sample, self._mark)
        )
        return Usage(1, (characters + len(_shape().schema)) // 4, _REPLY_TOKENS)

    async def judge(self, sample: JudgeSample) -> JudgeResult:
        """Score `sample` with one call of the model; without a reference, with none.

        No error of the model is raised: the result then has no score, but the reason.
        """
        if not sample.reference.strip():
            return JudgeResult({})
        try:
            reply = await self._chat.fill(_messages(sample, self._mark), _shape())
        except ServiceUnavailable as error:
            return JudgeResult({}, {CORRECTNESS: str(error)}, Usage(calls=1, failed=1))
        usage = reply.usage
        try:
            value = _verdict(reply.text)
        except MalformedReply as error:
            reason = f"The judge's reply is not valid: {error}"
            return JudgeResult({}, {CORRECTNESS: reason}, usage + Usage(failed=1))
        return JudgeResult({CORRECTNESS: value}, usage=usage)


def _messages(sample: JudgeSample, mark: Callable[..., str]) -> Sequence[ChatMessage]:
    code = mark(sample.answer, sample.reference, sample.question)
    blocks = (
        wrap_in_fence("question", sample.question, code),
        wrap_in_fence("right answer", sample.reference, code),
        wrap_in_fence("answer", sample.answer, code),
    )
    return [ChatMessage("system", _RULES), ChatMessage("user", "\n\n".join(blocks))]


@cache
def _shape() -> ReplyShape:
    verdict = {"type": "integer", "enum": [0, 1]}
    strict_schema = build_strict_schema(
        {"reason": {"type": "string"}, "correct": verdict}
    )
    return ReplyShape("Marked", json.dumps(strict_schema, separators=(",", ":")))


def _verdict(reply: str) -> float:
    json_object = extract_json_object(reply)
    value = json_object.get("correct") if isinstance(json_object, dict) else None
    if isinstance(value, bool) or value not in (0, 1):
        raise MalformedReply("`correct` is neither 0 nor 1")
    return float(value)
