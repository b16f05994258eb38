"""Answers as a way of measuring: asked for, counted, and judged if there is a judge."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass

from lrwr.core.model.language_model import Usage
from lrwr.core.ports.models import Answerer, AnswerJudge, GroundedAnswer
from lrwr.core.retrieval.freshness import load_existing_texts
from lrwr.pipeline.evaluation.answer_measures import compute_answer_figures
from lrwr.pipeline.evaluation.answers import ContextReader, ReaderInput
from lrwr.pipeline.evaluation.gold_spans import SpanMeasure
from lrwr.pipeline.evaluation.judgements import (
    REPEATS,
    build_judge_sample,
    judge_answer,
    panel_result_to_figures,
)
from lrwr.pipeline.evaluation.outcomes import Arm, RetrievedContext, cut_to_token_budget
from lrwr.pipeline.evaluation.plan import DOLLARS
from lrwr.pipeline.evaluation.questions import EvalQuestion

PREFIXED = frozenset({"seconds", "tokens", "leak"})
"""Figures that searching has, too: those of answers are called `answer_…`."""

_CALLS = 4
"""Times that a model is asked for an answer, about: plans, looking up, the answer."""

_SENT = 3_500
_SAID = 250
"""Tokens of one of them, about: the material is bounded by a budget."""


@dataclass(frozen=True, slots=True)
class AnswerMethod:
    """How the answer of an arm is had; `way` names it and all that it depends on.

    `usage` is about what one takes of `model`, which is empty where none is asked.
    """

    way: str
    answer: Callable[[EvalQuestion, Arm, RetrievedContext], Awaitable[GroundedAnswer]]
    usage: Usage
    model: str


@dataclass(frozen=True, slots=True)
class AnswerMeasure:
    """Figures of answers; see `compute_answer_figures`, and `judging` for those of judges.

    `answering` has who answers by the names of arms; other arms have no answers.
    `price` is what a usage of a model costs in US dollars, None where it is not known.
    """

    spans: SpanMeasure
    answering: Mapping[str, AnswerMethod]
    judges: Sequence[AnswerJudge]
    price: Callable[[Usage, str], float | None]
    repeats: int = REPEATS
    name: str = "answers"
    told: str = "Answers, held against the text and what answers."

    @property
    def recipe(self) -> str:
        """Describe what the figures depend on besides question, arm and library."""
        methods = (
            f"{arm}: {method.way}" for arm, method in sorted(self.answering.items())
        )
        judges = (f"{judge.name} {judge.revision}" for judge in self.judges)
        tries = f"{self.repeats} tries" if self.judges else ""
        return "\n".join(["answers 1", *methods, *judges, tries])

    def gives(self, question: EvalQuestion, arm: str) -> tuple[str, ...]:
        """Name the figures that a question has in an arm."""
        if arm not in self.answering:
            return ()
        names = ["resolved", "quotes", "gap", "answer_seconds"]
        if question.answerable:
            names += ["citation_precision", "citation_recall", "false_gap"]
            names += ["word_overlap"] if question.answer else []
        else:
            names.append("invented")
        return (*names, *(name for judge in self.judges for name in judge.figures))

    def foreseen(self, question: EvalQuestion, arm: str) -> list[tuple[Usage, str]]:
        """Return the estimated usage of each model call, with the model's name; sends nothing."""
        method = self.answering.get(arm)
        if method is None:
            return []
        usages = [(method.usage, method.model)] if method.model else []
        sample = build_judge_sample(question, _foreseen(self.spans.budgets))
        for judge in self.judges:
            usages += [(judge.estimate(sample), judge.name)] * self.repeats
        return usages

    async def figures(
        self, question: EvalQuestion, arm: Arm, retrieved_context: RetrievedContext
    ) -> tuple[Mapping[str, float], Mapping[str, str]]:
        """Return the figures of the arm's answer, and those that failed.

        Raises:
            NotFound: A quote of the question stands nowhere in its file.
            ServiceUnavailable: The model did not answer.
            StoreProblem: The library cannot be read.
        """
        own = self.answering.get(arm.name)
        if own is None:
            return {}, {}
        gold = await self.spans.gold(question)  # before anything is paid for
        answered = await own.answer(question, arm, retrieved_context)
        store = self.spans.shelf.store
        texts = await load_existing_texts(
            store, [citation.document for citation in answered.citations]
        )
        counted = compute_answer_figures(
            answered,
            question,
            gold,
            text_of=lambda name: texts[name].text if name in texts else None,
            late=self.spans.late(question),
        )
        figures = {_named(name): value for name, value in counted.items()}
        if not self.judges:
            return figures, {}
        opinion = await judge_answer(
            self.judges, build_judge_sample(question, answered), repeats=self.repeats
        )
        values, failed = panel_result_to_figures(opinion)
        spent = self.price(opinion.usage, self.judges[0].name)
        if spent is not None:
            figures[DOLLARS] = figures.get(DOLLARS, 0.0) + spent
        return {**figures, **values}, failed


def build_session_answer_method(answerer: Answerer) -> AnswerMethod:
    """Return the method that answers as `lrwr ask` does."""

    async def answer(
        question: EvalQuestion, arm: Arm, context: RetrievedContext
    ) -> GroundedAnswer:
        del arm, context  # it searches for itself
        return await answerer.answer(question.text, question.as_of)

    usage = Usage(_CALLS, _CALLS * _SENT, _CALLS * _SAID) if answerer.name else Usage()
    return AnswerMethod(
        f"as asked, by {answerer.name or 'the text'}", answer, usage, answerer.name
    )


def build_reader_answer_method(
    reader: ContextReader, spans: SpanMeasure, budget: int
) -> AnswerMethod:
    """Return answers that a model makes from the first `budget` tokens of an arm."""

    async def answer(
        question: EvalQuestion, arm: Arm, retrieved_context: RetrievedContext
    ) -> GroundedAnswer:
        del arm
        pieces = cut_to_token_budget(retrieved_context.pieces, budget)
        documents = [piece.document for piece in pieces]
        texts = await load_existing_texts(spans.shelf.store, documents)
        return await reader.read(
            ReaderInput(question.text, question.as_of, pieces, texts)
        )

    usage = Usage(1, budget + _SAID, _SAID)
    return AnswerMethod(
        f"read in {budget} tokens, by {reader.name}", answer, usage, reader.name
    )


def _named(figure: str) -> str:
    return f"answer_{figure}" if figure in PREFIXED else figure


def _foreseen(budgets: Sequence[int]) -> GroundedAnswer:
    """Return an answer of a usual size, to tell what judging it takes."""
    context = "word " * max(budgets)
    return GroundedAnswer("word " * _SAID, (), (context,), says_gap=False, seconds=0.0)
