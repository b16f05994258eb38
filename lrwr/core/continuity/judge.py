"""Lets a language model judge pairs of statements: prompts, replies, stored judgements,
budget.
"""

import asyncio
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache
from hashlib import sha256
from itertools import islice
from typing import Protocol

from lrwr.core.continuity.pairs import StatementPair
from lrwr.core.model.errors import LrwrError, ServiceUnavailable, StoreProblem
from lrwr.core.model.language_model import (
    FENCE_RULE,
    MalformedReply,
    Usage,
    build_strict_schema,
    extract_json_object,
    flatten_reply_text,
    generate_fence_mark,
    wrap_in_fence,
)
from lrwr.core.ports.models import ChatMessage, ChatModel, ChatReply, ReplyShape
from lrwr.core.ports.stores import AnalysisStore

JUDGE_PROMPT_REVISION = "1"
"""Version of prompt and schema; part of the cache key of judgements."""
PAIRS_PER_CALL = 5
"""Pairs per call."""
MAX_REASON_WORDS = 20
"""Maximum words of a stored reason."""
_SHOWN_AGAIN = 800
"""Maximum characters of a malformed reply repeated in the second request."""
_INSTRUCTIONS = """\
You check a novel for slips. Each pair has a confirmed statement (canon) and a passage \
of the novel (text) on the same person or thing (about). For each id say whether the \
passage contradicts canon: whether the two cannot both be true at that moment of the \
story.
contradicts is false where one only says more, or less, or the same in other words; \
where something may have changed, or the passage tells of a change or of another time; \
where it is what somebody says, writes, believes, pretends, dreams or guesses; where it \
is a comparison, a condition or a denial; where it is about somebody or something else; \
where you are not sure.
canon_quote, text_quote: the words that contradict each other, 2 to 20 of them, copied \
letter by letter from that pair's canon and from its text; empty where nothing does.
why: at most 20 words.
"""


@dataclass(frozen=True, slots=True)
class PairJudgement:
    """A model's judgement of one pair of statements: whether they contradict each
    other.

    `canon_quote` and `text_quote` are the contradicting words of the confirmed
    statement and of the story passage, not verified yet; `why` is the reason in a few
    words. All are empty if there is no contradiction.
    """

    contradicts: bool
    canon_quote: str = ""
    text_quote: str = ""
    why: str = ""


def build_judge_messages(pairs: Sequence[StatementPair]) -> list[ChatMessage]:
    """Return the prompt that asks which of `pairs`, numbered from 1, contradict each
    other.

    All text of the manuscript stands between lines with a random mark, so that the
    model cannot take it for instructions.
    """
    blocks = [
        (f"{label} {number}", text)
        for number, pair in enumerate(pairs, start=1)
        for label, text in (
            ("about", f"{pair.about}: {pair.attribute}"),
            ("canon", pair.canon.text),
            ("text", pair.found.text),
        )
    ]
    mark = generate_fence_mark(*(text for _, text in blocks))
    fenced_blocks = "\n".join(
        wrap_in_fence(label, text, mark) for label, text in blocks
    )
    return [
        ChatMessage("system", f"{_INSTRUCTIONS}{FENCE_RULE}"),
        ChatMessage("user", fenced_blocks),
    ]


