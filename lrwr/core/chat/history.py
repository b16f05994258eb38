"""Selects the earlier turns of a thread that a question may refer to, and counts the
use of language models.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Collection, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from time import perf_counter

from lrwr.core.attribution.citations import strip_answer_citation_marks
from lrwr.core.bible.horizon import HorizonView
from lrwr.core.model.chunks import ChunkKind
from lrwr.core.model.documents import Horizon
from lrwr.core.model.errors import ServiceUnavailable
from lrwr.core.model.language_model import (
    Usage,
    describe_reservation,
    format_budget,
)
from lrwr.core.model.turns import ModelCall, Turn, TurnId
from lrwr.core.ports.models import ChatMessage, ChatModel, ChatReply, ReplyShape
from lrwr.core.ports.stores import PassageStore
from lrwr.core.retrieval.anchors import AnchoredCitation
from lrwr.core.retrieval.freshness import FreshnessService
from lrwr.core.retrieval.story import (
    StoryOrder,
    build_search_scope,
    is_at_or_before_horizon,
)

HISTORY_TOKEN_BUDGET = 2_000
"""Tokens of earlier turns included in full, by `estimate_history_tokens`."""

SHORTENED_LINE_CHARS = 90
"""Characters of a question, and of its answer, in the summary of earlier turns."""

MAX_SHORTENED_TURNS = 12
"""Turns in the summary at most."""

_CHARS_PER_TOKEN = 4


def estimate_history_tokens(text: str) -> int:
    """Return the estimated number of tokens of `text`: characters / 4, rounded down,
    plus 1.
    """
    return len(text) // _CHARS_PER_TOKEN + 1


def filter_turns_by_horizon(
    turns: Sequence[Turn], horizon: Horizon | None, order: StoryOrder
) -> list[Turn]:
    """Return the turns that were asked at `horizon` or an earlier point of the story.

    The order of `turns` is preserved. None returns all. A turn whose own horizon no
    longer exists counts as later.
    """
    if horizon is None:
        return list(turns)
    return [
        turn
        for turn in turns
        if is_at_or_before_horizon(
            turn.output.narrative_state_delta.as_of, horizon, order
        )
    ]


def is_answer_within_horizon(
    places: Sequence[AnchoredCitation], horizon: Horizon | None, order: StoryOrder
) -> bool:
    """Return whether all words that an answer cites are now at or before `horizon`.

    `places` are its citations with their current locations. An edit may have moved
    words after the horizon, where they would reveal later events. Words that are gone
    or outside the story are ignored. True if `horizon` is None.
    """
    if horizon is None:
        return True
    kinds = frozenset(ChunkKind)
    search_scope = build_search_scope(order, types=(), horizon=horizon, kinds=kinds)
    visible_spans = [
        place.now
        for place in places
        if place.now and place.now.document in order.numbers
    ]
    return all(
        search_scope.documents is not None
        and now.document in search_scope.documents
        and now.span.end <= search_scope.until.get(now.document, now.span.end)
        for now in visible_spans
    )


def select_recallable_turns(turns: Sequence[Turn]) -> Sequence[Turn]:
    """Return the latest of `turns` that `fit_turns_to_budget` may use, oldest first.

    These are the turns that fit into `HISTORY_TOKEN_BUDGET`, and `MAX_SHORTENED_TURNS`
    before them. `turns` are oldest first.
    """
    newest_turns = _select_newest(turns, HISTORY_TOKEN_BUDGET)
    return turns[-(len(newest_turns) + MAX_SHORTENED_TURNS) :]


def fit_turns_to_budget(
    turns: Sequence[Turn],
    budget: int = HISTORY_TOKEN_BUDGET,
    *,
    outdated: Collection[TurnId] = (),
) -> tuple[tuple[Turn, ...], str]:
    """Return the latest turns that fit into `budget` tokens, oldest first, and a
    summary of those before.

    The summary consists of the shortened questions and answers of at most
    `MAX_SHORTENED_TURNS` turns, without the answers of `outdated` ones. Empty if there
    are no earlier turns.
    """
    newest_turns = _select_newest(turns, budget)
    older = turns[: len(turns) - len(newest_turns)]
    lines = [
        _summarize_turn(turn, turn.id in outdated)
        for turn in older[-MAX_SHORTENED_TURNS:]
    ]
    before = "\n".join(["Earlier the writer asked:", *lines]) if lines else ""
    return newest_turns, before


def format_changed_answer_remark(places: Sequence[AnchoredCitation]) -> str:
    """Return a sentence that counts the changed passages among the citations `places`
    of the previous answer.

    Empty if none changed.
    """
    changed = sum(place.changed for place in places)
    if not changed:
        return ""
    if len(places) == 1:
        return "The passage that the previous answer cites has changed since."
    verb = "has" if changed == 1 else "have"
    return (
        f"{changed} of the {len(places)} passages that the previous answer cites"
        f" {verb} changed since."
    )


def _select_newest(turns: Sequence[Turn], budget: int) -> tuple[Turn, ...]:
    newest_turns: list[Turn] = []
    remaining_tokens = budget
    for turn in reversed(turns):
        remaining_tokens -= estimate_history_tokens(
            turn.question + turn.output.response_text
        )
        if remaining_tokens < 0:
            break
        newest_turns.append(turn)
    return tuple(reversed(newest_turns))


def _summarize_turn(turn: Turn, outdated: bool) -> str:
    answered = (
        ""
        if outdated
        else _shorten_line(strip_answer_citation_marks(turn.output.response_text))
    )
    question_line = f"- {_shorten_line(turn.question)}"
    return f"{question_line} Answered: {answered}" if answered else question_line


def _shorten_line(text: str) -> str:
    line = " ".join(text.split())
    return (
        line
        if len(line) <= SHORTENED_LINE_CHARS
        else f"{line[: SHORTENED_LINE_CHARS - 1].rstrip()}…"
    )


@dataclass(frozen=True, slots=True)
class RecalledHistory:
    """The earlier turns for a prompt.

    `history` are the latest turns, oldest first; `before` summarizes earlier ones,
    empty if there are none. `outdated` are the turns whose cited passages have changed
    since.
    """

    history: tuple[Turn, ...]
    before: str
    outdated: frozenset[TurnId]


async def recall_history(
    turns: Sequence[Turn],
    horizon: Horizon | None,
    order: StoryOrder,
    freshness: FreshnessService,
) -> RecalledHistory:
    """Return the earlier `turns` that may be used at `horizon` and fit into the prompt.

    Turns are left out if they are damaged, if they were asked at a later point of the
    story, or if words that they cite are now after the horizon. `freshness` locates the cited words in the
    current text; if it cannot, they count as unchanged.
    """
    sound_turns = [turn for turn in turns if not turn.is_damaged]
    recallable_turns = select_recallable_turns(
        filter_turns_by_horizon(sound_turns, horizon, order)
    )
    places = await freshness.anchor_turns(recallable_turns)
    visible_turns = [
        turn
        for turn in recallable_turns
        if is_answer_within_horizon(places[turn.id], horizon, order)
    ]
    changed = (
        turn
        for turn in visible_turns
        if any(anchored_citation.changed for anchored_citation in places[turn.id])
    )
    outdated = frozenset(turn.id for turn in changed)
    history, before = fit_turns_to_budget(visible_turns, outdated=outdated)
    return RecalledHistory(history, before, outdated)


class QuestionBudget:
    """Limits what the questions of one run (a command or a chat) may cost.

    `price` returns the price of a usage of the named model in US dollars, None if it is
    unknown. `limit` is in US dollars; 0 means no limit. Calls in progress count at
    their estimate.
    """

    def __init__(
        self, price: Callable[[Usage, str], float | None], limit: float
    ) -> None:
        self._price, self._limit = price, limit
        self._spent = 0.0

    def reserve(self, model: str, prompt_tokens: int) -> float:
        """Reserve the price of one call of the named model; return it for `settle`.

        Raises:
            ServiceUnavailable: The call could exceed the limit, or its price is
                unknown: it must not be made.
        """
        if not self._limit:
            return 0.0
        estimate = Usage(1, prompt_tokens, _REPLY_TOKENS)
        price = self._price(estimate, model)
        if price is None:
            raise ServiceUnavailable(
                f"There is a budget, but the price of {model} is unknown",
                hint="Set `model.prices`, or remove `model.budget`.",
            )
        if self._spent + price > self._limit:
            reserved = describe_reservation(estimate, price, self._spent + price)
            raise ServiceUnavailable(
                f"The next call would exceed the budget of {format_budget(self._limit)}",
                hint="Raise `model.budget`, or `--budget` if the command has it."
                f" Reserved for the call: {reserved}.",
            )
        self._spent += price
        return price

    def settle(self, reserved: float, model: str, usage: Usage) -> None:
        """Replace `reserved`, a result of `reserve`, by the price of `usage`."""
        if self._limit:
            self._spent += (self._price(usage, model) or 0.0) - reserved


_REPLY_TOKENS = 1_000
"""Tokens that a reply is expected to have at most; few answers are longer."""


class MeteredChatModel:
    """Wraps the chat model `chat` and counts its calls and tokens. Use one per turn.

    Calls that `budget` does not allow raise `ServiceUnavailable`, and are not counted.

    Tokens of `fill` are those reported by the server. Streamed and cancelled calls
    report none; they are estimated as characters / 4. A call that fails before its
    first token counts no tokens. `Usage.failed` counts calls that raised
    `ServiceUnavailable`. `clock` returns seconds, and measures the calls.
    """

    def __init__(
        self,
        chat: ChatModel,
        budget: QuestionBudget | None = None,
        clock: Callable[[], float] = perf_counter,
    ) -> None:
        self._chat = chat
        self._budget = budget
        self._usage = Usage()
        self._clock = clock
        self._calls: list[tuple[float, ModelCall]] = []

    @property
    def name(self) -> str:
        """The name of the wrapped model."""
        return self._chat.name

    @property
    def usage(self) -> Usage:
        """The usage since the last `take_usage`, without calls that are still running."""
        return self._usage

    def take_usage(self) -> Usage:
        """Return the usage since the last call of this method, and reset it to zero."""
        usage, self._usage = self._usage, Usage()
        return usage

    def take_calls(self) -> list[tuple[float, ModelCall]]:
        """Return the calls since the last call of this method, each with the time at
        which it began.
        """
        calls, self._calls = self._calls, []
        return calls

    async def fill(
        self, messages: Sequence[ChatMessage], shape: ReplyShape
    ) -> ChatReply:
        """Return the model's reply in the JSON `shape`, and count its tokens.

        Raises:
            ServiceUnavailable: The server did not answer or refused, or the budget is
                used up.
        """
        sent = _estimate_prompt_tokens(messages, shape)
        reserved, began = self._reserve(sent), self._clock()
        usage = Usage()
        try:
            reply = await self._chat.fill(messages, shape)
            usage = reply.usage
        except ServiceUnavailable:
            usage = Usage(calls=1, failed=1)
            raise
        except asyncio.CancelledError:
            usage = Usage(calls=1, prompt_tokens=sent)
            raise
        finally:
            self._count(reserved, usage, shape.name.lower(), began)
        return reply

    async def stream(self, messages: Sequence[ChatMessage]) -> AsyncGenerator[str]:
        """Yield the model's answer piece by piece, and count its tokens, even if it
        ends early.

        Raises:
            ServiceUnavailable: The server did not answer, refused, or stopped in the
                middle, or the budget is used up.
        """
        sent, answer_chars, failed = _estimate_prompt_tokens(messages), 0, 0
        reserved, began = self._reserve(sent), self._clock()
        try:
            async with aclosing(self._chat.stream(messages)) as pieces:
                async for piece in pieces:
                    answer_chars += len(piece)
                    yield piece
        except ServiceUnavailable:
            sent, failed = sent if answer_chars else 0, 1
            raise
        finally:
            usage = Usage(1, sent, _estimate_tokens(answer_chars), failed=failed)
            self._count(reserved, usage, "answer", began)

    def _reserve(self, prompt_tokens: int) -> float:
        if self._budget is None:
            return 0.0
        return self._budget.reserve(self.name, prompt_tokens)

    def _count(self, reserved: float, usage: Usage, purpose: str, began: float) -> None:
        self._usage += usage
        call = ModelCall(
            purpose,
            self.name,
            usage.prompt_tokens,
            usage.completion_tokens,
            round(self._clock() - began, 3),
            bool(usage.failed),
        )
        self._calls.append((began, call))
        if self._budget is not None:
            self._budget.settle(reserved, self.name, usage)


def _estimate_prompt_tokens(
    messages: Sequence[ChatMessage], shape: ReplyShape | None = None
) -> int:
    """Estimate the tokens of messages and reply schema."""
    schema = len(shape.schema) if shape else 0
    return sum(
        _estimate_tokens(len(message.text)) for message in messages
    ) + _estimate_tokens(schema)


def _estimate_tokens(characters: int) -> int:
    return -(-characters // 4)


async def describe_later_names(
    names: Sequence[str], store: PassageStore, order: StoryOrder, horizon: Horizon
) -> str:
    """Return a remark about those of `names`, which an answer has, that the story up to
    `horizon` does not contain in any form; empty if it contains all.

    Raises:
        StoreProblem: The library cannot be read.
    """
    if not names:
        return ""
    texts = await store.texts(order.story)
    later = HorizonView(order, texts, horizon).list_unseen_names(names)
    if not later:
        return ""
    return (
        f"First mentioned later in the story: {', '.join(later)}."
        " Check that the answer gives nothing away."
    )
