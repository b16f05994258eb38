"""The text that an arm retrieves for a question, and the measured outcome."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from lrwr.core.model.documents import DocumentId
from lrwr.core.model.errors import LrwrError
from lrwr.core.model.text import Span
from lrwr.pipeline.evaluation.questions import EvalQuestion, QuestionKind


@dataclass(frozen=True, slots=True)
class ContextPiece:
    """A verbatim piece of a document that was retrieved for a question.

    `tokens` is the number of tokens of `text`, by the embedding model's tokenizer.
    """

    document: DocumentId
    span: Span
    text: str
    tokens: int


@dataclass(frozen=True, slots=True)
class RetrievedContext:
    """All pieces that an arm (way of retrieving text) retrieves for a question, best
    first.

    `seconds` is the duration of the retrieval. `low` says whether the confidence of the
    search was low; None if it made no estimate.
    """

    pieces: tuple[ContextPiece, ...]
    seconds: float
    low: bool | None = None


class Arm(Protocol):
    """One way of retrieving text for questions, such as a pipeline's search.
    Evaluations compare arms.
    """

    @property
    def name(self) -> str:
        """The short name of this way of retrieving text, the same in every run."""
        ...

    @property
    def description(self) -> str:
        """A sentence that describes this way of retrieving text."""
        ...

    @property
    def recipe(self) -> str:
        """A text that changes with anything that the results depend on besides the
        library and the question; part of keys of stored results.
        """
        ...

    async def retrieve(self, question: EvalQuestion) -> RetrievedContext:
        """Return the text retrieved for a question, within the question's horizon, best
        first.

        Raises:
            NotFound: The question's horizon does not exist in the story.
            StoreProblem: The library cannot be read.
        """
        ...


@dataclass(frozen=True, slots=True)
class QuestionOutcome:
    """The figures (measured values) of one question in one arm (way of retrieving
    text).

    `question` is its id. `figures` are by name, each 0.0 to 1.0 except `seconds`,
    `tokens` and `dollars`. `failed` maps figures that could not be measured to the
    reason; they never count as 0. A figure in neither does not apply.
    """

    arm: str
    question: str
    kind: QuestionKind
    figures: Mapping[str, float]
    failed: Mapping[str, str] = field(default_factory=dict)


def cut_to_token_budget(
    pieces: Sequence[ContextPiece], budget: int
) -> list[ContextPiece]:
    """Return the first `pieces` that fit into `budget` tokens; the last one is cut at
    its end if necessary.

    Tokens of the cut piece are estimated: its characters are cut in proportion.
    """
    context_pieces: list[ContextPiece] = []
    for piece in pieces:
        remaining = budget - sum(
            context_piece.tokens for context_piece in context_pieces
        )
        if remaining <= 0:
            break
        context_pieces.append(
            piece if piece.tokens <= remaining else _cut_piece(piece, remaining)
        )
    return context_pieces


def _cut_piece(piece: ContextPiece, tokens: int) -> ContextPiece:
    length = int(len(piece.text) * tokens / piece.tokens)
    span = Span(piece.span.start, piece.span.start + length)
    return ContextPiece(piece.document, span, piece.text[:length], tokens)


CountTokens = Callable[[Sequence[str]], list[int]]
"""Returns the number of tokens of each text, in order."""
CHARACTERS_A_TOKEN = 4
"""Estimated length of a token without a tokenizer."""


def choose_token_counter(count: CountTokens) -> tuple[CountTokens, tuple[str, ...]]:
    """Return a function that counts tokens, and remarks for the user.

    It is `count` with a cache by text, because arms return the same passages many
    times. If `count` raises an `LrwrError`, it is `estimate_token_counts`, and a remark
    says so.
    """
    try:
        count(["a word"])
    except LrwrError as error:
        remark = (
            f"Tokens are estimated at {CHARACTERS_A_TOKEN} characters each: {error}."
        )
        return estimate_token_counts, (remark,)
    return _cached(count), ()


def estimate_token_counts(texts: Sequence[str]) -> list[int]:
    """Return the estimated number of tokens of each text, in the order of `texts`.

    One token per four characters, at least 1.
    """
    return [max(1, round(len(text) / CHARACTERS_A_TOKEN)) for text in texts]


def _cached(count: CountTokens) -> CountTokens:
    counts: dict[str, int] = {}

    def tokens(texts: Sequence[str]) -> list[int]:
        new = [text for text in dict.fromkeys(texts) if text not in counts]
        counts.update(zip(new, count(new), strict=True))
        return [counts[text] for text in texts]

    return tokens
