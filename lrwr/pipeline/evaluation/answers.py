"""Answers to evaluation questions, from an arm's passages or from a turn of a thread."""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

from lrwr.core.model.documents import DocumentId
from lrwr.core.model.errors import ServiceUnavailable
from lrwr.core.model.language_model import (
    FENCE_RULE,
    MalformedReply,
    Usage,
    build_strict_schema,
    extract_json_object,
    generate_fence_mark,
    wrap_in_fence,
)
from lrwr.core.model.text import LineRange, Span
from lrwr.core.model.turns import NO_CLEAR_ANSWER, NOT_MENTIONED, Citation, Turn
from lrwr.core.ports.models import (
    ChatMessage,
    ChatModel,
    GroundedAnswer,
    ReplyShape,
)
from lrwr.core.ports.stores import DocumentText
from lrwr.pipeline.evaluation.outcomes import ContextPiece

TRIES = 2
"""Calls until a reply can be parsed."""

_RULES = f"""\
{FENCE_RULE}
You answer a question about a novelist's book, briefly and plainly, from the numbered \
passages alone; never from what you know of this book or any other.
answer: after each sentence put the number of the passage it rests on, as in [2] or \
[1][3]. Quote word for word, in “…”, or do not quote.
told: whether the passages tell what is asked. Where they do not, say in one sentence \
that the text does not tell, and claim nothing else."""

_NO_PASSAGE = "No passage was found."
_HORIZON_NOTE = "The story is read as far as {as_of}; speak of nothing later."

_MARK = re.compile(r"\[\s*(\d{1,6}(?:\s*[,;–-]\s*\d{1,6})*)\s*\]")
_NUMBERS = re.compile(r"(\d+)(?:\s*[–-]\s*(\d+))?")

_LONGEST_RANGE = 50
"""Longest range of numbers: "[1800-1900]" does not cite passages."""

_SENTENCE_END = re.compile(
    r"(?<!\bMr)(?<!\bMrs)(?<!\bMs)(?<!\bDr)(?<!\bSt)[.!?]+['\"’”)]*(?=\s|\Z)|\n"
)
_TEXT = (
    r"\b(?:text|story|manuscript|novel|book|chapters?|pages?|passages?|excerpts?"
    r"|material)\b"
)
_TELL = (
    r"\b(?:say|tell|mention|state|name|give|describe|specify|specifie|reveal|explain"
    r"|define|record|indicate|answer|address|show)(?:s|e?d|n)?\b"
)
_TOLD = (
    r"\b(?:said|told|mentioned|stated|named|given|described|specified|revealed"
    r"|explained|defined|recorded|indicated|answered|addressed|shown)\b"
)
_NOT = r"(?:\b(?:not|never|nowhere)\b|n['’]t\b)"
_ABSTENTION = re.compile(
    rf"{_TEXT}.*?{_NOT}\s+(?:\w+\s+){{0,2}}?{_TELL}"
    rf"|{_TEXT}.*?(?:\bsilent\b|\bleaves?\b.*\b(?:open|undefined|unsaid)\b)"
    rf"|{_NOT}\s+(?:\w+\s+)?{_TOLD}.*?{_TEXT}"
    rf"|^\W*(?:it|this|that)\s+(?:is|was)\s*{_NOT}\s+(?:\w+\s+)?{_TOLD}"
    rf"|\b(?:nothing|nobody|no|none)\b.*?{_TEXT}.*?{_TELL}"
    rf"|\bno(?:t any)? mention of\b",
    re.IGNORECASE,
)
"""Sentence saying that the text does not tell (English)."""

