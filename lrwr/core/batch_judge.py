"""Lets a language model judge items in batches: calls, stored judgements and budget."""

import asyncio
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import islice
from typing import Generic, Protocol, TypeVar

from lrwr.core.model.errors import LrwrError, ServiceUnavailable, StoreProblem
from lrwr.core.model.language_model import MalformedReply, Usage
from lrwr.core.ports.models import ChatMessage, ChatModel, ChatReply, ReplyShape
from lrwr.core.ports.stores import AnalysisStore

ItemT = TypeVar("ItemT")
SentT = TypeVar("SentT", contravariant=True)
JudgementT = TypeVar("JudgementT")
ReplyT = TypeVar("ReplyT")

_SHOWN_AGAIN = 800
"""Maximum characters of a malformed reply repeated in the second request."""


class JudgementFormat(Protocol[SentT, JudgementT]):
    """How items are sent to a language model, and how its judgements are read.

    At most `per_call` items are sent at once and `most_per_run` in a run; a judgement
    has about `reply_tokens` tokens.
    """

    @property
    def per_call(self) -> int:
        """The number of items in one call."""
        ...

    @property
    def most_per_run(self) -> int:
        """The number of items without a stored judgement that are sent in one run."""
        ...

    @property
    def reply_tokens(self) -> int:
        """Typical tokens of one judgement; used for estimates only."""
        ...

    def build_messages(self, items: Sequence[SentT]) -> list[ChatMessage]:
        """Return the prompt about `items`, which it numbers from 1."""
        ...

    def shape(self) -> ReplyShape:
        """Return the format of a reply."""
        ...

    def parse(self, reply: str, items: Sequence[SentT]) -> Mapping[int, JudgementT]:
        """Return the judgements in a `reply` about `items` by index, from 0; items that
        are left out or judged twice are missing.

        Raises:
            MalformedReply: The reply does not match the format.
        """
        ...

    def serialize(self, judgement: JudgementT) -> str:
        """Return a judgement as text, for storage."""
        ...

    def deserialize(self, text: str) -> JudgementT:
        """Return the judgement that `serialize` turned into `text`."""
        ...

    def list_key_parts(self, item: SentT) -> list[str]:
        """Return all that the judgement of an item depends on, besides the model: the
        kind of judgement, the revision of the prompt and the texts.
        """
        ...


class JudgeBudget(Protocol):
    """Spending limit of a run; implemented by `ModelBudget` of the pipeline.

    `stopped` says in a sentence why no more calls are allowed; empty while they are.
    """

    stopped: str

    def reserve(self, estimate: Usage) -> float | None:
        """Reserve the price of a call whose expected usage is `estimate`; return it, in
        US dollars.

        None if the call is not allowed because the limit is reached or the run was
        stopped.
        """
        ...

    def settle(self, reserved: float, usage: Usage) -> None:
        """Count the real `usage` of a call instead of the `reserved` US dollars."""
        ...

    def stop(self, reason: str) -> None:
        """Allow no more calls in this run; `reason` is a sentence."""
        ...


@dataclass(frozen=True, slots=True)
class BatchJudgeEstimate:
    """Estimate of what it takes to judge a number of `items`.

    Of these, `kept` have a stored judgement and need no call, and `beyond` exceed the
    limit of one run and are not judged. `usage` is the estimated usage of the others.
    """

    items: int
    kept: int
    beyond: int
    usage: Usage


@dataclass(slots=True)
class BatchJudgeResult(Generic[ItemT, JudgementT]):
    """The judgements of a run, in the order of the items.

    `judged` includes stored judgements; `usage` is that of the run. `unjudged` is the
    number of items without judgement: the budget or the model stopped the run
    (`stopped` is the reason, as a sentence), the reply was unusable, or the limit of
    one run was reached.
    """

    judged: list[tuple[ItemT, JudgementT]] = field(default_factory=list)
    usage: Usage = field(default_factory=Usage)
    unjudged: int = 0
    stopped: str = ""


