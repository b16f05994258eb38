"""An evaluation on the command line: questions read or made, arms opened, all asked."""

import asyncio
import time
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from lrwr import __version__
from lrwr.core.model.chunks import Pipeline
from lrwr.core.model.errors import NotFound, SettingsProblem
from lrwr.pipeline.evaluation.paths import evaluations_folder

if TYPE_CHECKING:
    from lrwr.app.container import Services
    from lrwr.app.evaluation import Opened
    from lrwr.cli.runtime.output import Output
    from lrwr.core.settings.model import Settings
    from lrwr.pipeline.evaluation.answer_measure import AnswerMeasure
    from lrwr.pipeline.evaluation.plan import Run
    from lrwr.pipeline.evaluation.questions import Question
    from lrwr.pipeline.evaluation.report import Report
    from lrwr.pipeline.evaluation.runner import Began, Runner
    from lrwr.pipeline.evaluation.variants import Step

MADE = 150
"""Questions that are made where there are none: fewer do not show a difference of ten
in a hundred (McNemar's test)."""

TOGETHER = 4
"""Questions that a model is asked at once."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the writer wants evaluated; see `lrwr eval --help`."""

    pipelines: tuple[Pipeline, ...]
    questions: Path | None
    make: int
    ladder: bool
    budgets: tuple[int, ...]
    answers: bool
    model: bool
    read: bool
    repeats: int
    budget: float
    dry_run: bool
    as_json: bool


@dataclass(frozen=True, slots=True)
class Done:
    """What came of it; `remarks` are sentences on what is not as one might think."""

    report: "Report"
    remarks: tuple[str, ...]


def pipelines_named(name: str | None) -> tuple[Pipeline, ...]:
    """Return the pipelines that `--pipeline` names; both where it was not given.

    Raises:
        SettingsProblem: It names none.
    """
    from lrwr.cli.runtime.options import one_of

    if name is None or name.strip().lower() == "both":
        return (Pipeline.NAIVE, Pipeline.AGENTIC)
    return (one_of(Pipeline, name, "--pipeline"),)


def tokens_in(text: str) -> tuple[int, ...]:
    """Return budgets in tokens, ascending.

    Raises:
        SettingsProblem: `text` is no list of whole numbers of 10 to 1,000,000.
    """
    try:
        found = sorted({int(one) for one in text.split(",")})
    except ValueError:
        found = []
    if not found or found[0] < 10 or found[-1] > 1_000_000:
        raise SettingsProblem(
            f"--budget-tokens cannot be {text!r}",
            hint="Give whole numbers from 10 to 1000000, as in 500,1000,2000.",
        )
    return tuple(found)


async def evaluate(
    settings: "Settings", output: "Output", wanted: Wanted
) -> Done | None:
    """Ask every question of every arm, and return what that says.

    None where it was only to be told what it would take.

    Raises:
        NotFound: Nothing has been ingested here, or there is no such file.
        SettingsProblem: The questions, or what is set, cannot be used.
        StoreProblem: The library cannot be read, or runs cannot be kept.
    """
    from lrwr.app.container import open_services
    from lrwr.app.evaluation import open_arms

    async with AsyncExitStack() as stack:
        services = await stack.enter_async_context(
            open_services(settings, say=output.story)
        )
        services.require_library()
        _ask_leave(services, output, wanted)
        opened = await stack.enter_async_context(
            open_arms(services, _steps(wanted), wanted.budgets)
        )
        questions, remarks = await _questions(services, output, wanted)
        runner = await _runner(services, output, wanted, opened, questions, stack)
        if wanted.dry_run:
            _show_estimate(services, output, runner, as_json=wanted.as_json)
            return None
        report = await _run(services, output, runner)
        known = _calibrations(services)
        return Done(report, (*remarks, *opened.remarks, *known))


def _calibrations(services: "Services") -> list[str]:
    """Say what was fitted here to tell, for the pipeline that is set, sure from weak."""
    from lrwr.cli.presenters.search_quality import fitted_in_words
    from lrwr.core.retrieval.confidence import SHIPPED

    pipeline = services.settings.pipeline
    known = [one for (_, p), one in services.calibrations().items() if p is pipeline]
    shipped = set(SHIPPED.values())
    return fitted_in_words([one for one in known if one not in shipped])


def _ask_leave(services: "Services", output: "Output", wanted: Wanted) -> None:
    from lrwr.cli.runtime.consent import SEARCHING, ask_leave, tell_first_use

    names = (*SEARCHING, *(("openai",) if wanted.model else ()))
    if not wanted.dry_run:
        names = (*names, "langsmith")
    ask_leave(services, output, *names, as_json=wanted.as_json)
    if not wanted.dry_run:
        tell_first_use(services, output, *names)


def _steps(wanted: Wanted) -> "list[Step]":
    from lrwr.pipeline.evaluation.variants import LADDER, A, B

    steps = [step for step in (A, B) if step.pipeline in wanted.pipelines]
    return [*steps, *LADDER] if wanted.ladder else steps


async def _questions(
    services: "Services", output: "Output", wanted: Wanted
) -> "tuple[list[Question], tuple[str, ...]]":
    """Return the questions to ask; they are made first, where that is wanted."""
    from lrwr.cli.evaluation.calibration import read_file
    from lrwr.cli.presenters.question_review import file_of

    file = file_of(services.settings, wanted.questions)
    there = file.exists()
    if wanted.questions is not None and not there and not wanted.make:
        raise NotFound(f"{file} is not there", hint="Check the path.")
    before = read_file(file) if there else []
    number = wanted.make or (0 if before else MADE)
    if not number:
        return before, ()
    if wanted.dry_run and not before and not wanted.make:
        raise NotFound(
            "There are no questions yet, so nobody can say what they would cost",
            hint="Make them first, which costs nothing: lrwr eval --make 150",
        )
    made = await _made(services, output, wanted, number)
    questions = _saved(services, file, before, made[0])
    output.story(
        f"Made {len(made[0]):,} questions from your text; they are in {file}."
        " Read them: lrwr eval review"
    )
    return questions, made[1]


