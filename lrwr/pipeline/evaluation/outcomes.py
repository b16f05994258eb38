"""What an arm gives for a question, and what came of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from lrwr.core.model.documents import DocumentId
from lrwr.core.model.text import Span
from lrwr.pipeline.evaluation.questions import EvalQuestion, QuestionKind


@dataclass(frozen=True, slots=True)
class ContextPiece:
    """Words of a document, verbatim, that are given for a question.

    `tokens` are the embedding model's, of the text alone.
    """

    document: DocumentId
    span: Span
    text: str
    tokens: int


@dataclass(frozen=True, slots=True)
class RetrievedContext:
    """What an arm gives for one question, best first, as much as it has.

    `seconds` is how long that took. `low` says whether the evidence was called weak;
    None where that was not evaluated.
    """

    pieces: tuple[ContextPiece, ...]
    seconds: float
    low: bool | None = None


class Arm(Protocol):
    """One way of finding what a question needs; arms are compared with each other."""

    @property
    def name(self) -> str:
        """Name the arm, in a word or two, the same in every run."""
        ...

    @property
    def told(self) -> str:
        """Say in a sentence what it does."""
        ...

    @property
    def recipe(self) -> str:
        """Tell all that its results depend on beside the library and the question."""
        ...

    async def give(self, question: EvalQuestion) -> RetrievedContext:
        """Return what it finds, within the question's horizon.

        Raises:
            NotFound: The question names a place that the story does not have.
            StoreProblem: The library cannot be read.
        """
        ...


@dataclass(frozen=True, slots=True)
class QuestionOutcome:
    """What came of one question in one arm.

    `figures` are by name, each 0.0 to 1.0 unless the name says otherwise (`seconds`,
    `tokens`, `dollars`). `failed` are figures that were tried and not got, with the
    reason: they count as failed, never as 0. What is in neither was not tried.
    """

    arm: str
    question: str
    kind: QuestionKind
    figures: Mapping[str, float]
    failed: Mapping[str, str] = field(default_factory=dict)


def cut_to_token_budget(
    pieces: Sequence[ContextPiece], budget: int
) -> list[ContextPiece]:
    """Return the first pieces that fill so many tokens; the last is cut to fit.

    It is cut by its share of characters, at its end.
    """
    context_pieces: list[ContextPiece] = []
    for piece in pieces:
        remaining = budget - sum(
            context_piece.tokens for context_piece in context_pieces
        )
        if remaining <= 0:
            break
        context_pieces.append(
            piece if piece.tokens <= remaining else _cut(piece, remaining)
        )
    return context_pieces


def _cut(piece: ContextPiece, tokens: int) -> ContextPiece:
    length = int(len(piece.text) * tokens / piece.tokens)
    span = Span(piece.span.start, piece.span.start + length)
    return ContextPiece(piece.document, span, piece.text[:length], tokens)
