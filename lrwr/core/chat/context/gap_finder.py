"""Finds gaps: asks a language model what a question needs and the story leaves
undefined.

The model is asked only if the search is unsure, the user asks for open questions, or a
known gap shares a word with the question.
"""

import asyncio
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache

from lrwr.core.bible.name_lookup import match_elements_exactly, match_people_exactly
from lrwr.core.bible.values import Bible
from lrwr.core.chat.context.items import ContextItem, collect_context_items
from lrwr.core.chat.context.material import estimate_material_tokens
from lrwr.core.chat.state import RetrievalResult, TurnQuestion
from lrwr.core.model.errors import ServiceUnavailable
from lrwr.core.model.language_model import (
    FENCE_RULE,
    MalformedReply,
    build_strict_schema,
    extract_json_object,
    flatten_reply_text,
    generate_fence_mark,
    wrap_in_fence,
)
from lrwr.core.model.text import (
    WORD_PATTERN,
    extract_capitalized_words,
    extract_content_words,
    format_seconds,
    normalize_word,
    stem_lightly,
)
from lrwr.core.model.turns import AnswerIntent, GapFlag, QuestionPlan
from lrwr.core.ports.models import ChatMessage, ChatModel, ReplyShape

MAX_GAPS_PER_QUESTION = 3
"""Maximum number of gaps found for one question."""

GAP_PROMPT_TOKEN_BUDGET = 2_500
"""Tokens of facts and passages in the prompt, half of it for each."""

MAX_GAP_TEXT_CHARS = 240
"""Maximum length of each field of a gap except the attribute, in characters."""

MAX_ATTRIBUTE_CHARS = 80

_GAP_PROMPT = f"""\
A novelist asks about their unfinished book. Below is all that was found for it. List \
what the question needs and the book leaves undefined, at most {MAX_GAPS_PER_QUESTION}, none if all is \
defined:
about: the character or thing it is an attribute of, as named below, else empty.
undefined_attribute: two to five words, as "favourite colour".
what_is_implied: what the text found lets one infer, empty if nothing.
development_suggestion: one way in which the novelist could define it.
Never answer the question. Reply with JSON.
{FENCE_RULE}"""


@dataclass(frozen=True, slots=True)
class GapFinderResult:
    """The gaps found for one question; if the model failed, none and a remark that says
    why.
    """

    gaps: tuple[GapFlag, ...] = ()
    remarks: tuple[str, ...] = ()


class GapFinder:
    """Asks a language model what a question needs and the story leaves undefined.

    `timeout`, in seconds, limits the model's reply. Nothing is stored here: gaps are
    stored with their turn.
    """

    def __init__(self, model: ChatModel, timeout: float) -> None:
        self._model = model
        self._timeout = timeout

    async def find(
        self, question: TurnQuestion, result: RetrievalResult, bible: Bible
    ) -> GapFinderResult:
        """Return the gaps that the model sees in `question` and the material of
        `result`.

        Gaps about characters that `bible` does not know are dropped. If the model
        fails, there are no gaps and a remark says why.
        """
        try:
            async with asyncio.timeout(self._timeout):
                reply = await self._model.fill(
                    _build_messages(question, result), build_gaps_shape()
                )
            return GapFinderResult(
                tuple(_resolve_characters(parse_gaps_reply(reply.text), bible))
            )
        except TimeoutError:
            why = f"the model took more than {format_seconds(self._timeout)} (`model.plan_timeout`)"
        except MalformedReply:
            why = "the model's reply was not in the requested format"
        except ServiceUnavailable as error:
            why = str(error).rstrip(".")
        return GapFinderResult(remarks=(f"Open questions were not analysed: {why}.",))


def may_reveal_gap(
    question: TurnQuestion, plan: QuestionPlan, result: RetrievalResult
) -> bool:
    """Return whether it is worth asking a model for gaps.

    True if the search has low confidence, `plan` says that the user asks for undefined
    things, or the attribute of a gap in `result` shares a word with the question. False
    if meaning was left out of the search, which may then have missed the answer.
    """
    if result.by_words_only:
        return False
    if result.low_confidence or plan.intent is AnswerIntent.GAP_PROBE:
        return True
    question_stems = {
        stem_lightly(word) for word in extract_content_words(question.text)
    }
    return any(
        not question_stems.isdisjoint(_extract_stems(gap.attribute))
        for gap in result.gaps
    )


