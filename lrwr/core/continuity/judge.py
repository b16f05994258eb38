"""Asks a language model about pairs, never twice about the same two passages."""

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
"""Changes with the words below and with the shape; judgements depend on it."""
PAIRS_PER_CALL = 5
"""Pairs that are judged in one call."""
MAX_REASON_WORDS = 20
"""Words of a reason that are kept."""
_SHOWN_AGAIN = 800
"""Characters of a wrong reply that are shown to the model again."""
_TOLD = """\
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
    """What a model said of one pair; nothing of it is checked yet."""

    contradicts: bool
    canon_quote: str = ""
    text_quote: str = ""
    why: str = ""


def build_judge_messages(pairs: Sequence[StatementPair]) -> list[ChatMessage]:
    """Ask about pairs, which are numbered from 1. All that anybody wrote is fenced."""
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
        ChatMessage("system", f"{_TOLD}{FENCE_RULE}"),
        ChatMessage("user", fenced_blocks),
    ]


def build_judge_repair_messages(
    chat_messages: Sequence[ChatMessage], reply: str, problem: str
) -> list[ChatMessage]:
    """Ask the same once more, and say what was wrong with the reply."""
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
    """Return the shape of the reply."""
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
    """Return what is said of each of `count` pairs, by its place from 0.

    A pair that the reply leaves out, or judges twice, has no judgement.

    Raises:
        MalformedReply: The reply does not keep to its shape.
    """
    match extract_json_object(reply):
        case {"pairs": [*rows], **more} if not more:
            numbered_judgements = [_row(row) for row in rows]
        case _:
            raise MalformedReply("it is not an object of `pairs`")
    numbers = [number for number, _ in numbered_judgements]
    return {
        number - 1: judgement
        for number, judgement in numbered_judgements
        if 1 <= number <= count and numbers.count(number) == 1
    }


def serialize_judgement(pair_judgement: PairJudgement) -> str:
    """Write a judgement, to be kept."""
    return json.dumps(asdict(pair_judgement), ensure_ascii=False)


def deserialize_judgement(text: str) -> PairJudgement:
    """Read a judgement as `serialize_judgement` writes it."""
    fields = json.loads(text)
    return PairJudgement(
        fields["contradicts"],
        fields["canon_quote"],
        fields["text_quote"],
        fields["why"],
    )


def _row(row: object) -> tuple[int, PairJudgement]:
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
"""Pairs that a run asks about at most; those judged before are not among them."""
_REPLY_TOKENS = 70
"""Tokens that a judgement has about: what an estimate goes by."""


class PairJudgeBudget(Protocol):
    """What a run may spend. `stopped` says in a sentence why nothing more is asked."""

    stopped: str

    def reserve(self, estimate: Usage) -> float | None:
        """Set the price of a call aside; None when it must not be made."""
        ...

    def settle(self, reserved: float, usage: Usage) -> None:
        """Count what a call really took."""
        ...

    def stop(self, reason: str) -> None:
        """Ask nothing more in this run."""
        ...


@dataclass(frozen=True, slots=True)
class PairJudgeEstimate:
    """What judging would take: of `pairs`, `kept` were judged before.

    `beyond` are more than a run asks about.
    """

    pairs: int
    kept: int
    beyond: int
    usage: Usage


@dataclass(slots=True)
class PairJudgeResult:
    """What came of asking: judgements of pairs, in their order.

    `unjudged` pairs have none: the model could not be asked, which `stopped` then
    says, or gave no usable answer, or there were more than a run asks about.
    """

    judged: list[tuple[StatementPair, PairJudgement]] = field(default_factory=list)
    usage: Usage = field(default_factory=Usage)
    unjudged: int = 0
    stopped: str = ""


class PairJudge:
    """Has pairs judged by a model; each judgement is kept as soon as it comes.

    What was judged once is never asked about again while both passages, the model and
    the questions stay the same.
    """

    def __init__(
        self, chat: ChatModel, store: AnalysisStore, budget: PairJudgeBudget
    ) -> None:
        self._chat = chat
        self._store = store
        self._purse = budget

    @property
    def name(self) -> str:
        """Name the model."""
        return self._chat.name

    async def estimate(self, pairs: Sequence[StatementPair]) -> PairJudgeEstimate:
        """Return an estimate of judging `pairs`; sends no request."""
        judgements = await self.kept(pairs)
        missing = [pair for pair in pairs if pair not in judgements]
        usage = Usage()
        for batch in _batches(missing[:MAX_PAIRS_PER_RUN]):
            usage += _estimated(batch)
        beyond = max(0, len(missing) - MAX_PAIRS_PER_RUN)
        return PairJudgeEstimate(len(pairs), len(pairs) - len(missing), beyond, usage)

    async def kept(
        self, pairs: Sequence[StatementPair]
    ) -> Mapping[StatementPair, PairJudgement]:
        """Return the stored judgements; sends no request."""
        keys = {pair: self._key(pair) for pair in pairs}
        replies_by_key = await self._store.replies(list(keys.values()))
        return {
            pair: deserialize_judgement(replies_by_key[key])
            for pair, key in keys.items()
            if key in replies_by_key
        }

    async def judge(self, pairs: Sequence[StatementPair]) -> PairJudgeResult:
        """Return judgements of `pairs`, the first `MAX_PAIRS_PER_RUN` of those not judged before.

        A model that fails takes nothing away: what is judged by then is returned.
        """
        judgements = dict(await self.kept(pairs))
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
            judged_pairs, usage, len(pairs) - len(judged_pairs), self._purse.stopped
        )

    async def _ask(
        self, batch: Sequence[StatementPair]
    ) -> tuple[Mapping[StatementPair, PairJudgement], Usage]:
        """Make one call and keep what came of it; nothing when it must not be made."""
        reserved = self._purse.reserve(_estimated(batch))
        if reserved is None:
            return {}, Usage()
        spent: list[ChatReply] = []
        try:
            judgements_by_number = await self._answered(
                build_judge_messages(batch), len(batch), spent
            )
        except ServiceUnavailable as error:
            self._purse.stop(_told(error))
            judgements_by_number = {}
        finally:
            usage = _usage(spent)
            self._purse.settle(reserved, usage)
        judgements = {
            batch[place]: judgement for place, judgement in judgements_by_number.items()
        }
        await self._keep(judgements, usage)
        return judgements, usage

    async def _answered(
        self, chat_messages: Sequence[ChatMessage], count: int, spent: list[ChatReply]
    ) -> Mapping[int, PairJudgement]:
        """Return what a reply says; one that is not as asked is asked for once more."""
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

    async def _keep(
        self, judgements: Mapping[StatementPair, PairJudgement], usage: Usage
    ) -> None:
        """Keep judgements; where that cannot be, nothing more is paid for."""
        replies = {
            self._key(pair): serialize_judgement(judgement)
            for pair, judgement in judgements.items()
        }
        try:
            if replies:
                await self._store.save_replies(replies, usage)
        except StoreProblem as error:
            self._purse.stop(_told(error))

    def _key(self, pair: StatementPair) -> str:
        """Return what a judgement depends on, and nothing else."""
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


def _estimated(batch: Sequence[StatementPair]) -> Usage:
    sent = sum(
        len(judge_message.text) for judge_message in build_judge_messages(batch)
    ) + len(build_judgement_shape().schema)
    return Usage(
        calls=1,
        prompt_tokens=-(-sent // 4),
        completion_tokens=_REPLY_TOKENS * len(batch),
    )


def _usage(replies: Sequence[ChatReply]) -> Usage:
    return Usage(
        calls=len(replies),
        prompt_tokens=sum(reply.prompt_tokens for reply in replies),
        completion_tokens=sum(reply.completion_tokens for reply in replies),
        repaired=max(0, len(replies) - 1),
    )


def _told(error: LrwrError) -> str:
    message = str(error).rstrip(".")
    return f"{message}. {error.hint}".rstrip()
