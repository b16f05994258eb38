"""What a model is told when it is to ask questions, and the reply that it is to give."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType

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
from lrwr.pipeline.evaluation.questions import QuestionKind

REVISION = "1"
"""Changes with the words below and with the shape."""

_TOLD = """\
You write test questions on a novel for its author, who asks about it from memory. Write \
{number} questions from the numbered passages.
{way}
Ask in your own words, in one sentence, as somebody asks who does not have the passage \
before them: name the people and things that are meant, never say "the passage", and do \
not repeat the passage's wording.
answer: what a right answer says, in at most 30 words.
quotes: the words that answer, each with the number of its passage, 5 to 40 words, copied \
letter by letter from it.{quotes}
"""

_WAYS: Mapping[QuestionKind, str] = MappingProxyType(
    {
        QuestionKind.FACT: "Each asks for one fact that a single sentence or two tells.",
        QuestionKind.SEVERAL: "Each can be answered only from two or three passages together,"
        " and needs all of them.",
        QuestionKind.RELATIONSHIP: "Each asks how two people stand to each other: kinship,"
        " service, debt, trust, dislike, what one calls or thinks of the other.",
        QuestionKind.TIMELINE: "Each asks when something happens, how long it takes, or which of"
        " two things comes first.",
        QuestionKind.UNANSWERABLE: "Each asks for something that a reader may well want to know"
        " of the people and things in the passages, which they suggest, and which"
        " neither they nor, most likely, the rest of the book tell.",
    }
)
_NO_QUOTES = " Here there are none: leave quotes empty, and answer too."

LONGEST = 240
"""Characters of a question."""


@dataclass(frozen=True, slots=True)
class ModelQuestion:
    """A question as a model puts it; `quotes` name passages from 0. Nothing is checked."""

    question: str
    answer: str
    quotes: tuple[tuple[int, str], ...]


def build_question_messages(
    kind: QuestionKind, passages: Sequence[str], number: int
) -> list[ChatMessage]:
    """Ask for questions of one kind on passages, which are numbered from 1 and fenced."""
    quotes = _NO_QUOTES if kind is QuestionKind.UNANSWERABLE else ""
    instructions = _TOLD.format(number=number, way=_WAYS[kind], quotes=quotes)
    mark = generate_fence_mark(*passages)
    shown = "\n".join(
        wrap_in_fence(f"passage {place}", text, mark)
        for place, text in enumerate(passages, start=1)
    )
    return [
        ChatMessage("system", f"{instructions}{FENCE_RULE}"),
        ChatMessage("user", shown),
    ]


@cache
def build_question_shape(kind: QuestionKind) -> ReplyShape:
    """Return the shape of a reply with questions of one kind."""
    quote = {"passage": {"type": "integer"}, "quote": {"type": "string"}}
    row = {
        "question": {"type": "string"},
        "answer": {"type": "string"},
        "quotes": {"type": "array", "items": build_strict_schema(quote)},
    }
    fields = {"questions": {"type": "array", "items": build_strict_schema(row)}}
    name = f"Questions_{kind.value.replace('-', '_')}"
    return ReplyShape(
        name, json.dumps(build_strict_schema(fields), separators=(",", ":"))
    )


def parse_question_reply(reply: str) -> list[ModelQuestion]:
    """Return the questions of a reply, in order.

    Raises:
        MalformedReply: The reply does not keep to its shape.
    """
    match extract_json_object(reply):
        case {"questions": [*rows], **more} if not more:
            return [_row(row) for row in rows]
    raise MalformedReply("it is not an object of `questions`")


def _row(raw_question: object) -> ModelQuestion:
    match raw_question:
        case {
            "question": str(question),
            "answer": str(answer),
            "quotes": [*quotes],
            **more,
        } if not more:
            return ModelQuestion(
                flatten_reply_text(question),
                flatten_reply_text(answer),
                tuple(map(_quote, quotes)),
            )
    raise MalformedReply("a question is not `question`, `answer` and `quotes`")


def _quote(raw_quote: object) -> tuple[int, str]:
    match raw_quote:
        case {"passage": int(passage), "quote": str(quote), **more} if not more:
            return passage - 1, quote
    raise MalformedReply("a quote is not `passage` and `quote`")
