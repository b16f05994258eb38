"""Finds gaps: asks a language model what a question needs and the story leaves
undefined.

The model is asked after the answer, and only if that says that the text is silent, or if
the user asks for open questions. Of the gaps that the user decided on, those are found
that ask the same as a question.
"""

import asyncio
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache

from lrwr.core.bible.gaps import find_asked_attribute
from lrwr.core.bible.name_lookup import match_elements_exactly, match_people_exactly
from lrwr.core.bible.profiles import normalize_attribute
from lrwr.core.bible.values import Bible, Gap, GapState
from lrwr.core.chat.context.fact_selection import MaterialFocus, select_facts
from lrwr.core.chat.context.items import ContextItem
from lrwr.core.chat.context.material import estimate_material_tokens
from lrwr.core.chat.state import RetrievalResult, TurnQuestion
from lrwr.core.model.chunks import Passage
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
    STOP_WORDS,
    extract_capitalized_words,
    extract_content_words,
    format_seconds,
    normalize_words,
    stem_lightly,
)
from lrwr.core.model.turns import AnswerIntent, GapFlag, QuestionPlan
from lrwr.core.ports.models import ChatMessage, ChatModel, ReplyShape
from lrwr.core.settings.library import CANON_FILE_NAME

MAX_GAPS_PER_QUESTION = 3
"""Maximum number of gaps found for one question."""

GAP_PROMPT_TOKEN_BUDGET = 2_500
"""Tokens of facts and passages in the prompt, half of it for each."""

MAX_GAP_TEXT_CHARS = 240
"""Maximum length of each field of a gap except the attribute, in characters."""

MAX_ATTRIBUTE_CHARS = 80

MAX_ANSWER_CHARS = 1_200
"""Characters of the answer in the prompt."""

_GAP_PROMPT = f"""\
A novelist asks about their unfinished book. Below is what was found for it, and the \
answer. List what the question needs and the book leaves undefined, at most \
{MAX_GAPS_PER_QUESTION}, none if the answer or the text has it:
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
        self,
        question: TurnQuestion,
        plan: QuestionPlan,
        result: RetrievalResult,
        bible: Bible,
        answer: str,
    ) -> GapFinderResult:
        """Return the gaps that the model sees in `question`, as `plan` rewrites it, the
        material of `result` and the `answer`.

        Gaps about what neither `bible` nor the material names are dropped. If the model
        fails, there are no gaps and a remark says why.
        """
        try:
            async with asyncio.timeout(self._timeout):
                reply = await self._model.fill(
                    _build_messages(question, plan, result, answer), build_gaps_shape()
                )
            gaps = parse_gaps_reply(reply.text)
            texts = (question.text, *(p.chunk.text for p in result.ranked_chunks))
            return GapFinderResult(tuple(_resolve_subjects(gaps, bible, texts)))
        except TimeoutError:
            why = f"the model took more than {format_seconds(self._timeout)} (`model.plan_timeout`)"
        except MalformedReply:
            why = "the model's reply was not in the requested format"
        except ServiceUnavailable as error:
            why = str(error).rstrip(".")
        return GapFinderResult(remarks=(f"Open questions were not analysed: {why}.",))


def may_reveal_gap(
    plan: QuestionPlan, result: RetrievalResult, *, is_silent: bool
) -> bool:
    """Return whether it is worth asking a model for gaps.

    True if the answer says that the text is silent, or if `plan` says that the user
    asks for undefined things. False if meaning was left out of the search, which may
    then have missed the answer.
    """
    if result.by_words_only:
        return False
    return is_silent or plan.intent is AnswerIntent.GAP_PROBE


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


def _resolve_subjects(
    gaps: Iterable[GapFlag], bible: Bible, texts: Sequence[str]
) -> Iterator[GapFlag]:
    """Yield gaps about known characters and things, under their full names, about
    nothing, and about what one of `texts` names.
    """
    for gap in gaps:
        people = match_people_exactly(gap.about, bible) if gap.about else ()
        elements = match_elements_exactly(gap.about, bible) if gap.about else ()
        if len(people) == 1:
            yield replace(gap, about=people[0].name)
        elif elements and not people:
            yield replace(gap, about=elements[0].name)
        elif not gap.about or (
            not people and any(_names_words(text, gap.about) for text in texts)
        ):
            yield gap


def _names_words(text: str, words: str) -> bool:
    return set(extract_content_words(words)) <= set(extract_content_words(text))


def _build_messages(
    question: TurnQuestion, plan: QuestionPlan, result: RetrievalResult, answer: str
) -> Sequence[ChatMessage]:
    items = select_facts(result, MaterialFocus.of(question, plan, result))
    blocks = {
        "question": plan.question or question.text,
        "known": "\n".join(_take_fitting(map(_format_item, items))),
        "passages": "\n\n".join(
            _take_fitting(map(_format_passage, result.ranked_chunks))
        ),
        "names that stand nowhere": ", ".join(find_unknown_names(question, result)),
        "answer": answer[:MAX_ANSWER_CHARS],
    }
    mark = generate_fence_mark(*blocks.values())
    fenced_blocks = [
        wrap_in_fence(label, text, mark) for label, text in blocks.items() if text
    ]
    return [
        ChatMessage("system", _GAP_PROMPT),
        ChatMessage("user", "\n".join(fenced_blocks)),
    ]


def _format_passage(passage: Passage) -> str:
    place = f"chapter {passage.chapter}" if passage.chapter else "from the notes"
    return f"[{place}] {passage.chunk.text}"


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
    if len(quoted) > MAX_GAP_TEXT_CHARS:
        quoted = f"{quoted[:MAX_GAP_TEXT_CHARS].rpartition(' ')[0]} …"
    return f"{item.line}: “{quoted}”"


def _take_fitting(texts: Iterable[str]) -> Iterator[str]:
    """Yield the first texts that fit into half of the prompt's token budget."""
    remaining_tokens = GAP_PROMPT_TOKEN_BUDGET // 2
    for text in texts:
        remaining_tokens -= estimate_material_tokens(text)
        if remaining_tokens < 0:
            return
        yield text


