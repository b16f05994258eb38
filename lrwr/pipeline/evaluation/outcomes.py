"""What an arm gives for a question, and what came of it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from lrwr.core.model.documents import DocumentId
from lrwr.core.model.errors import LrwrError
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


CountTokens = Callable[[Sequence[str]], list[int]]
"""How many tokens each text has, in the same order."""
CHARACTERS_A_TOKEN = 4
"""What a token is taken for where no tokenizer is at hand."""


def choose_token_counter(count: CountTokens) -> tuple[CountTokens, tuple[str, ...]]:
    """Return the token counter: `count` if it works, else an estimate and a remark on it.

    Either caches: arms get the same passages many times.
    """
    try:
        count(["a word"])
    except LrwrError as error:
        assumption = f"{CHARACTERS_A_TOKEN} characters are taken for one: {error}."
        return estimate_token_counts, (f"Tokens are estimated, {assumption}",)
    return _remembering(count), ()


def estimate_token_counts(texts: Sequence[str]) -> list[int]:
    """Take four characters for a token, and a text for one token at least."""
    return [max(1, round(len(text) / CHARACTERS_A_TOKEN)) for text in texts]


def _remembering(count: CountTokens) -> CountTokens:
    counts: dict[str, int] = {}

    def tokens(texts: Sequence[str]) -> list[int]:
        new = [text for text in dict.fromkeys(texts) if text not in counts]
        counts.update(zip(new, count(new), strict=True))
        return [counts[text] for text in texts]

    return tokens