class BatchJudge(Generic[ItemT, JudgementT]):
    """Lets a language model judge items, and stores each judgement.

    A stored judgement is reused while the item, the model and the prompt are the same.
    `budget` limits what a run may cost.
    """

    def __init__(
        self,
        chat: ChatModel,
        store: AnalysisStore,
        budget: JudgeBudget,
        layout: JudgementFormat[ItemT, JudgementT],
    ) -> None:
        self._chat = chat
        self._store = store
        self._budget = budget
        self._format = layout

    @property
    def name(self) -> str:
        """The name of the language model."""
        return self._chat.name

    async def estimate(self, items: Sequence[ItemT]) -> BatchJudgeEstimate:
        """Estimate what it takes to judge `items`; no request is sent.

        Raises:
            StoreProblem: The library cannot be read.
        """
        judgements = await self.stored_judgements(items)
        missing = [item for item in items if item not in judgements]
        usage = Usage()
        for batch in self._batches(missing[: self._format.most_per_run]):
            usage += self._estimate(batch)
        beyond = max(0, len(missing) - self._format.most_per_run)
        return BatchJudgeEstimate(len(items), len(items) - len(missing), beyond, usage)

    async def stored_judgements(
        self, items: Sequence[ItemT]
    ) -> Mapping[ItemT, JudgementT]:
        """Return the stored judgements of those `items` that have one; no request is
        sent.

        Raises:
            StoreProblem: The library cannot be read.
        """
        keys = {item: self._key(item) for item in items}
        replies_by_key = await self._store.replies(list(keys.values()))
        return {
            item: self._format.deserialize(replies_by_key[key])
            for item, key in keys.items()
            if key in replies_by_key
        }

    async def judge(
        self, items: Sequence[ItemT]
    ) -> BatchJudgeResult[ItemT, JudgementT]:
        """Return judgements of `items`, in their order.

        The model is asked about the first `most_per_run` of those without a stored
        judgement; new judgements are stored. If the model, the budget or a failure to
        store stops the run, the result has the judgements so far and the reason.

        Raises:
            StoreProblem: The library cannot be read.
        """
        judgements = dict(await self.stored_judgements(items))
        usage = Usage(cached=len(judgements))
        missing = [item for item in items if item not in judgements]
        missing = missing[: self._format.most_per_run]
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(self._ask(b)) for b in self._batches(missing)]
        for task in tasks:
            new_judgements, cost = task.result()
            judgements.update(new_judgements)
            usage += cost
        judged_items = [
            (item, judgements[item]) for item in items if item in judgements
        ]
        return BatchJudgeResult(
            judged_items, usage, len(items) - len(judged_items), self._budget.stopped
        )

    async def _ask(
        self, batch: Sequence[ItemT]
    ) -> tuple[Mapping[ItemT, JudgementT], Usage]:
        """Make one call and store its judgements; nothing if the budget forbids it."""
        reserved = self._budget.reserve(self._estimate(batch))
        if reserved is None:
            return {}, Usage()
        spent: list[ChatReply] = []
        try:
            judgements_by_number = await self._request_judgements(
                self._format.build_messages(batch), batch, spent
            )
        except ServiceUnavailable as error:
            self._budget.stop(_format_error(error))
            judgements_by_number = {}
        finally:
            usage = _usage(spent)
            self._budget.settle(reserved, usage)
        judgements = {
            batch[place]: judgement for place, judgement in judgements_by_number.items()
        }
        await self._store_judgements(judgements, usage)
        return judgements, usage

    async def _request_judgements(
        self,
        chat_messages: Sequence[ChatMessage],
        items: Sequence[ItemT],
        spent: list[ChatReply],
    ) -> Mapping[int, JudgementT]:
        """Return the judgements of a reply; a malformed reply is requested once more."""
        spent.append(await self._chat.fill(chat_messages, self._format.shape()))
        try:
            return self._format.parse(spent[0].text, items)
        except MalformedReply as wrong:
            again = build_repair_messages(chat_messages, spent[0].text, str(wrong))
        spent.append(await self._chat.fill(again, self._format.shape()))
        try:
            return self._format.parse(spent[1].text, items)
        except MalformedReply:
            return {}

    async def _store_judgements(
        self, judgements: Mapping[ItemT, JudgementT], usage: Usage
    ) -> None:
        """Store the judgements; if that fails, allow no more calls."""
        replies = {
            self._key(item): self._format.serialize(judgement)
            for item, judgement in judgements.items()
        }
        try:
            if replies:
                await self._store.save_replies(replies, usage)
        except StoreProblem as error:
            self._budget.stop(_format_error(error))

    def _batches(self, items: Sequence[ItemT]) -> Iterator[list[ItemT]]:
        waiting = iter(items)
        while batch := list(islice(waiting, self._format.per_call)):
            yield batch

    def _estimate(self, batch: Sequence[ItemT]) -> Usage:
        messages = self._format.build_messages(batch)
        sent = sum(len(message.text) for message in messages)
        sent += len(self._format.shape().schema)
        return Usage(
            calls=1,
            prompt_tokens=-(-sent // 4),  # about 4 characters per token, rounded up
            completion_tokens=self._format.reply_tokens * len(batch),
        )

    def _key(self, item: ItemT) -> str:
        """Return the cache key: a hash of everything the judgement depends on."""
        kind, revision, *texts = self._format.list_key_parts(item)
        key_parts = [kind, revision, self.name, *texts]
        return sha256(json.dumps(key_parts).encode()).hexdigest()


def build_repair_messages(
    chat_messages: Sequence[ChatMessage], reply: str, problem: str
) -> list[ChatMessage]:
    """Return a prompt that repeats `chat_messages`, shows the start of the malformed
    `reply`, and asks again.

    `problem` is a clause that says what is wrong with the reply.
    """
    repair_request = (
        f"That does not fit: {problem}. Answer again as asked, with JSON alone."
    )
    shown_reply = reply.strip()[:_SHOWN_AGAIN] or "-"
    return [
        *chat_messages,
        ChatMessage("assistant", shown_reply),
        ChatMessage("user", repair_request),
    ]


def _usage(replies: Sequence[ChatReply]) -> Usage:
    return Usage(
        calls=len(replies),
        prompt_tokens=sum(reply.prompt_tokens for reply in replies),
        completion_tokens=sum(reply.completion_tokens for reply in replies),
        repaired=max(0, len(replies) - 1),
    )


def _format_error(error: LrwrError) -> str:
    message = str(error).rstrip(".")
    return f"{message}. {error.hint}".rstrip()


async def request_reply(
    chat: ChatModel,
    messages: Sequence[ChatMessage],
    shape: ReplyShape,
    parse: Callable[[str], ReplyT],
) -> ReplyT:
    """Return the parsed reply of `chat`; a malformed one is requested once more.

    Raises:
        ServiceUnavailable: The server did not answer, or both replies are malformed.
    """
    reply = await chat.fill(messages, shape)
    try:
        return parse(reply.text)
    except MalformedReply as problem:
        again = build_repair_messages(messages, reply.text, str(problem))
    reply = await chat.fill(again, shape)
    try:
        return parse(reply.text)
    except MalformedReply as problem:
        raise ServiceUnavailable(
            f"{chat.name} sent a reply that cannot be used: {problem}",
            hint="Try again, or choose another model in the settings.",
        ) from problem