_MAY = re.compile(r"\b(?:may|might)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ReaderInput:
    """A question with the retrieved text from which it is to be answered.

    `as_of` is the horizon as users write it, empty for the whole story. `pieces` are
    already cut to a token budget, best first. `texts` are the documents that contain
    them, to compute line numbers.
    """

    question: str
    as_of: str
    pieces: Sequence[ContextPiece]
    texts: Mapping[DocumentId, DocumentText]

    @property
    def contexts(self) -> tuple[str, ...]:
        """The texts of the retrieved pieces, best first."""
        return tuple(piece.text for piece in self.pieces)


@dataclass(frozen=True, slots=True)
class ContextReader:
    """Answers questions from retrieved text with a language model.

    The prompt is the same for all arms (ways of retrieving text). `price` returns the
    price of a usage in US dollars, None if unknown. `clock` returns seconds. `mark`
    generates the delimiter around passages; no passage contains it.
    """

    chat: ChatModel
    price: Callable[[Usage], float | None]
    clock: Callable[[], float]
    mark: Callable[..., str] = generate_fence_mark

    @property
    def name(self) -> str:
        """The name of the language model that answers."""
        return self.chat.name

    async def read(self, reader_input: ReaderInput) -> GroundedAnswer:
        """Ask the model for an answer; ask once more if the reply cannot be parsed.

        Raises:
            ServiceUnavailable: The model did not answer, or malformed twice.
        """
        began = self.clock()
        messages = _build_messages(reader_input, self.mark)
        usage = Usage()
        for _ in range(TRIES):
            reply = await self.chat.fill(messages, _reply_shape())
            usage += reply.usage
            try:
                text, is_told = _parse_reply(reply.text)
            except MalformedReply:
                usage += Usage(repaired=1)
                continue
            return GroundedAnswer(
                text=text,
                citations=_build_citations(text, reader_input),
                contexts=reader_input.contexts,
                says_gap=not is_told,
                seconds=self.clock() - began,
                usage=usage,
                price=self.price(usage),
            )
        raise ServiceUnavailable(
            f"{self.name} did not answer in the requested format",
            hint="Use a model that supports JSON schemas.",
        )


def build_answer_from_turn(
    turn: Turn, citations: Sequence[Citation], seconds: float
) -> GroundedAnswer:
    """Convert a turn of a thread to an answer that can be measured.

    `citations` are all that were retrieved for it; `seconds` is its duration. Without a
    model, the answer says "the text does not answer this" if the turn has a gap or the
    answer says that it found none. A model's answer says so if the turn has a gap and no citation, or in words (see
    `is_abstention`): beside citations, a gap is only one more open question.
    """
    output = turn.output
    says_gap = bool(output.gap_flags)
    if not output.model:
        sentences = _SENTENCE_END.split(output.response_text)
        says_gap = says_gap or any(map(_states_not_found, sentences))
    else:
        cites = bool(output.citations)
        says_gap = (says_gap and not cites) or is_abstention(
            output.response_text, cites=cites
        )
    contexts = [citation.text for citation in citations] or [
        citation.text for citation in output.citations
    ]
    return GroundedAnswer(
        text=output.response_text,
        citations=output.citations,
        contexts=tuple(dict.fromkeys(contexts)),
        says_gap=says_gap,
        seconds=seconds,
        doubts=output.low_confidence is True,
        usage=turn.usage,
        price=turn.price,
    )


def _states_not_found(sentence: str) -> bool:
    return sentence.lstrip().startswith((NO_CLEAR_ANSWER, NOT_MENTIONED))


def is_abstention(answer: str, *, cites: bool) -> bool:
    """Return whether an answer says that the text does not answer the question.

    Only English phrases such as "the text does not say" count; with "may" or "might"
    they do not. If the answer `cites` passages, only its first sentence is checked:
    later ones may name further open questions.
    """
    parts = _SENTENCE_END.split(strip_citation_numbers(answer))
    sentences = [part for part in parts if part.strip()]
    relevant_sentences = sentences[:1] if cites else sentences
    return any(
        _ABSTENTION.search(sentence) and not _MAY.search(sentence)
        for sentence in relevant_sentences
    )


def strip_citation_numbers(answer: str) -> str:
    """Return an answer without citation numbers such as `[1]` or `[2, 3]`."""
    return _MARK.sub("", answer)


def parse_cited_numbers(answer: str) -> list[int]:
    """Return the citation numbers in an answer, ascending and without duplicates.

    A range such as `[2-4]` stands for all of its numbers.
    """
    numbers: set[int] = set()
    for mark in _MARK.finditer(answer):
        for first, last in _NUMBERS.findall(mark[1]):
            low, high = int(first), int(last or first)
            if high - low <= _LONGEST_RANGE:
                numbers.update(range(low, high + 1))
            numbers.add(low)
    return sorted(numbers)


def _build_messages(
    reader_input: ReaderInput, mark: Callable[..., str]
) -> list[ChatMessage]:
    return [
        ChatMessage("system", _RULES),
        ChatMessage(
            "user",
            "\n\n".join(_format_input(reader_input, mark(*reader_input.contexts))),
        ),
    ]


def _format_input(reader_input: ReaderInput, mark: str) -> Iterator[str]:
    for number, text in enumerate(reader_input.contexts, start=1):
        yield wrap_in_fence(f"passage {number}", text, mark)
    if not reader_input.pieces:
        yield _NO_PASSAGE
    if reader_input.as_of:
        yield _HORIZON_NOTE.format(as_of=reader_input.as_of)
    yield f"The question: {reader_input.question.strip()}"


@cache
def _reply_shape() -> ReplyShape:
    strict_schema = build_strict_schema(
        {"answer": {"type": "string"}, "told": {"type": "boolean"}}
    )
    return ReplyShape("Answer", json.dumps(strict_schema, separators=(",", ":")))


def _parse_reply(reply: str) -> tuple[str, bool]:
    json_object = extract_json_object(reply)
    text = json_object.get("answer") if isinstance(json_object, dict) else None
    is_told = json_object.get("told") if isinstance(json_object, dict) else None
    if not isinstance(text, str) or not isinstance(is_told, bool) or not text.strip():
        raise MalformedReply(
            "it has no answer, or does not say whether the text tells it"
        )
    return text.strip(), is_told


def _build_citations(text: str, reader_input: ReaderInput) -> tuple[Citation, ...]:
    return tuple(
        _build_citation(number, reader_input) for number in parse_cited_numbers(text)
    )


def _build_citation(number: int, reader_input: ReaderInput) -> Citation:
    """Return the cited passage; without text if the number is out of range."""
    nothing = Citation(number, DocumentId(""), Span(0, 0), LineRange(0, 0), "", None)
    if not 0 < number <= len(reader_input.pieces):
        return nothing
    piece = reader_input.pieces[number - 1]
    return replace(
        nothing,
        document=piece.document,
        span=piece.span,
        lines=reader_input.texts[piece.document].lines.lines_of(piece.span),
        text=piece.text,
    )
