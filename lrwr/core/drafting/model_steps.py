"""Steps in which a language model drafts: each reply is stored before it is used."""

import json
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from math import ceil
from typing import Protocol, TypeVar

from lrwr.core.batch_judge import JudgeBudget, build_repair_messages
from lrwr.core.model.drafts import DraftStep
from lrwr.core.model.errors import ServiceUnavailable
from lrwr.core.model.language_model import (
    FENCE_RULE,
    MalformedReply,
    Usage,
    estimate_tokens,
    generate_fence_mark,
    wrap_in_fence,
)
from lrwr.core.ports.models import ChatMessage, ChatModel, ReplyShape

ReplyT = TypeVar("ReplyT")

_TOKENS_PER_MESSAGE = 16
"""Tokens around a message at most, which servers count as well."""
_REPLY_RESERVE = 4_000
"""Tokens that a reply may have besides twice what is expected, if the budget allows: some
models think before they answer."""


@dataclass(frozen=True, slots=True)
class StepPrompt:
    """What a step of drafting asks a language model.

    `step` is its name. `task` are the instructions. `blocks` are labels and texts, which
    are data. A reply has about `reply_tokens`; one that may not have these is not
    requested. Another `attempt` is another request with the same texts.
    """

    step: str
    task: str
    blocks: tuple[tuple[str, str], ...]
    shape: ReplyShape
    reply_tokens: int
    attempt: int = 0

    def build_messages(self) -> list[ChatMessage]:
        """Return the messages; the texts stand between lines with a random mark."""
        mark = generate_fence_mark(*(text for _, text in self.blocks))
        fenced = (wrap_in_fence(label, text, mark) for label, text in self.blocks)
        return [
            ChatMessage("system", f"{self.task.rstrip()}\n{FENCE_RULE}"),
            ChatMessage("user", "\n".join(fenced)),
        ]

    def build_key(self, model: str) -> str:
        """Return a hash of everything that the reply of the model named `model` depends
        on: the same in each process, unlike the random mark.
        """
        shape = [self.shape.name, self.shape.schema]
        parts = [self.step, self.task, self.blocks, shape, self.attempt, model]
        return sha256(json.dumps(parts).encode()).hexdigest()

    def estimate(self) -> Usage:
        """Return the expected usage of the request."""
        sent = sum(estimate_tokens(message.text) for message in self.build_messages())
        return Usage(1, sent + estimate_tokens(self.shape.schema), self.reply_tokens)

    def bound(self) -> Usage:
        """Return the usage of the request at most, however the model counts tokens."""
        sent = _bound_tokens(self.build_messages(), self.shape)
        return Usage(1, sent, 2 * self.reply_tokens + _REPLY_RESERVE)


class StepJournal(Protocol):
    """Stores replies; implemented by `SqliteDraftJournal`."""

    async def save_step(self, step: DraftStep) -> None:
        """Store a reply, instead of an earlier one with the same key."""
        ...

    async def find_step(self, key: str) -> DraftStep | None:
        """Return the reply with this key; None if there is none."""
        ...

    async def delete_steps(self, keys: Collection[str]) -> None:
        """Delete the replies with these keys, so that they are requested again."""
        ...


class StepBudget(JudgeBudget, Protocol):
    """Spending limit of a run; implemented by `ModelBudget` of the pipeline.

    `budget` is the limit in US dollars, 0 for none; a price is None if unknown.
    """

    budget: float

    @property
    def price(self) -> Callable[[Usage], float | None]:
        """The function that returns the price of a usage in US dollars."""
        ...

    @property
    def spent(self) -> float | None:
        """The US dollars that were spent of the budget."""
        ...

    def limit_reply(self, prompt_tokens: int, most: int) -> int:
        """Return how many tokens the reply to a prompt may have, at most `most`."""
        ...


