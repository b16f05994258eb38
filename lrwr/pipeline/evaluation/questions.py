"""Questions whose answers are known, as the writer keeps them in a file."""

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


class QuestionKind(StrEnum):
    """What kind of question it is, as reports group them."""

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
    """Words of a file that answer."""

    file: str
    quote: str


@dataclass(frozen=True, slots=True)
class EvalQuestion:
    """A question; `gold` is empty where the text does not answer it.

    `every` says that the answer needs all of `gold`, not any. `as_of` is a place of
    the story, as a writer says it; empty for all of it. `answer` is what a good answer
    says, empty where nobody wrote one. `spoilers` are what must not be shown at
    `as_of`. `made` says who made the question: "the writer", or what it was made from.
    `dropped` are questions that the writer does not want asked.
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
        """Whether the text answers it, there."""
        return bool(self.gold)

    @property
    def group(self) -> str:
        """Questions of one file are alike."""
        return self.gold[0].file if self.gold else f"{UNANSWERABLE} {self.id}"


@dataclass(frozen=True, slots=True)
class AnswerPlace:
    """Where an answer stands."""

    document: DocumentId
    span: Span


class LocatedText(Protocol):
    """Words of a document, wherever they were found."""

    @property
    def document(self) -> DocumentId:
        """Name the document."""
        ...

    @property
    def span(self) -> Span:
        """Tell where they stand."""
        ...


def parse_questions(text: str, name: str) -> list[EvalQuestion]:
    """Read a file of questions, one line of JSON each; `name` is what it is called.

    Raises:
        SettingsProblem: A line is no question, or an answerable one has no quote.
    """
    questions = []
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            questions.append(_question(json.loads(line), str(number)))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            reason = f"{error} is missing" if isinstance(error, KeyError) else error
            raise SettingsProblem(
                f"{name}:{number}: {reason}", hint=_EXAMPLE
            ) from error
    return questions


def serialize_questions(questions: Sequence[EvalQuestion]) -> str:
    """Return questions as a file holds them; `parse_questions` reads the same."""
    return "".join(f"{_line(question)}\n" for question in questions)


def find_quote_places(quote: str, document: DocumentId, text: str) -> list[AnswerPlace]:
    """Return where `quote` stands in a document, whatever the white space is."""
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
    """Return whether passages contain the answer: any of `gold`, or every one.

    Each of `gold` lists the places where it occurs; one of them is enough. A
    place is covered by a passage that shares at least half of the shorter of the two.
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
    """Say whether words of a document cover a place: half of the shorter is shared."""
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
        raise ValueError('"question" holds no words')
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
        raise TypeError("what answers is told in a list")
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
