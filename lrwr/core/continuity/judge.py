"""Lets a language model judge pairs of statements: prompts, replies and their format."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from typing import TypeAlias

from lrwr.core.batch_judge import (
    BatchJudge,
    BatchJudgeEstimate,
    BatchJudgeResult,
    JudgeBudget,
)
from lrwr.core.continuity.pairs import StatementPair
from lrwr.core.model.language_model import (
    FENCE_RULE,
    MalformedReply,
    build_strict_schema,
    extract_json_object,
    flatten_reply_text,
    generate_fence_mark,
    wrap_in_fence,
)
from lrwr.core.ports.models import ChatMessage, ChatModel, ReplyShape
from lrwr.core.ports.stores import AnalysisStore

JUDGE_PROMPT_REVISION = "1"
"""Version of prompt and schema; part of the cache key of judgements."""
PAIRS_PER_CALL = 5
"""Pairs per call."""
MAX_REASON_WORDS = 20
"""Maximum words of a stored reason."""
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

PairJudgeEstimate: TypeAlias = BatchJudgeEstimate
PairJudgeResult: TypeAlias = BatchJudgeResult[StatementPair, PairJudgement]


class _PairFormat:
    """How pairs of statements are sent to a language model, and its judgements read."""

    per_call = PAIRS_PER_CALL
    most_per_run = MAX_PAIRS_PER_RUN
    reply_tokens = _REPLY_TOKENS

    def build_messages(self, items: Sequence[StatementPair]) -> list[ChatMessage]:
        """Return the prompt about several pairs."""
        return build_judge_messages(items)

    def shape(self) -> ReplyShape:
        """Return the format of a reply."""
        return build_judgement_shape()

    def parse(
        self, reply: str, items: Sequence[StatementPair]
    ) -> Mapping[int, PairJudgement]:
        """Return the judgements in `reply`, by index of the pair."""
        return parse_judgements(reply, len(items))

    def serialize(self, judgement: PairJudgement) -> str:
        """Return a judgement as text, for storage."""
        return serialize_judgement(judgement)

    def deserialize(self, text: str) -> PairJudgement:
        """Return the judgement that `serialize` turned into `text`."""
        return deserialize_judgement(text)

    def list_key_parts(self, item: StatementPair) -> list[str]:
        """Return all that a judgement depends on, besides the model."""
        texts = [item.about, item.attribute, item.canon.text, item.found.text]
        return ["continuity", JUDGE_PROMPT_REVISION, *texts]


class PairJudge(BatchJudge[StatementPair, PairJudgement]):
    """Lets a language model judge pairs of statements, and stores each judgement.

    A stored judgement is reused while both passages, the model and the prompt are the
    same. `budget` limits what a run may cost.
    """

    def __init__(
        self, chat: ChatModel, store: AnalysisStore, budget: JudgeBudget
    ) -> None:
        super().__init__(chat, store, budget, _PairFormat())
