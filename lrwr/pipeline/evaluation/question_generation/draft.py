"""A question as it is drafted, before it is chosen and its words are checked."""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256

from lrwr.pipeline.evaluation.question_generation.source_material import SourceMaterial
from lrwr.pipeline.evaluation.questions import AnswerPlace, EvalQuestion, QuestionKind

_ID_LENGTH = 10
_SHORTEST = 12
"""Characters below which words are no evidence of anything."""


@dataclass(frozen=True, slots=True)
class QuestionDraft:
    """A question and the places that answer it.

    `about` are whom and what it asks about, plain; no two chosen questions of a kind
    ask about the same. `as_of` is a chapter's number, 0 for none; `spoilers` are what
    answers only after it.
    """

    kind: QuestionKind
    text: str
    places: tuple[AnswerPlace, ...]
    made: str
    answer: str = ""
    every: bool = False
    about: tuple[str, ...] = ()
    as_of: int = 0
    spoilers: tuple[AnswerPlace, ...] = ()


@dataclass(frozen=True, slots=True)
class GeneratedQuestions:
    """Questions that were made; `remarks` are sentences on what could not be."""

    questions: tuple[EvalQuestion, ...]
    remarks: tuple[str, ...] = ()


def make_question_id(kind: QuestionKind, text: str, as_of: str = "") -> str:
    """Return a question's id, a hash of its kind, text and horizon, stable across runs."""
    hash_input = "\n".join((kind.value, text, as_of) if as_of else (kind.value, text))
    return f"{kind.value}-{sha256(hash_input.encode()).hexdigest()[:_ID_LENGTH]}"


def question_from_draft(
    draft: QuestionDraft, material: SourceMaterial
) -> EvalQuestion | None:
    """Return a draft as a question.

    None if a quote it rests on is too short, or occurs twice in its file.
    """
    golds = [material.gold(place) for place in draft.places]
    spoilers = [material.gold(place) for place in draft.spoilers]
    golds_and_spoilers = [
        gold for gold in (*golds, *spoilers) if gold and len(gold.quote) >= _SHORTEST
    ]
    if len(golds_and_spoilers) < len(golds) + len(spoilers):
        return None
    text = material.worded(draft.text)
    as_of = f"ch{draft.as_of}" if draft.as_of else ""
    return EvalQuestion(
        id=make_question_id(draft.kind, text, as_of),
        text=text,
        gold=tuple(golds_and_spoilers[: len(golds)]),
        every=draft.every,
        as_of=as_of,
        kind=draft.kind,
        answer=draft.answer,
        spoilers=tuple(golds_and_spoilers[len(golds) :]),
        made=draft.made,
    )


def has_overlap(places: Sequence[AnswerPlace], used: Sequence[AnswerPlace]) -> bool:
    """Say whether two of these places share a character."""
    return any(
        place.document == other.document
        and place.span.start < other.span.end
        and other.span.start < place.span.end
        for place in places
        for other in used
    )
