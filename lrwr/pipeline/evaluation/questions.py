"""Questions with known answers, and the JSON Lines file that stores them."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol
from unicodedata import normalize

from lrwr.core.model.documents import DocumentId
from lrwr.core.model.errors import SettingsProblem
from lrwr.core.model.text import Span
from lrwr.core.model.untrusted_text import parse_json


class QuestionKind(StrEnum):
    """The kind of an evaluation question, such as fact, timeline or unanswerable.

    Reports group questions by it.
    """

    FACT = "fact"
    SEVERAL = "several"
    """The answer needs several passages."""

    RELATIONSHIP = "relationship"
    TIMELINE = "timeline"
    AS_OF = "as-of"
    """Asked at a point of the story, of what is told by then."""

    UNANSWERABLE = "unanswerable"
    OTHER = "other"


UNANSWERABLE = QuestionKind.UNANSWERABLE

_EXAMPLE = (
    'Each line is JSON: {"id": "1", "question": "Who lit the lamp?", "kind": "fact",'
    ' "gold": [{"file": "chapters/01.md", "quote": "Nell lit the lamp."}]}; a question'
    ' that the text does not answer has "kind": "unanswerable" and no gold.'
)

WRITER_SOURCE = "the writer"


@dataclass(frozen=True, slots=True)
class GoldQuote:
    """Words of a file, verbatim, that answer a question.

    `file` is a document's path, or the end of it.
    """

    file: str
    quote: str


@dataclass(frozen=True, slots=True)
class EvalQuestion:
    """A question with its gold quotes: words of the text that answer it.

    `gold` is empty if the text does not answer it. `every` means that the answer needs
    all gold quotes instead of any one. `as_of` is the horizon as users write it
    (`ch3`), empty for the whole story. `answer` is the known answer, empty if nobody
    wrote one. `spoilers` are quotes that must not be shown at `as_of`. `made` is
    `WRITER_SOURCE` or the source from which the question was generated. A `dropped`
    question stays in the file and is not asked.
    """

    id: str
    text: str
    gold: tuple[GoldQuote, ...]
    every: bool = False
    as_of: str = ""
    kind: QuestionKind = QuestionKind.OTHER
    answer: str = ""
    spoilers: tuple[GoldQuote, ...] = ()
    made: str = WRITER_SOURCE
    dropped: bool = False

    @property
    def answerable(self) -> bool:
        """Whether the text answers the question, up to `as_of`."""
        return bool(self.gold)

    @property
    def group(self) -> str:
        """The name of the group of questions that are resampled together.

        It is the file of the first gold quote. A question without one is a group of its
        own.
        """
        return self.gold[0].file if self.gold else f"{UNANSWERABLE} {self.id}"


@dataclass(frozen=True, slots=True)
class AnswerPlace:
    """The document and the span of words that answer a question."""

    document: DocumentId
    span: Span


class LocatedText(Protocol):
    """Any value with a document and a span, such as a chunk or a retrieved piece."""

    @property
    def document(self) -> DocumentId:
        """The document's id."""
        ...

    @property
    def span(self) -> Span:
        """The character range in the document."""
        ...


def parse_questions(text: str, name: str) -> list[EvalQuestion]:
    """Parse a file of questions, one JSON object per line.

    `name` is the file's name in error messages.

    Raises:
        SettingsProblem: A line is not a question, or an answerable one has no gold
            quote.
    """
    questions = []
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            questions.append(_question(parse_json(line), str(number)))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            reason = f"{error} is missing" if isinstance(error, KeyError) else error
            raise SettingsProblem(
                f"{name}:{number}: {reason}", hint=_EXAMPLE
            ) from error
    return questions


def serialize_questions(questions: Sequence[EvalQuestion]) -> str:
    """Return questions as JSON Lines, the format that `parse_questions` reads."""
    return "".join(f"{_line(question)}\n" for question in questions)


