"""Arms and measures for tests of running: they do as told, and count what they do."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from lrwr.core.model.documents import DocumentId
from lrwr.core.model.errors import LrwrError
from lrwr.core.model.language_model import Usage
from lrwr.core.model.text import Span
from lrwr.pipeline.evaluation.outcomes import Arm, ContextPiece, RetrievedContext
from lrwr.pipeline.evaluation.questions import EvalQuestion, GoldQuote
from lrwr.pipeline.evaluation.runner import EvalMeasure, RunSetup, build_eval_plan
from lrwr.pipeline.evaluation.runs import EvalPlan


def a_piece(text: str, start: int = 0, document: str = "1.md") -> ContextPiece:
    """Words of a document, a token each."""
    span = Span(start, start + len(text))
    return ContextPiece(DocumentId(document), span, text, len(text.split()))


def asked(*ids: str) -> list[EvalQuestion]:
    """Questions that one file answers."""
    gold = (GoldQuote("1.md", "Nell lit the lamp."),)
    return [EvalQuestion(id_, f"What of {id_}?", gold) for id_ in ids]


@dataclass(slots=True)
class SetArm:
    """Gives the same whatever is asked; fails for the questions in `broken`."""

    name: str
    pieces: tuple[ContextPiece, ...] = ()
    broken: frozenset[str] = frozenset()
    recipe: str = "set"
    description: str = "Gives the same."
    before: Callable[[], None] = lambda: None
    asked: list[str] = field(default_factory=list)

    async def retrieve(self, question: EvalQuestion) -> RetrievedContext:
        """Give it, and note the question."""
        self.before()
        self.asked.append(question.id)
        if question.id in self.broken:
            raise LrwrError(f"{self.name} cannot do {question.id}")
        return RetrievedContext(self.pieces, 0.5)


@dataclass(slots=True)
class SetMeasure:
    """Gives set figures; fails for the questions in `broken`."""

    name: str = "search"
    found: Mapping[str, float] = field(default_factory=lambda: {"mrr": 1.0})
    failed: Mapping[str, str] = field(default_factory=dict)
    broken: frozenset[str] = frozenset()
    recipe: str = "measure 1"
    usage: Usage | None = None
    asked: list[tuple[str, str]] = field(default_factory=list)

    def figure_names(self, question: EvalQuestion, arm: str) -> Sequence[str]:
        """Name the figures."""
        del question, arm
        return (*self.found, *self.failed)

    def estimate_usage(
        self, question: EvalQuestion, arm: str
    ) -> Sequence[tuple[Usage, str]]:
        """Tell what is set."""
        del question, arm
        return [(self.usage, "a-model")] if self.usage else []

    async def measure(
        self, question: EvalQuestion, arm: Arm, given: RetrievedContext
    ) -> tuple[Mapping[str, float], Mapping[str, str]]:
        """Give them, and note the arm and the question."""
        del given
        self.asked.append((arm.name, question.id))
        if question.id in self.broken:
            raise LrwrError("The judge is away")
        return self.found, self.failed


def means_of(
    arms: Sequence[Arm], *measures: EvalMeasure, **changes: object
) -> RunSetup:
    """Means with these measures, or the simplest one."""
    return RunSetup(arms, measures or [SetMeasure()], **changes)  # type: ignore[arg-type]


def a_plan(
    means: RunSetup, questions: Sequence[EvalQuestion] = (), library: str = "book 1"
) -> EvalPlan:
    """A plan of two questions, or of these."""
    return build_eval_plan(
        questions or asked("q1", "q2"),
        means,
        budgets=(500, 1000),
        library=library,
        lrwr="0.1.0",
        seed=7,
        models={"meaning": "words-32"},
    )