@cache
def build_gaps_shape() -> ReplyShape:
    """Return the JSON schema of the reply: an object whose `gaps` are a list of
    objects.

    Each has the texts `about`, `undefined_attribute`, `what_is_implied` and
    `development_suggestion`.
    """
    text = {"type": "string"}
    fields = (
        "about", "undefined_attribute", "what_is_implied", "development_suggestion",
    )  # fmt: skip
    item = build_strict_schema(dict.fromkeys(fields, text))
    shape = build_strict_schema({"gaps": {"type": "array", "items": item}})
    return ReplyShape("Gaps", json.dumps(shape, separators=(",", ":")))


def parse_gaps_reply(reply: str) -> list[GapFlag]:
    """Return the gaps in a model's `reply`, at most `MAX_GAPS_PER_QUESTION`, in its
    order.

    Gaps without an attribute are dropped; too long fields are cut.

    Raises:
        MalformedReply: The reply does not have the requested shape.
    """
    match extract_json_object(reply):
        case {"gaps": [*gaps]}:
            gap_flags = [_parse_gap(gap) for gap in gaps]
        case _:
            raise MalformedReply("it is not an object of `gaps`")
    return [gap for gap in gap_flags if gap.undefined_attribute][:MAX_GAPS_PER_QUESTION]


def _parse_gap(item: object) -> GapFlag:
    match item:
        case {
            "about": str(about),
            "undefined_attribute": str(attribute),
            "what_is_implied": str(implied),
            "development_suggestion": str(suggestion),
        }:
            return GapFlag(
                flatten_reply_text(about),
                flatten_reply_text(attribute)[:MAX_ATTRIBUTE_CHARS],
                flatten_reply_text(implied)[:MAX_GAP_TEXT_CHARS],
                flatten_reply_text(suggestion)[:MAX_GAP_TEXT_CHARS],
            )
    raise MalformedReply("a gap does not have its four fields")


def _resolve_characters(gaps: Iterable[GapFlag], bible: Bible) -> Iterator[GapFlag]:
    """Yield gaps about known characters, under their full names, and gaps about known
    things or nothing.
    """
    for gap in gaps:
        people = match_people_exactly(gap.about, bible) if gap.about else ()
        elements = match_elements_exactly(gap.about, bible) if gap.about else ()
        if len(people) == 1:
            yield replace(gap, about=people[0].name)
        elif elements and not people:
            yield replace(gap, about=elements[0].name)
        elif not gap.about:
            yield gap


def _build_messages(
    question: TurnQuestion, result: RetrievalResult
) -> Sequence[ChatMessage]:
    blocks = {
        "question": question.text,
        "known": "\n".join(
            _take_fitting(map(_format_item, collect_context_items(result)))
        ),
        "passages": "\n\n".join(
            _take_fitting(p.chunk.text for p in result.ranked_chunks)
        ),
        "names that stand nowhere": ", ".join(find_unknown_names(question, result)),
    }
    mark = generate_fence_mark(*blocks.values())
    fenced_blocks = [
        wrap_in_fence(label, text, mark) for label, text in blocks.items() if text
    ]
    return [
        ChatMessage("system", _GAP_PROMPT),
        ChatMessage("user", "\n".join(fenced_blocks)),
    ]


def find_unknown_names(
    question: TurnQuestion, result: RetrievalResult
) -> tuple[str, ...]:
    """Return the unknown words of `question` that are written as names.

    That another word is missing says little: the text may put it otherwise.
    """
    capitalized_words = frozenset(extract_capitalized_words(question.text))
    return tuple(word for word in result.unknown if word in capitalized_words)


def _format_item(item: ContextItem) -> str:
    """Return the item on one line, with the words of its first evidence."""
    quoted = " ".join(item.evidence[0].text.split()) if item.evidence else ""
    if not quoted or quoted in item.line:
        return item.line
    return f"{item.line}: “{quoted[:MAX_GAP_TEXT_CHARS]}”"


def _take_fitting(texts: Iterable[str]) -> Iterator[str]:
    """Yield the first texts that fit into half of the prompt's token budget."""
    remaining_tokens = GAP_PROMPT_TOKEN_BUDGET // 2
    for text in texts:
        remaining_tokens -= estimate_material_tokens(text)
        if remaining_tokens < 0:
            return
        yield text


def _extract_stems(text: str) -> set[str]:
    return {stem_lightly(normalize_word(word)) for word in WORD_PATTERN.findall(text)}