def find_quote_places(quote: str, document: DocumentId, text: str) -> list[AnswerPlace]:
    """Return every place where `quote` occurs in `text`, the text of `document`, in
    text order.

    White space may differ; case and punctuation may not. Empty for an empty quote.
    """
    words = normalize("NFC", quote).split()
    pattern = r"\s+".join(re.escape(word) for word in words)
    if not pattern:
        return []
    return [AnswerPlace(document, Span(*m.span())) for m in re.finditer(pattern, text)]


def has_gold(
    passages: Sequence[LocatedText],
    gold: Sequence[Sequence[AnswerPlace]],
    *,
    every: bool,
) -> bool:
    """Return whether passages hold the answer: any gold quote, or with `every` all of
    them.

    Each item of `gold` lists the places of one gold quote (words of the text that
    answer the question). A quote is held if a passage and one of its places share at
    least half of the shorter of the two. False if `gold` is empty.
    """
    covered = [
        any(
            covers_answer_place(passage, place)
            for place in places
            for passage in passages
        )
        for places in gold
    ]
    return bool(covered) and (all(covered) if every else any(covered))


def covers_answer_place(located_text: LocatedText, place: AnswerPlace) -> bool:
    """Return whether a passage and `place` have at least half of the characters of the
    shorter of the two in common.
    """
    if located_text.document != place.document:
        return False
    start = max(located_text.span.start, place.span.start)
    end = min(located_text.span.end, place.span.end)
    return end > start and 2 * (end - start) >= min(
        len(located_text.span), len(place.span)
    )


def _question(fields: Mapping[str, object], number: str) -> EvalQuestion:
    text = fields["question"]
    if not isinstance(text, str) or not text.strip():
        raise ValueError('"question" is empty')
    answerable = fields.get(
        "answerable", fields.get("kind") != QuestionKind.UNANSWERABLE
    )
    gold = fields.get("gold") if answerable else []
    if not isinstance(gold, list) or bool(gold) != bool(answerable):
        raise ValueError('an answerable question needs "gold"')
    return EvalQuestion(
        id=str(fields.get("id", number)),
        text=text.strip(),
        gold=_golds(gold),
        every=fields.get("need") == "all",
        as_of=str(fields.get("as_of") or ""),
        kind=_kind(str(fields.get("kind", "")), answerable=bool(answerable)),
        answer=str(fields.get("answer") or ""),
        spoilers=_golds(fields.get("spoilers") or fields.get("spoiler") or []),
        made=str(fields.get("made") or WRITER_SOURCE),
        dropped=fields.get("dropped") is True,
    )


def _golds(raw_golds: object) -> tuple[GoldQuote, ...]:
    if not isinstance(raw_golds, list):
        raise TypeError('"gold" and "spoilers" must be lists')
    return tuple(
        GoldQuote(str(raw_gold["file"]), str(raw_gold["quote"]))
        for raw_gold in raw_golds
    )


def _kind(name: str, *, answerable: bool) -> QuestionKind:
    if name in set(QuestionKind):
        return QuestionKind(name)
    return QuestionKind.OTHER if answerable else QuestionKind.UNANSWERABLE


def _line(question: EvalQuestion) -> str:
    fields: dict[str, object] = {
        "id": question.id,
        "question": question.text,
        "kind": question.kind.value,
        "answer": question.answer,
        "gold": [{"file": gold.file, "quote": gold.quote} for gold in question.gold],
        "need": "all" if question.every else "",
        "as_of": question.as_of,
        "spoilers": [
            {"file": spoiler.file, "quote": spoiler.quote}
            for spoiler in question.spoilers
        ],
        "made": "" if question.made == WRITER_SOURCE else question.made,
        "dropped": question.dropped,
    }
    present_fields = {name: value for name, value in fields.items() if value}
    if not question.answerable and question.kind is not QuestionKind.UNANSWERABLE:
        present_fields["answerable"] = False
    return json.dumps(present_fields, ensure_ascii=False)
