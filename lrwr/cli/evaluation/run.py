"""`lrwr eval`: load or generate questions, prepare the searches, run and report."""

import asyncio
import time
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path

from lrwr import __version__
from lrwr.app.container import Workspace, open_workspace
from lrwr.app.egress import create_price_lookup
from lrwr.app.evaluation import ArmSet, create_eval_lock, load_eval_material, open_arms
from lrwr.app.presenters.text import format_count, format_tokens_and_price
from lrwr.cli.evaluation.answers import (
    create_answer_measure,
    create_answer_probe,
    name_answer_models,
    require_chat_model,
)
from lrwr.cli.evaluation.calibration import describe_calibrations, read_question_file
from lrwr.cli.evaluation.request import EvalRequest
from lrwr.cli.presenters.evaluation_reports import build_run_report
from lrwr.cli.presenters.question_review import resolve_question_file
from lrwr.cli.runtime.output import Output
from lrwr.cli.runtime.services import (
    MODEL_SERVICES,
    SEARCH_SERVICES,
    announce_first_use,
    prompt_for_consent,
)
from lrwr.core.model.errors import NotFound
from lrwr.core.retrieval.confidence import SHIPPED_CALIBRATIONS
from lrwr.core.settings.library import prepare_state_dir, write_private_file
from lrwr.core.settings.model import Settings
from lrwr.pipeline.evaluation.answer_measures import AnswerMeasure
from lrwr.pipeline.evaluation.question_generation.generator import make_questions
from lrwr.pipeline.evaluation.question_generation.model_generator import (
    generate_questions_with_model,
)
from lrwr.pipeline.evaluation.questions import EvalQuestion, serialize_questions
from lrwr.pipeline.evaluation.report import EvalReport
from lrwr.pipeline.evaluation.review import merge_questions
from lrwr.pipeline.evaluation.runner import (
    EvalRunner,
    RunSetup,
    RunStart,
    build_eval_plan,
)
from lrwr.pipeline.evaluation.runs import load_eval_run, locate_evaluations_folder
from lrwr.pipeline.evaluation.search_measures import SpanMeasure
from lrwr.pipeline.evaluation.variants import (
    VARIANT_A,
    VARIANT_B,
    SearchVariant,
)

QUESTIONS_TO_MAKE = 150
"""Questions to generate if there are none: fewer cannot show a difference of 10 percentage
points by McNemar's test."""

CONCURRENT_QUESTIONS = 4
"""Questions that are answered and judged concurrently with a language model."""


@dataclass(frozen=True, slots=True)
class EvalResult:
    """The report of an evaluation run, and sentences on its limitations."""

    report: EvalReport
    remarks: tuple[str, ...]


async def run_evaluation(
    settings: Settings, output: Output, eval_request: EvalRequest
) -> EvalResult | None:
    """Run an evaluation and return its report.

    The user is asked for consent to the services that it needs. A dry run prints an
    estimate and returns None.

    Raises:
        NotFound: The library is empty, or the file of questions does not exist.
        SettingsProblem: The questions or a setting are invalid.
        StoreProblem: The library cannot be read, or the run cannot be stored.
    """
    async with AsyncExitStack() as stack:
        workspace = await stack.enter_async_context(
            open_workspace(settings, say=output.info)
        )
        workspace.require_library()
        _request_consent(workspace, output, eval_request)
        arm_set = await stack.enter_async_context(
            open_arms(workspace, _steps(eval_request), eval_request.budgets)
        )
        questions, remarks = await _questions(workspace, output, eval_request)
        runner = await _runner(
            workspace, output, eval_request, arm_set, questions, stack
        )
        if eval_request.dry_run:
            _show_estimate(workspace, output, runner, as_json=eval_request.as_json)
            return None
        report = await _run(workspace, output, runner)
        calibration_remarks = _calibrations(workspace)
        return EvalResult(report, (*remarks, *arm_set.remarks, *calibration_remarks))


def _calibrations(workspace: Workspace) -> list[str]:
    """Describe the saved calibrations of the configured pipeline."""
    pipeline = workspace.settings.pipeline
    calibrations = [
        calibration
        for (_, p), calibration in workspace.retrieval.calibrations().items()
        if p is pipeline
    ]
    shipped = set(SHIPPED_CALIBRATIONS.values())
    return describe_calibrations(
        [calibration for calibration in calibrations if calibration not in shipped]
    )


def _request_consent(
    workspace: Workspace, output: Output, eval_request: EvalRequest
) -> None:
    names = (*SEARCH_SERVICES, *(MODEL_SERVICES if eval_request.model else ()))
    if not eval_request.dry_run:
        names = (*names, "langsmith")
    prompt_for_consent(workspace, output, *names, as_json=eval_request.as_json)
    if not eval_request.dry_run:
        announce_first_use(workspace, output, *names)


def _steps(eval_request: EvalRequest) -> list[SearchVariant]:
    return [
        step
        for step in (VARIANT_A, VARIANT_B)
        if step.pipeline in eval_request.pipelines
    ]


