"""Converts an evaluation run into test questions and results for LangSmith.

A golden set is a fixed list of questions; an experiment has the results of one arm
(one way to search).
"""

from collections.abc import Iterator, Mapping
from hashlib import sha256

from lrwr.core.adapters.storage.sqlite.database import SqliteDatabase
from lrwr.core.adapters.storage.sqlite.passage_store import SqliteChangeFeed
from lrwr.core.model.traces import (
    Experiment,
    ExperimentResult,
    GoldenExample,
    GoldenSet,
    MeasureScore,
    TraceFacts,
    TraceFactValue,
    TraceTexts,
)
from lrwr.pipeline.evaluation.judgements import is_single_try_figure
from lrwr.pipeline.evaluation.outcomes import QuestionOutcome
from lrwr.pipeline.evaluation.questions import EvalQuestion, serialize_questions
from lrwr.pipeline.evaluation.report import ArmReport, EvalReport
from lrwr.pipeline.evaluation.runs import EvalRun
from lrwr.pipeline.evaluation.variants import (
    VARIANT_A,
    VARIANT_B,
    WHOLE_TEXT_NAME,
)

_COUNTED = ("seconds", "tokens", "dollars")
"""Names, or ends of names, of figures that are amounts and not scores."""

_TIMES = ("seconds", "answer_seconds")
"""Figures whose sum is the duration of a question, in seconds."""


async def load_library_name(database: SqliteDatabase) -> str:
    """Return the library's random id, from which keys of its results are built.

    Raises:
        StoreProblem: The library cannot be read.
    """
    return await SqliteChangeFeed(database).library()


def build_golden_set(run: EvalRun, library: str, title: str) -> GoldenSet:
    """Return the questions of an evaluation run as a list for LangSmith.

    They are numbered from 1 in the order of the run. The list's key consists of
    `library`, the library's random id, and a hash of the questions in their order, so
    that runs with the same questions have the same list. `title` is shown by LangSmith
    and may contain the user's text.
    """
    serialized = serialize_questions(run.plan.questions)
    digest = sha256(serialized.encode("utf-8", "replace")).hexdigest()
    return GoldenSet(
        f"{library}\n{digest}",
        title,
        tuple(
            _example(n, question)
            for n, question in enumerate(run.plan.questions, start=1)
        ),
    )


def build_experiments(report: EvalReport) -> tuple[Experiment, ...]:
    """Return the results of an evaluation run: one LangSmith experiment for each arm.

    Arms (ways to search) have the order of the run's plan. Runs with the same plan have
    experiments with the same keys.
    """
    run = report.run
    numbers = {question.id: n for n, question in enumerate(run.plan.questions, start=1)}
    return tuple(_experiment(run, arm, numbers) for arm in report.arms)


def _example(number: int, question: EvalQuestion) -> GoldenExample:
    inputs: dict[str, str | tuple[str, ...]] = {"question": question.text}
    if question.as_of:
        inputs["as_of"] = question.as_of
    outputs: TraceTexts = {
        "answer": question.answer,
        "quotes": tuple(
            f"{passage.file}: {passage.quote}" for passage in question.gold
        ),
    }
    facts: TraceFacts = {
        "kind": question.kind.value,
        "answerable": question.answerable,
        "needs_every_quote": question.every,
    }
    return GoldenExample(number, facts, inputs, outputs)


def _experiment(run: EvalRun, arm: ArmReport, numbers: Mapping[str, int]) -> Experiment:
    outcomes = [outcome for outcome in run.outcomes if outcome.arm == arm.name]
    return Experiment(
        key=f"{run.plan.fingerprint}\n{arm.name}",
        name=arm.name,
        description=arm.description,
        facts=dict(_facts(run, arm)),
        results=tuple(
            _result(outcome, numbers[outcome.question]) for outcome in outcomes
        ),
    )


def _facts(run: EvalRun, arm: ArmReport) -> Iterator[tuple[str, TraceFactValue]]:
    plan = run.plan
    yield "arm", arm.name
    if arm.name in (pipelines := _pipelines()):
        yield "pipeline", pipelines[arm.name]
    yield "lrwr", plan.lrwr
    yield "run", run.id
    yield "questions", len(plan.questions)
    yield "measures", ", ".join(part.name for part in plan.parts)
    yield "budgets_tokens", ", ".join(map(str, plan.budgets))
    for use, model in sorted(plan.models.items()):
        yield f"model_{use.replace(' ', '_')}", model or "none"
    if arm.unreliable:
        yield "not_evaluated", ", ".join(sorted(arm.unreliable))


def _pipelines() -> dict[str, str]:
    """Return the pipeline of each arm that has one, by the arm's name."""
    of_steps = {step.name: step.pipeline.value for step in (VARIANT_A, VARIANT_B)}
    return {**of_steps, WHOLE_TEXT_NAME: VARIANT_B.pipeline.value}


def _result(outcome: QuestionOutcome, number: int) -> ExperimentResult:
    shares = {n: v for n, v in outcome.figures.items() if _is_share(n, v)}
    scores = [MeasureScore(name, value) for name, value in shares.items()]
    scores += [
        MeasureScore(n, None) for n in outcome.failed if not is_single_try_figure(n)
    ]
    return ExperimentResult(
        number=number,
        seconds=sum(outcome.figures.get(name, 0.0) for name in _TIMES),
        facts={
            name: value
            for name, value in outcome.figures.items()
            if name not in shares and not is_single_try_figure(name)
        },
        scores=tuple(scores),
        failed=not outcome.figures,
    )


def _is_share(name: str, value: float) -> bool:
    """Return whether a figure is a score from 0.0 to 1.0, not an amount."""
    return (
        not name.endswith(_COUNTED)
        and not is_single_try_figure(name)
        and 0.0 <= value <= 1.0
    )