LEFT_OPEN = "You left this open on purpose"

_INTERROGATIVE = re.compile(
    r"\b(who|whom|whose|what|which|where|when|why|how|whether)\b", re.IGNORECASE
)
_KINDS = {"whom": "who", "which": "what", "whether": ""}
"""Interrogatives that ask the same as another; "" is that of a yes-or-no question."""

_TOPIC_KINDS = frozenset({"what", "who", "whose"})
"""Kinds of questions that a gap in the form of a topic, such as "first name", answers."""

_MARKER = re.compile(
    r"^[\W_]*(?:(?:TODO|TBD|TBC|FIXME|TK(?:TK)*|XXX+)\b[\W_]*)+", re.IGNORECASE
)
_IDLE_WORDS = STOP_WORDS | {
    "actually",
    "decide",
    "ever",
    "exactly",
    "really",
    "whether",
}
_CONTRASTS = re.compile(r"\b(not|no|from|without)\b|n['’]t\b", re.IGNORECASE)
"""Stop words that turn a question into another one."""

_PRONOUN = re.compile(r"\b(?:she|he|her|him|they|them)\b", re.IGNORECASE)
_DO = re.compile(r"\b(?:do|does|did)\b", re.IGNORECASE)
_YES_OR_NO = re.compile(
    r"^\W*(?:is|are|was|were|do|does|did|has|have|had|can|could|will|would|may|might"
    r"|shall|should|must)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class _Inquiry:
    """What a text asks: its interrogative, the people it names, by the index of their
    names in the cast, and the stems of its other words.

    `leading` are the stems before the first person: they tell "Who saved Nell?" from
    "Who did Nell save?". None if a possessive, whose order is free, decides nothing.
    """

    kind: str
    people: tuple[int, ...]
    stems: frozenset[str]
    leading: frozenset[str] | None
    contrasts: frozenset[str]
    is_topic: bool


def select_decided_gaps(
    text: str, gaps: Iterable[Gap], cast: Sequence[Sequence[str]]
) -> Iterator[Gap]:
    """Yield those of `gaps` that the user answered or left open on purpose and that ask
    the same as the question `text`.

    The same means the same interrogative, people and content words; `cast` has all names
    of each character. An attribute, such as "age", is also recognized in a question for
    it ("How old is Nell?"). A gap whose answer a horizon hides is left out.
    """
    inquiry: _Inquiry | None = None
    for gap in gaps:
        if not gap.answer and gap.state is not GapState.DECLINED:
            continue
        inquiry = inquiry or _parse(text, cast)
        if _is_same(inquiry, text, gap, cast):
            yield gap


def format_gap_decision(gap: Gap) -> str:
    """Return the sentence that says what the user decided about `gap`."""
    text = _strip_marker(gap.attribute)
    subject = "" if not gap.about or gap.about in text else f"{gap.about}, "
    decided = f"You decided: {gap.answer}" if gap.answer else LEFT_OPEN
    return f"{decided} ({CANON_FILE_NAME}; the open question: “{subject}{text}”)"


def _strip_marker(attribute: str) -> str:
    """Return the text of a gap without the marker before it, such as "TODO:"."""
    return _MARKER.sub("", attribute) or attribute


def _is_same(
    inquiry: _Inquiry, text: str, gap: Gap, cast: Sequence[Sequence[str]]
) -> bool:
    open_text = _strip_marker(gap.attribute)
    about = _parse(gap.about, cast)
    open_inquiry = _parse(open_text, cast)
    if about.people and not (open_inquiry.is_topic or open_inquiry.people):
        open_text = _PRONOUN.sub(lambda _: gap.about, open_text, count=1)
        open_inquiry = _parse(open_text, cast)
    people, stems = open_inquiry.people, open_inquiry.stems
    if open_inquiry.is_topic:
        people = tuple(dict.fromkeys((*about.people, *people)))
    if gap.about and not about.people:
        stems |= about.stems
    if people != inquiry.people or open_inquiry.contrasts != inquiry.contrasts:
        return False
    if open_inquiry.is_topic:
        attribute = find_asked_attribute(text)
        same = normalize_attribute(attribute) == normalize_attribute(gap.attribute)
        return (bool(attribute) and same and bool(people)) or (
            bool(stems) and inquiry.kind in _TOPIC_KINDS and stems == inquiry.stems
        )
    return (inquiry.kind, inquiry.stems) == (open_inquiry.kind, stems) and (
        not people or inquiry.leading == open_inquiry.leading
    )


def _parse(text: str, cast: Sequence[Sequence[str]]) -> _Inquiry:
    index_by_name = {
        name.casefold(): index for index, names in enumerate(cast) for name in names
    }
    lowered = text.casefold()
    present = sorted((n for n in index_by_name if n in lowered), key=len, reverse=True)
    names = "|".join(map(re.escape, present)) or r"(?!)"
    matches = list(
        re.finditer(rf"(?<!\w)(?P<name>{names})(?P<of>['’]s?)?(?!\w)", text, re.I)
    )
    rest = [text[: matches[0].start()] if matches else text]
    rest += [
        text[match.end() : after]
        for match, after in zip(
            matches, [*(m.start() for m in matches[1:]), len(text)], strict=False
        )
    ]
    is_possessive = any(
        match["of"] or re.search(r"\bof (?:the )?$", text[: match.start()])
        for match in matches
    )
    interrogative = _INTERROGATIVE.search(text)
    kind = interrogative[1].casefold() if interrogative else ""
    is_question = bool(interrogative or _YES_OR_NO.search(text))
    is_order_free = is_possessive and not _DO.search(text)
    return _Inquiry(
        kind=_KINDS.get(kind, kind),
        people=tuple(
            dict.fromkeys(index_by_name[m["name"].casefold()] for m in matches)
        ),
        stems=_extract_stems(" ".join(rest)),
        leading=None if is_order_free else _extract_stems(rest[0]),
        contrasts=frozenset(
            (match[1] or "not").casefold() for match in _CONTRASTS.finditer(text)
        ),
        is_topic=not is_question,
    )


def _extract_stems(text: str) -> frozenset[str]:
    return frozenset(
        stem_lightly(word) for word in normalize_words(text) if word not in _IDLE_WORDS
    )