async def _made(
    services: "Services", output: "Output", wanted: Wanted, number: int
) -> "tuple[Sequence[Question], tuple[str, ...]]":
    from lrwr.app.evaluation import gathered
    from lrwr.pipeline.evaluation.question_generation.generator import make_questions

    with output.progress("Making questions", number) as advance:
        material = await gathered(services)
        if wanted.model and not wanted.dry_run:
            from lrwr.cli.evaluation.answers import chat_of, found_in
            from lrwr.pipeline.evaluation.question_generation.model_generator import (
                ask_for_questions,
            )

            made = await ask_for_questions(
                chat_of(services),
                material,
                number,
                advance=advance,
                answered=found_in(services),
            )
        else:
            made = await asyncio.to_thread(make_questions, material, number)
    return made.questions, made.remarks


def _saved(
    services: "Services",
    file: Path,
    before: "Sequence[Question]",
    made: "Sequence[Question]",
) -> "list[Question]":
    """Keep what was made beside what was there, which stays as the writer left it."""
    from lrwr.core.settings.library import prepare_state_dir, write_private
    from lrwr.pipeline.evaluation.question_generation.merger import merged
    from lrwr.pipeline.evaluation.questions import written

    questions = list(merged(before, made))
    prepare_state_dir(services.library)
    write_private(file, written(questions))
    return questions


async def _runner(
    services: "Services",
    output: "Output",
    wanted: Wanted,
    opened: "Opened",
    questions: "Sequence[Question]",
    stack: AsyncExitStack,
) -> "Runner":
    from lrwr.app.evaluation import running_lock
    from lrwr.cli.evaluation.answers import answers_of, models_of
    from lrwr.pipeline.evaluation.gold_spans import SpanMeasure
    from lrwr.pipeline.evaluation.runner import Means, Runner, plan_of

    spans = SpanMeasure(opened.shelf, wanted.budgets)
    models = dict(opened.models)
    measures: list[SpanMeasure | AnswerMeasure] = [spans]
    if wanted.answers:
        answers = await answers_of(services, output, wanted, opened, spans, stack)
        measures.append(answers)
        models |= models_of(answers)
    means = Means(
        opened.arms,
        measures,
        wanted.budget,
        TOGETHER if wanted.model else 1,
        running_lock(services.library),
    )
    plan = plan_of(
        questions,
        means,
        budgets=wanted.budgets,
        library=opened.library,
        lrwr=__version__,
        models=models,
    )
    folder = evaluations_folder(services.library)
    return Runner(folder, plan, means, time.time)


async def _run(services: "Services", output: "Output", runner: "Runner") -> "Report":
    """Run it, and return what it says."""
    from lrwr.pipeline.evaluation.run_store import load
    from lrwr.pipeline.evaluation.runner import Began

    run = ""
    with output.progress("Evaluating", None) as advance:
        async for event in runner.run():
            if isinstance(event, Began):
                run = event.run
                advance(event.kept + event.taken, event.total)
                _say_known(output, event)
            else:
                advance(1)
    return report_on(load(evaluations_folder(services.library), run))


def report_on(run: "Run") -> "Report":
    """Return what a run says: B against A, and the ladder's steps in their order."""
    from lrwr.pipeline.evaluation.report import report_of
    from lrwr.pipeline.evaluation.variants import LADDER, WHOLE, A, B

    return report_of(
        run,
        pairs=[(A.name, B.name), (B.name, WHOLE)],
        ladder=[step.name for step in LADDER],
    )


def _say_known(output: "Output", began: "Began") -> None:
    if began.kept:
        output.story(f"Going on: {began.kept:,} of {began.total:,} are there already.")
    if began.taken:
        output.story(
            f"{began.taken:,} of {began.total:,} are taken over from earlier runs;"
            " their seconds are of that time."
        )


def _where(settings: "Settings") -> str:
    hosted = (
        settings.rerank.model == "cohere"
        or settings.embedding.model in ("openai", "server")
        or settings.vectors.keeper == "qdrant"
    )
    return "(hosted services are not priced here)" if hosted else "on this machine"


def _show_estimate(
    services: "Services", output: "Output", runner: "Runner", *, as_json: bool
) -> None:
    from lrwr.app.egress import priced
    from lrwr.app.presenters.text import count, tokens_and_price

    told = runner.priced(priced(services.settings))
    if as_json:
        output.json(
            {
                "parts": told.total,
                "known_already": told.taken,
                "searches": told.searches,
                "calls": told.usage.calls,
                "prompt_tokens": told.usage.prompt_tokens,
                "completion_tokens": told.usage.completion_tokens,
                "usd": told.dollars,
            }
        )
        return
    output.answer(
        f"{told.searches:,} searches {_where(services.settings)};"
        f" {told.taken:,} of {told.total:,} parts are known already."
    )
    if told.usage.calls:
        cost = tokens_and_price(told.usage, told.dollars, about=True)
        calls = count(told.usage.calls, "question")
        output.answer(f"The language model would be asked about {calls}: {cost}.")
    else:
        output.answer("No language model would be asked.")
