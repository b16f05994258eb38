"""A language model as reranker: it orders the first passages of a search in one call."""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from hashlib import sha256
from typing import Any, Protocol

from lrwr.core.model.chunks import Passage
from lrwr.core.model.errors import LrwrError, ServiceUnavailable
from lrwr.core.model.language_model import (
    FENCE_RULE,
    MalformedReply,
    Usage,
    build_strict_schema,
    extract_json_object,
    generate_fence_mark,
    wrap_in_fence,
)
from lrwr.core.model.text import format_seconds
from lrwr.core.ports.models import ChatMessage, ChatModel, ReplyShape
from lrwr.core.ports.stores import AnalysisStore
from lrwr.core.retrieval.search_model import (
    PassageSort,
    SearchRequest,
    SearchResult,
)
from lrwr.core.retrieval.service import PassageFinder
from lrwr.core.retrieval.story import StoryOrder

MAX_RANKED_PASSAGES = 20
"""Passages that the model orders; the answer is among the first 20 for 97 % of the
questions on tales (decision 030)."""

RANKING_PROMPT_REVISION = "3"
"""Version of prompt and schema; part of the cache key of orders."""

MAX_CHOSEN_PASSAGES = 10
"""Passages that the model may name; the others follow in their order."""

_INSTRUCTIONS = f"""\
You get a question and numbered passages from one or more stories. Each begins with \
the file and chapter that it comes from, in square brackets. Passages that follow one \
another directly in the text stand together, in text order. Choose the passages that \
answer the question, the best first: those whose words state the answer, then those \
that imply it. Leave out passages that only share words with the question. If the \
question asks what happened after or before something, the passage that tells what \
followed or preceded is best. If two answer equally well, the one closer to the \
wording of the question comes first; then the lower number.
Reply with JSON: in ids, the numbers of the passages, usually one to three, at most \
{MAX_CHOSEN_PASSAGES}, each once; an empty list if none answers the question.
{FENCE_RULE}"""


NO_ANSWER = "The language model found no answer in the first passages."
"""The remark if the model chose no passage."""


class MeteredModel(ChatModel, Protocol):
    """A chat model that counts the usage of its calls."""

    @property
    def usage(self) -> Usage:
        """The usage since the last call of `take_usage`."""
        ...

    def take_usage(self) -> Usage:
        """Return the usage since the last call of this method."""
        ...


class ModelRanker:
    """Asks the language model `chat` for the best order of passages.

    An order is stored in `store` under a hash of model, question and passages, and
    never requested twice; None stores nothing. `timeout` limits a reply, in seconds.
    """

    def __init__(
        self,
        chat: MeteredModel,
        store: AnalysisStore | None = None,
        *,
        timeout: float = 15.0,
    ) -> None:
        self.chat = chat
        self._store = store
        self._timeout = timeout

    async def choose(
        self,
        question: str,
        passages: Sequence[str],
        reading_order: Sequence[int] | None = None,
    ) -> list[int]:
        """Return the indices of the `passages` that answer `question`, each once, the
        best first; none if the model finds no answer in them.

        The model gets the passages in `reading_order`, their indices in the order in
        which to show them; None is their own order.

        Raises:
            LrwrError: The model did not answer in time, or may not be asked.
            MalformedReply: The reply names a passage twice or one that does not exist.
        """
        messages = build_ranking_messages(question, passages, reading_order)
        shown = [passages[index] for index in reading_order or range(len(passages))]
        key = self._build_key(question, [*passages, *shown])
        if self._store is not None:
            stored = (await self._store.replies([key])).get(key)
            if stored is not None:
                return parse_chosen_passages(stored, len(passages))
        try:
            async with asyncio.timeout(self._timeout):
                reply = await self.chat.fill(messages, build_choice_shape())
        except TimeoutError as error:
            raise ServiceUnavailable(
                f"The model took more than {format_seconds(self._timeout)}",
                hint="Raise `rerank.timeout`.",
            ) from error
        choice = parse_chosen_passages(reply.text, len(passages))
        if self._store is not None:
            usage = reply.usage
            await self._store.save_replies({key: reply.text}, usage)
        return choice

    def _build_key(self, question: str, passages: Sequence[str]) -> str:
        fields = [RANKING_PROMPT_REVISION, self.chat.name, question, *passages]
        return f"order-{sha256(json.dumps(fields).encode()).hexdigest()}"


