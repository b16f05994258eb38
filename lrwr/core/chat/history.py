"""Selects the earlier turns that a question continues, and counts model usage."""

import asyncio
from collections.abc import AsyncGenerator, Collection, Sequence
from contextlib import aclosing
from dataclasses import dataclass

from lrwr.core.attribution.citations import strip_answer_citation_marks
from lrwr.core.model.chunks import ChunkKind
from lrwr.core.model.documents import Horizon
from lrwr.core.model.errors import ServiceUnavailable
from lrwr.core.model.language_model import Usage
from lrwr.core.model.turns import Turn, TurnId
from lrwr.core.ports.models import ChatMessage, ChatModel, ChatReply, ReplyShape
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
    """Estimate the tokens of a text: one for four characters of English, at least one."""
    return len(text) // _CHARS_PER_TOKEN + 1


def filter_turns_by_horizon(
    turns: Sequence[Turn], horizon: Horizon | None, order: StoryOrder
) -> list[Turn]:
    """Return the turns that were asked at `horizon` or an earlier point of the story.

    A turn whose horizon no longer exists counts as later.
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
    """Return whether all words that an answer cites are still before `horizon`.

    Words that have since moved behind the horizon would reveal later events. Locations
    outside the story are ignored.
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


def select_recallable_turns(
    turns: Sequence[Turn], budget: int = HISTORY_TOKEN_BUDGET
) -> Sequence[Turn]:
    """Return the latest turns that can be used, in full or summarized, oldest first."""
    return turns[-(len(_select_newest(turns, budget)) + MAX_SHORTENED_TURNS) :]


def fit_turns_to_budget(
    turns: Sequence[Turn],
    budget: int = HISTORY_TOKEN_BUDGET,
    *,
    outdated: Collection[TurnId] = (),
) -> tuple[tuple[Turn, ...], str]:
    """Return the latest turns that fit `budget` tokens, oldest first, and a summary of
    others.

    The summary consists of shortened questions and answers, verbatim. Answers of
    `outdated` turns are left out of it.
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
    """Return a sentence about changed passages of the previous answer; empty if none
    changed.
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
    """The earlier turns of a question; see the fields of `TurnQuestion`."""

    history: tuple[Turn, ...]
    before: str
    outdated: frozenset[TurnId]


async def recall_history(
    turns: Sequence[Turn],
    horizon: Horizon | None,
    order: StoryOrder,
    freshness: FreshnessService,
) -> RecalledHistory:
    """Return the earlier turns that may be used at `horizon` and fit into the prompt.

    Turns whose cited words are now behind the horizon are left out.
    """
    recallable_turns = select_recallable_turns(
        filter_turns_by_horizon(turns, horizon, order)
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


class MeteredChatModel:
    """Wraps a chat model and counts its calls and tokens. Use one per turn.

    Tokens of `fill` are those reported by the server. Streamed and cancelled calls
    report none; they are estimated as characters / 4. A call that fails before its
    first token counts no tokens. `failed` counts calls that raised an error.
    """

    def __init__(self, chat: ChatModel) -> None:
        self._chat = chat
        self._usage = Usage()

    @property
    def name(self) -> str:
        """The name of the wrapped model."""
        return self._chat.name

    @property
    def usage(self) -> Usage:
        """Usage since the last `take_usage`, without calls that are still running."""
        return self._usage

    def take_usage(self) -> Usage:
        """Return the usage and reset it to zero."""
        usage, self._usage = self._usage, Usage()
        return usage

    async def fill(
        self, messages: Sequence[ChatMessage], shape: ReplyShape
    ) -> ChatReply:
        """Return the model's reply and count the tokens that it reports."""
        try:
            reply = await self._chat.fill(messages, shape)
        except ServiceUnavailable:
            self._usage += Usage(calls=1, failed=1)
            raise
        except asyncio.CancelledError:
            self._usage += Usage(
                calls=1, prompt_tokens=_estimate_prompt_tokens(messages, shape)
            )
            raise
        self._usage += Usage(1, reply.prompt_tokens, reply.completion_tokens)
        return reply

    async def stream(self, messages: Sequence[ChatMessage]) -> AsyncGenerator[str]:
        """Yield the model's answer and count its tokens, even if it ends early."""
        sent, answer_chars, failed = _estimate_prompt_tokens(messages), 0, 0
        try:
            async with aclosing(self._chat.stream(messages)) as pieces:
                async for piece in pieces:
                    answer_chars += len(piece)
                    yield piece
        except ServiceUnavailable:
            sent, failed = sent if answer_chars else 0, 1
            raise
        finally:
            self._usage += Usage(1, sent, _estimate_tokens(answer_chars), failed=failed)


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
