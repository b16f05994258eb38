"""Retrieval figures: retrieved text compared with the places of gold quotes.

Recall, precision and intersection over union are of characters, as Smith and Troynikov
measure chunking ("Evaluating Chunking Strategies for Retrieval", 2024), except that
text retrieved twice counts once and that they are taken at equal token budgets.
MRR is Voorhees's (TREC-8, 1999), nDCG Järvelin and Kekäläinen's (2002).
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import log2

from lrwr.core.model.documents import DocumentId
from lrwr.core.model.errors import NotFound
from lrwr.core.model.language_model import Usage
from lrwr.core.model.text import Span
from lrwr.core.ports.stores import PassageStore
from lrwr.core.retrieval.story import StoryOrder, is_within_scope
from lrwr.pipeline.evaluation.outcomes import (
    Arm,
    ContextPiece,
    RetrievedContext,
    cut_to_token_budget,
)
from lrwr.pipeline.evaluation.questions import (
    AnswerPlace,
    EvalQuestion,
    GoldQuote,
    covers_answer_place,
    find_quote_places,
)
from lrwr.pipeline.evaluation.variants import (
    WHOLE_TEXT_NAME,
    IndexedLibrary,
    WholeTextArm,
)

RANKS = (1, 5, 10)
"""Ranks at which hits are counted."""
DEEPEST = 10
"""Last rank that nDCG counts."""


def compute_retrieval_figures(
    retrieved_context: RetrievedContext,
    gold: Sequence[Sequence[AnswerPlace]],
    *,
    every: bool,
    budgets: Sequence[int],
    late: Callable[[ContextPiece], bool] | None,
) -> dict[str, float]:
    """Return the retrieval figures (measured values) of one question by name.

    `gold` holds, for each gold quote (words of the text that answer the question), the
    places where it occurs, at least one; any place counts. `every` means that the
    answer needs all quotes. Without gold only `leak`, `tokens` and `seconds` are
    returned. `budgets` are in tokens, at least one. `late` returns whether a piece
    comes after the horizon, None without a horizon.

    - `recall@N`: share of the gold characters within the first N tokens; of all quotes
      together if all are needed, else of the best one.
    - `precision@N`: share of the retrieved characters that belong to any gold quote.
    - `iou@N`: characters in both over characters in either, chosen as for `recall@N`.
    - `hit@k`: 1.0 if one of the first k pieces covers any quote.
    - `mrr`: 1 / rank of the first piece that covers a quote.
    - `ndcg@10`: each quote counts 1 / log2(rank + 1) at the first piece that covers it,
      divided by the best possible sum, at most 1.0. If any quote suffices, only the
      best one counts.
    - `leak`: 1.0 if any piece is late; absent without a horizon.
    - `tokens`: retrieved tokens within the largest budget.
    - `seconds`: duration of the retrieval.

    A piece covers a place if they share at least half of the shorter of the two. What
    is not retrieved has 0.0.

    Raises:
        ValueError: A quote was not found in the text.
    """
    figures = {"seconds": retrieved_context.seconds}
    largest = cut_to_token_budget(retrieved_context.pieces, max(budgets))
    figures["tokens"] = float(sum(piece.tokens for piece in largest))
    if late is not None:
        figures["leak"] = float(any(late(piece) for piece in retrieved_context.pieces))
    if not gold:
        return figures
    if not all(gold):
        raise ValueError("a quote of the answer was not found in the text")
    for budget in budgets:
        shares = _span_scores(
            cut_to_token_budget(retrieved_context.pieces, budget), gold, every=every
        )
        figures[f"recall@{budget}"] = shares.recall
        figures[f"precision@{budget}"] = shares.precision
        figures[f"iou@{budget}"] = shares.iou
    return figures | _rank_figures(retrieved_context.pieces, gold, every=every)


@dataclass(frozen=True, slots=True)
class _SpanScores:
    recall: float
    precision: float
    iou: float


@dataclass(frozen=True, slots=True)
class _QuoteCoverage:
    """Retrieved characters of a quote at its best place, and its length."""

    retrieved: float
    length: int


def _span_scores(
    pieces: Sequence[ContextPiece],
    gold: Sequence[Sequence[AnswerPlace]],
    *,
    every: bool,
) -> _SpanScores:
    spans_by_document = _merge_by_document(
        (piece.document, piece.span) for piece in pieces
    )
    quotes = [_best_coverage(places, spans_by_document) for places in gold]
    targets = [quotes] if every else [[quote] for quote in quotes]
    total = sum(len(span) for spans in spans_by_document.values() for span in spans)
    any_gold = _merge_by_document(
        (p.document, p.span) for places in gold for p in places
    )
    relevant = sum(
        _overlap_total(span, spans_by_document.get(document, ()))
        for document, spans in any_gold.items()
        for span in spans
    )
    return _SpanScores(
        recall=max(_recall(target) for target in targets),
        precision=relevant / total if total else 0.0,
        iou=max(_iou(target, total, relevant) for target in targets),
    )


def _best_coverage(
    places: Sequence[AnswerPlace],
    spans_by_document: Mapping[DocumentId, tuple[Span, ...]],
) -> _QuoteCoverage:
    """Return the coverage of a quote at its best place, scaled to the first place."""
    length = len(places[0].span)
    share = max(
        _overlap_total(place.span, spans_by_document.get(place.document, ()))
        / len(place.span)
        for place in places
    )
    return _QuoteCoverage(share * length, length)


def _recall(target: Sequence[_QuoteCoverage]) -> float:
    return sum(quote_coverage.retrieved for quote_coverage in target) / sum(
        quote_coverage.length for quote_coverage in target
    )


def _iou(target: Sequence[_QuoteCoverage], total: int, relevant: int) -> float:
    # Quotes that overlap share characters, and no more than is there can be in both.
    both = min(sum(quote_coverage.retrieved for quote_coverage in target), relevant)
    return both / (
        sum(quote_coverage.length for quote_coverage in target) + total - both
    )


def _rank_figures(
    pieces: Sequence[ContextPiece],
    gold: Sequence[Sequence[AnswerPlace]],
    *,
    every: bool,
) -> dict[str, float]:
    gold_ranks = [rank for places in gold if (rank := _first_rank(pieces, places))]
    first = min(gold_ranks, default=0)
    figures = {f"hit@{k}": float(0 < first <= k) for k in RANKS}
    figures["mrr"] = 1 / first if first else 0.0
    counted, ideal = (gold_ranks, len(gold)) if every else (gold_ranks and [first], 1)
    gain = sum(1 / log2(rank + 1) for rank in counted if rank <= DEEPEST)
    best = sum(1 / log2(rank + 1) for rank in range(1, min(DEEPEST, ideal) + 1))
    figures[f"ndcg@{DEEPEST}"] = min(1.0, gain / best)
    return figures


def _first_rank(pieces: Sequence[ContextPiece], places: Sequence[AnswerPlace]) -> int:
    """Return the rank of the first piece that covers one of `places`, from 1; or 0."""
    for rank, piece in enumerate(pieces, start=1):
        if any(covers_answer_place(piece, place) for place in places):
            return rank
    return 0


def _merge_by_document(
    spans: Iterable[tuple[DocumentId, Span]],
) -> dict[DocumentId, tuple[Span, ...]]:
    """Return the merged spans of each document, in order."""
    by_document = defaultdict[DocumentId, list[Span]](list)
    for document, span in spans:
        by_document[document].append(span)
    return {document: _merge_spans(spans) for document, spans in by_document.items()}


def _merge_spans(spans: Sequence[Span]) -> tuple[Span, ...]:
    merged: list[Span] = []
    for span in sorted(spans):
        if merged and span.start <= merged[-1].end:
            merged[-1] = Span(merged[-1].start, max(merged[-1].end, span.end))
        else:
            merged.append(span)
    return tuple(merged)


def _overlap_total(span: Span, others: Sequence[Span]) -> int:
    """Return how many characters of `span` lie in `others`, which are disjoint."""
    return sum(_overlap(span, other) for other in others)


def _overlap(span: Span, other: Span) -> int:
    return max(0, min(span.end, other.end) - max(span.start, other.start))


RANKED = (*(f"hit@{rank}" for rank in RANKS), "mrr", f"ndcg@{DEEPEST}")
BUDGETED = ("recall", "precision", "iou")


@dataclass(frozen=True, slots=True)
class SpanMeasure:
    """Measures how much of the gold quotes (words of the text that answer a question)
    is retrieved; uses no language model.

    `budgets` are in tokens, at least one.
    """

    indexed_library: IndexedLibrary
    budgets: tuple[int, ...]
    name: str = "search"

    @property
    def recipe(self) -> str:
        """A text that changes with anything that the measured values depend on besides
        the retrieved text.
        """
        return f"spans 1: {', '.join(map(str, self.budgets))}"

    def figure_names(self, question: EvalQuestion, arm: str) -> tuple[str, ...]:
        """Return the names of the figures (measured values) of a question, such as
        `recall@1000`.

        `arm` is the name of the arm, the way of retrieving text: for the whole text
        there are no figures that depend on rank. An unanswerable question has only
        `seconds`, `tokens` and, with a horizon, `leak`.
        """
        names = ["seconds", "tokens"]
        names += ["leak"] if question.as_of else []
        if question.answerable and arm == WHOLE_TEXT_NAME:
            names += [f"{measure}@{max(self.budgets)}" for measure in BUDGETED]
        elif question.answerable:
            names += [f"{measure}@{n}" for measure in BUDGETED for n in self.budgets]
            names += RANKED
        return tuple(names)

    def estimate_usage(
        self, question: EvalQuestion, arm: str
    ) -> Sequence[tuple[Usage, str]]:
        """Return an empty list: no language model is used."""
        del question, arm
        return ()

    async def measure(
        self, question: EvalQuestion, arm: Arm, retrieved_context: RetrievedContext
    ) -> tuple[Mapping[str, float], Mapping[str, str]]:
        """Return the retrieval figures (measured values) by name; the second mapping is
        empty.

        The arm that returns the whole text has no figures that depend on rank.

        Raises:
            NotFound: A gold quote does not occur in its file.
            StoreProblem: The library cannot be read.
        """
        figures = compute_retrieval_figures(
            retrieved_context,
            await self.gold(question),
            every=question.every,
            budgets=self._usable_budgets(arm, retrieved_context),
            late=self.late(question),
        )
        if isinstance(arm, WholeTextArm):
            figures = {
                name: value for name, value in figures.items() if name not in RANKED
            }
        return figures, {}

    async def gold(self, question: EvalQuestion) -> list[list[AnswerPlace]]:
        """Return, for each gold quote of a question, the places where it occurs, at
        least one.

        A gold quote is words of the text that answer the question.

        Raises:
            NotFound: A quote does not occur in its file.
            StoreProblem: The library cannot be read.
        """
        store, order = self.indexed_library.store, self.indexed_library.order
        return [await locate_gold(store, order, quote) for quote in question.gold]

    def late(self, question: EvalQuestion) -> Callable[[ContextPiece], bool] | None:
        """Return a function that says whether a piece comes after the question's
        horizon; None without a horizon.

        Raises:
            NotFound: The question's horizon does not exist in the story.
        """
        if not question.as_of:
            return None
        scope = self.indexed_library.scope(question)
        return lambda piece: not is_within_scope(piece.document, piece.span, scope)

    def _usable_budgets(
        self, arm: Arm, retrieved_context: RetrievedContext
    ) -> Sequence[int]:
        if not isinstance(arm, WholeTextArm):
            return self.budgets
        total_tokens = sum(piece.tokens for piece in retrieved_context.pieces)
        return [n for n in self.budgets if n >= total_tokens] or [max(self.budgets)]


async def locate_gold(
    store: PassageStore, order: StoryOrder, gold: GoldQuote
) -> list[AnswerPlace]:
    """Return every place where a gold quote occurs in its document, at least one.

    A gold quote is words of the text that answer a question. `gold.file` may be the end
    of a document's path, if only one document matches.

    Raises:
        NotFound: No document or more than one matches, or the quote does not occur
            there.
        StoreProblem: The library cannot be read.
    """
    document = _find_document(order, gold.file)
    document_text = await store.text(document)
    places = find_quote_places(gold.quote, document, document_text.text)
    if not places:
        raise NotFound(
            f"the quotation of the expected answer does not occur in {gold.file}"
        )
    return places


def _find_document(order: StoryOrder, file: str) -> DocumentId:
    """Return the document whose path is, or ends with, a file's path."""
    path = file.removeprefix("./")
    if path in order.outlines:
        return DocumentId(path)
    candidates = [outline for outline in order.outlines if outline.endswith(f"/{path}")]
    if len(candidates) != 1:
        problem = "no document" if not candidates else "more than one document"
        raise NotFound(f"{problem} matches {file}")
    return candidates[0]