async def _questions(
    workspace: Workspace, output: Output, eval_request: EvalRequest
) -> tuple[list[EvalQuestion], tuple[str, ...]]:
    """Return the questions to ask, after generating them if needed, and remarks."""
    file = resolve_question_file(workspace.settings, eval_request.questions)
    file_exists = file.exists()
    if eval_request.questions is not None and not file_exists and not eval_request.make:
        raise NotFound(f"{file} does not exist", hint="Check the path.")
    before = read_question_file(file) if file_exists else []
    number = eval_request.make or (0 if before else QUESTIONS_TO_MAKE)
    if not number:
        return before, ()
    if eval_request.dry_run and not before and not eval_request.make:
        raise NotFound(
            "There are no questions yet, so the cost cannot be estimated",
            hint="Run `lrwr eval --make 150` first; it costs nothing.",
        )
    generated = await _make_questions(workspace, output, eval_request, number)
    questions = _save_questions(workspace, file, before, generated[0])
    output.info(
        f"Generated {format_count(len(generated[0]), 'question')} from your text in {file}."
        " Check them with `lrwr eval review`."
    )
    return questions, generated[1]


async def _make_questions(
    workspace: Workspace, output: Output, eval_request: EvalRequest, number: int
) -> tuple[Sequence[EvalQuestion], tuple[str, ...]]:
    with output.progress("Generating questions", number) as advance:
        material = await load_eval_material(workspace)
        if eval_request.model and not eval_request.dry_run:
            question_set = await generate_questions_with_model(
                require_chat_model(workspace),
                material,
                number,
                advance=advance,
                answered=create_answer_probe(workspace),
            )
        else:
            question_set = await asyncio.to_thread(make_questions, material, number)
    return question_set.questions, question_set.remarks


def _save_questions(
    workspace: Workspace,
    file: Path,
    before: Sequence[EvalQuestion],
    new_questions: Sequence[EvalQuestion],
) -> list[EvalQuestion]:
    """Save generated questions with the existing ones and return all."""
    questions = list(merge_questions(before, new_questions))
    prepare_state_dir(workspace.library)
    write_private_file(file, serialize_questions(questions))
    return questions


async def _runner(
    workspace: Workspace,
    output: Output,
    eval_request: EvalRequest,
    arm_set: ArmSet,
    questions: Sequence[EvalQuestion],
    stack: AsyncExitStack,
) -> EvalRunner:
    spans = SpanMeasure(arm_set.indexed_library, eval_request.budgets)
    models = dict(arm_set.models)
    measures: list[SpanMeasure | AnswerMeasure] = [spans]
    if eval_request.answers:
        answers = await create_answer_measure(
            workspace, output, eval_request, arm_set, spans, stack
        )
        measures.append(answers)
        models |= name_answer_models(answers)
    means = RunSetup(
        arm_set.arms,
        measures,
        eval_request.budget,
        CONCURRENT_QUESTIONS if eval_request.model else 1,
        create_eval_lock(workspace.library),
        create_price_lookup(workspace.settings),
    )
    plan = build_eval_plan(
        questions,
        means,
        budgets=eval_request.budgets,
        library=arm_set.library,
        lrwr=__version__,
        models=models,
    )
    folder = locate_evaluations_folder(workspace.library)
    return EvalRunner(folder, plan, means, time.time)


async def _run(workspace: Workspace, output: Output, runner: EvalRunner) -> EvalReport:
    """Run the evaluation and return its report."""
    run = ""
    with output.progress("Evaluating", None) as advance:
        async for event in runner.run():
            if isinstance(event, RunStart):
                run = event.run
                advance(event.kept + event.reused, event.total)
                _show_reused_results(output, event)
            else:
                advance(1)
    return build_run_report(
        load_eval_run(locate_evaluations_folder(workspace.library), run)
    )


def _show_reused_results(output: Output, began: RunStart) -> None:
    if began.kept:
        output.info(f"Resuming: {began.kept:,} of {began.total:,} results exist.")
    if began.reused:
        output.info(
            f"Reusing {began.reused:,} of {began.total:,} results of earlier runs,"
            " with the times measured then."
        )


def _where(settings: Settings) -> str:
    hosted = (
        settings.rerank.model == "cohere"
        or settings.embedding.model in ("openai", "server")
        or settings.vectors.keeper == "qdrant"
    )
    return "(prices of hosted services not included)" if hosted else "on this machine"


def _show_estimate(
    workspace: Workspace, output: Output, runner: EvalRunner, *, as_json: bool
) -> None:
    run_estimate = runner.estimate(create_price_lookup(workspace.settings))
    if as_json:
        output.json(
            {
                "parts": run_estimate.total,
                "known_already": run_estimate.reused,
                "searches": run_estimate.searches,
                "calls": run_estimate.usage.calls,
                "prompt_tokens": run_estimate.usage.prompt_tokens,
                "completion_tokens": run_estimate.usage.completion_tokens,
                "usd": run_estimate.dollars,
            }
        )
        return
    output.answer(
        f"{run_estimate.searches:,} searches {_where(workspace.settings)};"
        f" {run_estimate.reused:,} of {run_estimate.total:,} results exist from"
        " earlier runs."
    )
    if run_estimate.usage.calls:
        cost = format_tokens_and_price(
            run_estimate.usage, run_estimate.dollars, about=True
        )
        calls = format_count(run_estimate.usage.calls, "call")
        output.answer(
            f"The evaluation would make about {calls} to the language model: {cost}."
        )
    else:
        output.answer("No language model would be called.")
