"""What a model is told of pairs, and the reply that it is asked for."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache

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
from lrwr.core.ports.models import ChatMessage, ReplyShape

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