class ModelSteps:
    """Asks the language model `chat` for the steps of drafting one `scene`.

    A reply is stored in `journal` before it is used, and used again for the same prompt
    and model. `budget` limits the cost: a reply can be no longer than what is left
    allows. `now` returns seconds since 1970. `report` receives a sentence about each
    reply that cannot be used.
    """

    def __init__(
        self,
        chat: ChatModel,
        budget: StepBudget,
        journal: StepJournal,
        scene: str,
        now: Callable[[], float],
        report: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._chat = chat
        self._budget = budget
        self._journal = journal
        self._scene = scene
        self._now = now
        self._report = report
        self.usage = Usage()

    @property
    def name(self) -> str:
        """The name of the language model."""
        return self._chat.name

    async def request(
        self, prompt: StepPrompt, parse: Callable[[str], ReplyT]
    ) -> ReplyT:
        """Return the parsed reply to `prompt`; a malformed one is requested once more.

        Raises:
            ServiceUnavailable: The budget does not allow the request, the server did not
                answer, or both replies are malformed: then neither is used, and a later
                request asks again.
            StoreProblem: A reply cannot be stored.
        """
        messages, key = prompt.build_messages(), prompt.build_key(self.name)
        reply = await self._fetch(key, prompt, messages)
        try:
            return parse(reply)
        except MalformedReply as error:
            problem = str(error)
        self._report(f"A reply for “{prompt.step}” cannot be used: {problem}")
        self.usage += Usage(repaired=1)
        again = sha256(f"{key}\n{problem}\n{reply}".encode()).hexdigest()
        reply = await self._fetch(
            again, prompt, build_repair_messages(messages, reply, problem)
        )
        try:
            return parse(reply)
        except MalformedReply as error:
            await self._journal.delete_steps([key, again])
            self.usage += Usage(failed=1)
            raise ServiceUnavailable(
                f"{self.name} sent no usable reply for “{prompt.step}”: {error}",
                hint="Try again, or choose another model with `model.writer`.",
            ) from error

    async def _fetch(
        self, key: str, prompt: StepPrompt, messages: Sequence[ChatMessage]
    ) -> str:
        """Return the stored reply, else that of the model, which is stored first."""
        stored = await self._journal.find_step(key)
        if stored is not None:
            self.usage += Usage(cached=1)
            return stored.reply
        sent = _bound_tokens(messages, prompt.shape)
        expected = prompt.reply_tokens
        most = self._budget.limit_reply(sent, 2 * expected + _REPLY_RESERVE)
        most = max(most, expected)  # what is less than expected would be cut off
        reserved = self._budget.reserve(Usage(1, sent, most))
        if reserved is None:
            raise _build_budget_error(self._budget, prompt, Usage(1, sent, expected))
        usage = Usage(calls=1)
        try:
            reply = await self._chat.fill(
                messages, replace(prompt.shape, most_tokens=most)
            )
            usage = reply.usage
        finally:
            self.usage += usage
            self._budget.settle(reserved, usage)
        step = DraftStep(
            key,
            self._scene,
            prompt.step,
            self.name,
            reply.text,
            self._now(),
            reply.prompt_tokens,
            reply.completion_tokens,
        )
        await self._journal.save_step(step)
        return reply.text


def _bound_tokens(messages: Sequence[ChatMessage], shape: ReplyShape) -> int:
    """Return how many tokens a request has at most: a token has a byte or more."""
    texts = [*(message.text for message in messages), shape.name, shape.schema]
    size = sum(len(text.encode()) for text in texts)
    return size + _TOKENS_PER_MESSAGE * (len(messages) + 1)


def _build_budget_error(
    budget: StepBudget, prompt: StepPrompt, least: Usage
) -> ServiceUnavailable:
    """Return the error of a request that was not sent because it might exceed the
    budget; `least` is the usage that must be within it.
    """
    price, most = budget.price(prompt.estimate()), budget.price(least)
    if not budget.budget or price is None or most is None:
        message, _, hint = budget.stopped.partition(". ")
        return ServiceUnavailable(message.rstrip("."), hint=hint)
    rest = max(0.0, budget.budget - (budget.spent or 0.0))
    return ServiceUnavailable(
        f"“{prompt.step}” was not sent: it costs about {spell_dollars(price)}, may cost"
        f" {spell_dollars(most)}, and {spell_dollars(rest)} of the budget of"
        f" {spell_dollars(budget.budget)} is left",
        hint="Raise `--budget` or `model.budget`; `--dry-run` names one that is enough.",
    )


def spell_dollars(dollars: float) -> str:
    """Return an amount, rounded up to a hundredth of a cent: "$0.0213"."""
    # The product may be a little above a whole number: 0.0213 * 10_000.
    return f"${ceil(dollars * 10_000 - 1e-6) / 10_000:.4f}"
