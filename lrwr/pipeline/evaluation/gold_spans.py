"""Where answers stand in a library, and what an arm gives held against that."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from lrwr.core.model.documents import DocumentId
from lrwr.core.model.errors import NotFound
from lrwr.core.model.language_model import Usage
from lrwr.core.ports.stores import PassageStore
from lrwr.core.retrieval.story import StoryOrder, is_within_scope
from lrwr.pipeline.evaluation.measures import DEEPEST, RANKS, compute_retrieval_figures
from lrwr.pipeline.evaluation.outcomes import Arm, ContextPiece, RetrievedContext
from lrwr.pipeline.evaluation.questions import (
    AnswerPlace,
    EvalQuestion,
    GoldQuote,
    find_quote_places,
)
from lrwr.pipeline.evaluation.variants import (
    WHOLE_TEXT_NAME,
    IndexedLibrary,
    WholeTextArm,
)

RANKED = (*(f"hit@{rank}" for rank in RANKS), "mrr", f"ndcg@{DEEPEST}")
BUDGETED = ("recall", "precision", "iou")


@dataclass(frozen=True, slots=True)
class SpanMeasure:
    """Figures of what is given, by where the answer stands; no model is asked.

    `budgets` are in tokens, at least one.
    """

    shelf: IndexedLibrary
    budgets: tuple[int, ...]
    name: str = "search"
    told: str = "Where the answer stands, held against what is given."

    @property
    def recipe(self) -> str:
        """Tell all that the figures depend on beside what is given."""
        return f"spans 1: {', '.join(map(str, self.budgets))}"

    def gives(self, question: EvalQuestion, arm: str) -> tuple[str, ...]:
        """Name the figures of a question in an arm."""
        names = ["seconds", "tokens"]
        names += ["leak"] if question.as_of else []
        if question.answerable and arm == WHOLE_TEXT_NAME:
            names += [f"{measure}@{max(self.budgets)}" for measure in BUDGETED]
        elif question.answerable:
            names += [f"{measure}@{n}" for measure in BUDGETED for n in self.budgets]
            names += RANKED
        return tuple(names)

    def foreseen(self, question: EvalQuestion, arm: str) -> Sequence[tuple[Usage, str]]:
        """Ask no model."""
        del question, arm
        return ()

    async def figures(
        self, question: EvalQuestion, arm: Arm, retrieved_context: RetrievedContext
    ) -> tuple[Mapping[str, float], Mapping[str, str]]:
        """Return the figures; the whole-text arm has no figures by rank.

        Raises:
            NotFound: A quote of the question stands nowhere in its file.
            StoreProblem: The library cannot be read.
        """
        figures = compute_retrieval_figures(
            retrieved_context,
            await self.gold(question),
            every=question.every,
            budgets=self._fitting(arm, retrieved_context),
            late=self.late(question),
        )
        if isinstance(arm, WholeTextArm):
            figures = {
                name: value for name, value in figures.items() if name not in RANKED
            }
        return figures, {}

    async def gold(self, question: EvalQuestion) -> list[list[AnswerPlace]]:
        """Return the places of each gold quote, at least one each.

        Raises:
            NotFound: One stands nowhere in its file.
            StoreProblem: The library cannot be read.
        """
        store, order = self.shelf.store, self.shelf.order
        return [await locate_gold(store, order, quote) for quote in question.gold]

    def late(self, question: EvalQuestion) -> Callable[[ContextPiece], bool] | None:
        """Return what says if a piece is from after the question; None where none is.

        Raises:
            NotFound: The story has no such place.
        """
        if not question.as_of:
            return None
        scope = self.shelf.scope(question)
        return lambda piece: not is_within_scope(piece.document, piece.span, scope)

    def _fitting(self, arm: Arm, retrieved_context: RetrievedContext) -> Sequence[int]:
        if not isinstance(arm, WholeTextArm):
            return self.budgets
        total_tokens = sum(piece.tokens for piece in retrieved_context.pieces)
        return [n for n in self.budgets if n >= total_tokens] or [max(self.budgets)]


async def locate_gold(
    store: PassageStore, order: StoryOrder, gold: GoldQuote
) -> list[AnswerPlace]:
    """Return every place where a quote occurs in its document, at least one.

    Raises:
        NotFound: No document is called so, or more than one; or it stands nowhere there.
        StoreProblem: The library cannot be read.
    """
    document = _document(order, gold.file)
    document_text = await store.text(document)
    places = find_quote_places(gold.quote, document, document_text.text)
    if not places:
        raise NotFound(f"A quote of it does not stand in {gold.file}")
    return places


def _document(order: StoryOrder, file: str) -> DocumentId:
    """Return the document that a file's path means, or the end of its path."""
    path = file.removeprefix("./")
    if path in order.outlines:
        return DocumentId(path)
    candidates = [outline for outline in order.outlines if outline.endswith(f"/{path}")]
    if len(candidates) != 1:
        problem = "No document" if not candidates else "More than one document"
        raise NotFound(f"{problem} of the library is called {file}")
    return candidates[0]