def build_judge_repair_messages(
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


@cache
def build_judgement_shape() -> ReplyShape:
    """Return the format of a reply: a JSON object with the array "pairs", one judgement
    for each pair, with the pair's number as "id".
    """
    row = {
        "id": {"type": "integer"},
        "contradicts": {"type": "boolean"},
        "canon_quote": {"type": "string"},
        "text_quote": {"type": "string"},
        "why": {"type": "string"},
    }
    fields = {"pairs": {"type": "array", "items": build_strict_schema(row)}}
    return ReplyShape(
        "Pairs", json.dumps(build_strict_schema(fields), separators=(",", ":"))
    )


def parse_judgements(reply: str, count: int) -> Mapping[int, PairJudgement]:
    """Return the judgements in a model's `reply`, by index of the pair, from 0.

    The reply numbers the `count` pairs from 1. Numbers out of range are ignored; a pair
    that is omitted or judged twice is missing.

    Raises:
        MalformedReply: The reply does not match the schema.
    """
    match extract_json_object(reply):
        case {"pairs": [*rows], **more} if not more:
            numbered_judgements = [_parse_row(row) for row in rows]
        case _:
            raise MalformedReply("it is not an object of `pairs`")
    numbers = [number for number, _ in numbered_judgements]
    return {
        number - 1: judgement
        for number, judgement in numbered_judgements
        if 1 <= number <= count and numbers.count(number) == 1
    }


def serialize_judgement(pair_judgement: PairJudgement) -> str:
    """Return a judgement as a JSON object with the field names as keys, for storage."""
    return json.dumps(asdict(pair_judgement), ensure_ascii=False)


def deserialize_judgement(text: str) -> PairJudgement:
    """Return the judgement that `serialize_judgement` turned into `text`."""
    fields = json.loads(text)
    return PairJudgement(
        fields["contradicts"],
        fields["canon_quote"],
        fields["text_quote"],
        fields["why"],
    )


def _parse_row(row: object) -> tuple[int, PairJudgement]:
    match row:
        case {
            "id": int(number),
            "contradicts": bool(contradicts),
            "canon_quote": str(canon),
            "text_quote": str(text),
            "why": str(why),
            **more,
        } if not (more or isinstance(number, bool)):
            short = " ".join(flatten_reply_text(why).split()[:MAX_REASON_WORDS])
            return number, PairJudgement(contradicts, canon, text, short)
    raise MalformedReply(
        "a pair is not `id`, `contradicts`, `canon_quote`, `text_quote` and `why`"
    )


MAX_PAIRS_PER_RUN = 60
"""Maximum new pairs per run; stored judgements do not count."""
_REPLY_TOKENS = 70
"""Typical tokens of one judgement; used for estimates only."""


class PairJudgeBudget(Protocol):
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
class PairJudgeEstimate:
    """Estimate of what it takes to judge a number of `pairs`.

    Of these, `kept` have a stored judgement and need no call, and `beyond` exceed the
    limit of one run and are not judged. `usage` is the estimated usage of the others.
    """

    pairs: int
    kept: int
    beyond: int
    usage: Usage


@dataclass(slots=True)
class PairJudgeResult:
    """The judgements of a run, in the order of the pairs.

    `judged` includes stored judgements; `usage` is that of the run. `unjudged` is the
    number of pairs without judgement: the budget or the model stopped the run
    (`stopped` is the reason, as a sentence), the reply was unusable, or the limit of
    one run was reached.
    """

    judged: list[tuple[StatementPair, PairJudgement]] = field(default_factory=list)
    usage: Usage = field(default_factory=Usage)
    unjudged: int = 0
    stopped: str = ""


class PairJudge:
    """Lets a language model judge pairs of statements, and stores each judgement.

    A stored judgement is reused while both passages, the model and the prompt are the
    same. `budget` limits what a run may cost.
    """

    def __init__(
        self, chat: ChatModel, store: AnalysisStore, budget: PairJudgeBudget
    ) -> None:
        self._chat = chat
        self._store = store
        self._budget = budget

    @property
    def name(self) -> str:
        """The name of the language model."""
        return self._chat.name

    async def estimate(self, pairs: Sequence[StatementPair]) -> PairJudgeEstimate:
        """Estimate what it takes to judge `pairs`; no request is sent.

        Raises:
            StoreProblem: The library cannot be read.
        """
        judgements = await self.stored_judgements(pairs)
        missing = [pair for pair in pairs if pair not in judgements]
        usage = Usage()
        for batch in _batches(missing[:MAX_PAIRS_PER_RUN]):
            usage += _estimate_batch(batch)
        beyond = max(0, len(missing) - MAX_PAIRS_PER_RUN)
        return PairJudgeEstimate(len(pairs), len(pairs) - len(missing), beyond, usage)

    async def stored_judgements(
        self, pairs: Sequence[StatementPair]
    ) -> Mapping[StatementPair, PairJudgement]:
        """Return the stored judgements of those `pairs` that have one; no request is
        sent.

        Raises:
            StoreProblem: The library cannot be read.
        """
        keys = {pair: self._key(pair) for pair in pairs}
        replies_by_key = await self._store.replies(list(keys.values()))
        return {
            pair: deserialize_judgement(replies_by_key[key])
            for pair, key in keys.items()
            if key in replies_by_key
        }

    async def judge(self, pairs: Sequence[StatementPair]) -> PairJudgeResult:
        """Return judgements of `pairs`, in their order.

        The model is asked about the first `MAX_PAIRS_PER_RUN` of those without a stored
        judgement; new judgements are stored. If the model, the budget or a failure to
        store stops the run, the result has the judgements so far and the reason.

        Raises:
            StoreProblem: The library cannot be read.
        """
        judgements = dict(await self.stored_judgements(pairs))
        usage = Usage(cached=len(judgements))
        missing = [pair for pair in pairs if pair not in judgements][:MAX_PAIRS_PER_RUN]
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(self._ask(b)) for b in _batches(missing)]
        for task in tasks:
            new_judgements, cost = task.result()
            judgements.update(new_judgements)
            usage += cost
        judged_pairs = [
            (pair, judgements[pair]) for pair in pairs if pair in judgements
        ]
        return PairJudgeResult(
            judged_pairs, usage, len(pairs) - len(judged_pairs), self._budget.stopped
        )

    async def _ask(
        self, batch: Sequence[StatementPair]
    ) -> tuple[Mapping[StatementPair, PairJudgement], Usage]:
        """Make one call and store its judgements; nothing if the budget forbids it."""
        reserved = self._budget.reserve(_estimate_batch(batch))
        if reserved is None:
            return {}, Usage()
        spent: list[ChatReply] = []
        try:
            judgements_by_number = await self._request_judgements(
                build_judge_messages(batch), len(batch), spent
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
        self, chat_messages: Sequence[ChatMessage], count: int, spent: list[ChatReply]
    ) -> Mapping[int, PairJudgement]:
        """Return the judgements of a reply; a malformed reply is requested once more."""
        spent.append(await self._chat.fill(chat_messages, build_judgement_shape()))
        try:
            return parse_judgements(spent[0].text, count)
        except MalformedReply as wrong:
            again = build_judge_repair_messages(
                chat_messages, spent[0].text, str(wrong)
            )
        spent.append(await self._chat.fill(again, build_judgement_shape()))
        try:
            return parse_judgements(spent[1].text, count)
        except MalformedReply:
            return {}

    async def _store_judgements(
        self, judgements: Mapping[StatementPair, PairJudgement], usage: Usage
    ) -> None:
        """Store the judgements; if that fails, allow no more calls."""
        replies = {
            self._key(pair): serialize_judgement(judgement)
            for pair, judgement in judgements.items()
        }
        try:
            if replies:
                await self._store.save_replies(replies, usage)
        except StoreProblem as error:
            self._budget.stop(_format_error(error))

    def _key(self, pair: StatementPair) -> str:
        """Return the cache key: a hash of everything the judgement depends on."""
        key_parts = [
            "continuity",
            JUDGE_PROMPT_REVISION,
            self.name,
            pair.about,
            pair.attribute,
            pair.canon.text,
            pair.found.text,
        ]
        return sha256(json.dumps(key_parts).encode()).hexdigest()


def _batches(pairs: Sequence[StatementPair]) -> Iterator[list[StatementPair]]:
    waiting = iter(pairs)
    while batch := list(islice(waiting, PAIRS_PER_CALL)):
        yield batch


def _estimate_batch(batch: Sequence[StatementPair]) -> Usage:
    sent = sum(
        len(judge_message.text) for judge_message in build_judge_messages(batch)
    ) + len(build_judgement_shape().schema)
    return Usage(
        calls=1,
        prompt_tokens=-(-sent // 4),  # about 4 characters per token, rounded up
        completion_tokens=_REPLY_TOKENS * len(batch),
    )


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