class ModelRankedFinder(PassageFinder):
    """Searches like `PassageFinder`; then `ranker` orders the first passages.

    If the model fails, the order stays as it is, with a remark. The other arguments are
    those of `PassageFinder`.
    """

    def __init__(self, ranker: ModelRanker, **parts: Any) -> None:
        super().__init__(**parts)
        self._ranker = ranker

    async def find(
        self, request: SearchRequest, order: StoryOrder | None = None
    ) -> SearchResult:
        """Search for `request` and return the best passages, in the model's order.

        The confidence is not evaluated then: it is calibrated for the other order.
        Passages of notes stay behind those of the story. Nothing is asked without a
        question, for an exact search, for passages in story order, or if
        `request.rerank` is false. For errors see `PassageFinder`.
        """
        if (
            not (request.rerank and request.question.strip())
            or request.exact
            or request.sort is PassageSort.STORY
        ):
            return await super().find(request, order)
        limit = max(request.limit, MAX_RANKED_PASSAGES)
        result = await super().find(replace(request, limit=limit), order)
        text = [p for p in result.passages if p.chapter is not None]
        notes = [p for p in result.passages if p.chapter is None]
        if not text:
            text, notes = notes, text
        ranked = await self._rank(request.question, text, result)
        return replace(
            ranked,
            passages=(
                *ranked.passages[: request.limit],
                *notes[: -(-request.limit // 3)],
            ),
        )

    async def _rank(
        self, question: str, passages: Sequence[Passage], result: SearchResult
    ) -> SearchResult:
        """Return `result` with `passages`, those that the model chose first.

        If it chose none, their order stays and the result has low confidence.
        """
        first = passages[:MAX_RANKED_PASSAGES]
        unranked = replace(result, passages=tuple(passages))
        if len(first) < 2:
            return unranked
        try:
            chosen = await self._ranker.choose(
                question, list(map(_describe, first)), order_for_reading(first)
            )
        except MalformedReply as malformed:
            reason = f"Its reply cannot be used: {malformed}."
        except LrwrError as error:
            reason = error.full_text
        else:
            others = [i for i in range(len(passages)) if i not in chosen]
            return replace(
                unranked,
                passages=tuple(passages[index] for index in (*chosen, *others)),
                remarks=(*result.remarks, *([] if chosen else [NO_ANSWER])),
                judgement=None,
                confidence=None,
                low_confidence=None if chosen else True,
            )
        remark = f"The language model did not order the passages. {reason}"
        return replace(unranked, remarks=(*result.remarks, remark))


def order_for_reading(passages: Sequence[Passage]) -> list[int]:
    """Return the indices of ranked `passages` with those that follow one another
    directly in a document together, in text order, at the rank of the best of them.
    """
    indices = {(p.chunk.document, p.chunk.ordinal): i for i, p in enumerate(passages)}
    order: list[int] = []
    for passage in passages:
        document, ordinal = passage.chunk.document, passage.chunk.ordinal
        if indices[document, ordinal] in order:
            continue
        while (document, ordinal - 1) in indices:
            ordinal -= 1
        while (document, ordinal) in indices:
            order.append(indices[document, ordinal])
            ordinal += 1
    return order


def build_ranking_messages(
    question: str, passages: Sequence[str], reading_order: Sequence[int] | None = None
) -> list[ChatMessage]:
    """Return the prompt that asks which `passages`, numbered from 1, are the best.

    They stand in `reading_order`, see `ModelRanker.choose`. All text stands between lines with a random mark, so that the model cannot take it
    for instructions.
    """
    blocks = [("question", question)]
    blocks += [
        (f"passage {index + 1}", passages[index])
        for index in reading_order or range(len(passages))
    ]
    mark = generate_fence_mark(*(text for _, text in blocks))
    return [
        ChatMessage("system", _INSTRUCTIONS),
        ChatMessage(
            "user",
            "\n".join(wrap_in_fence(label, text, mark) for label, text in blocks),
        ),
    ]


def _describe(passage: Passage) -> str:
    title = f", {passage.chapter_title}" if passage.chapter_title else ""
    return f"[{passage.chunk.document}{title}]\n{passage.chunk.text}"


@cache
def build_choice_shape() -> ReplyShape:
    """Return the format of a reply: a JSON object with the array of numbers "ids"."""
    fields = {"ids": {"type": "array", "items": {"type": "integer"}}}
    return ReplyShape(
        "Choice", json.dumps(build_strict_schema(fields), separators=(",", ":"))
    )


def parse_chosen_passages(reply: str, count: int) -> list[int]:
    """Return the indices, from 0, in a reply that numbers `count` passages from 1.

    Raises:
        MalformedReply: It is not a list of different numbers from 1 to `count`.
    """
    match extract_json_object(reply):
        case {"ids": [*ids], **more} if not more:
            numbers = [n for n in ids if isinstance(n, int) and not isinstance(n, bool)]
        case _:
            raise MalformedReply("it is not an object of `ids`")
    if len(set(numbers)) != len(ids):
        raise MalformedReply("`ids` repeats a passage or holds more than numbers")
    if not all(1 <= number <= count for number in numbers):
        raise MalformedReply("`ids` names a passage that does not exist")
    return [number - 1 for number in numbers]
