"""`lrwr eval` and its subcommands."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from lrwr.cli.commands import eval_review
from lrwr.cli.evaluation import calibration, experiments
from lrwr.cli.evaluation.request import (
    EvalRequest,
    parse_pipelines,
    parse_token_budgets,
)
from lrwr.cli.presenters import evaluation_reports
from lrwr.cli.presenters.question_review import resolve_question_file
from lrwr.cli.runtime.event_loop import run_async
from lrwr.cli.runtime.options import JsonOption
from lrwr.cli.runtime.output import Output, start_session
from lrwr.core.model.errors import SettingsProblem
from lrwr.core.settings.model import Settings

EPILOG = (
    "Examples: lrwr eval · lrwr eval --make 150 · lrwr eval --questions mine.jsonl"
    " --report ../report.md · lrwr eval --answers · lrwr eval --model"
    " --dry-run · lrwr eval review · lrwr eval compare 20261122-1 20261122-2 · lrwr eval --calibrate"
    " --save"
)
SEND_EPILOG = "Examples: lrwr eval send · lrwr eval send 20261122-1"
COMPARE_EPILOG = "Example: lrwr eval compare 20261122-1 20261122-2"
SHOW_EPILOG = "Examples: lrwr eval show · lrwr eval show 20261122-1 --report ../old.md"

BUDGETS = "500,1000,2000"

EvalPipelineNameOption = Annotated[
    str | None,
    typer.Option(
        "--pipeline", metavar="a|b|both", help="Pipeline to evaluate. Default: both."
    ),
]
QuestionsOption = Annotated[
    Path | None,
    typer.Option(
        "--questions",
        metavar="FILE.jsonl",
        help="File of questions with known answers. Default: the library's own.",
    ),
]
MakeOption = Annotated[
    int | None,
    typer.Option(
        "--make",
        min=1,
        max=2_000,
        metavar="N",
        help="First generate up to N questions from your text.",
    ),
]
BudgetsOption = Annotated[
    str,
    typer.Option(
        "--budget-tokens",
        metavar="N,N,N",
        help="Compare the passages that each pipeline finds first, up to N tokens in total.",
    ),
]
AnswersOption = Annotated[
    bool,
    typer.Option("--answers", help="Also answer every question, as `lrwr ask` does."),
]
ModelOption = Annotated[
    bool,
    typer.Option(
        "--model", help="Use the language model to write questions, answer and judge."
    ),
]
ReadOption = Annotated[
    bool,
    typer.Option(
        "--read",
        help="With --model: answer only from what each pipeline finds.",
    ),
]
RepeatsOption = Annotated[
    int,
    typer.Option(
        "--repeats",
        min=1,
        max=9,
        metavar="N",
        help="How often each answer is judged.",
    ),
]
EvalBudgetOption = Annotated[
    float | None,
    typer.Option(
        "--budget", min=0, metavar="USD", help="Highest cost of the language model."
    ),
]
EvalDryRunOption = Annotated[
    bool,
    typer.Option("--dry-run", help="Estimate searches, calls and cost. Sends nothing."),
]
CalibrateOption = Annotated[
    bool,
    typer.Option(
        "--calibrate",
        help="Only calibrate search with the questions: its confidence and, of an embedding"
        " model that is not built in, the weight; compare nothing.",
    ),
]
SaveOption = Annotated[
    bool,
    typer.Option("--save", help="With --calibrate: save the calibration and use it."),
]
ResetOption = Annotated[
    bool, typer.Option("--reset", help="Delete the saved calibration.")
]
ReportOption = Annotated[
    Path | None,
    typer.Option(
        "--report", metavar="FILE.md", help="Also write the report to a file."
    ),
]
ForceOption = Annotated[
    bool, typer.Option("--force", help="Replace an existing report.")
]


app = typer.Typer(name="eval", invoke_without_command=True, epilog=EPILOG)


@app.callback()
def eval_command(
    context: typer.Context,
    pipeline: EvalPipelineNameOption = None,
    questions: QuestionsOption = None,
    make: MakeOption = None,
    budgets: BudgetsOption = BUDGETS,
    answers: AnswersOption = False,
    model: ModelOption = False,
    read: ReadOption = False,
    repeats: RepeatsOption = 3,
    budget: EvalBudgetOption = None,
    dry_run: EvalDryRunOption = False,
    calibrate: CalibrateOption = False,
    save: SaveOption = False,
    reset: ResetOption = False,
    report: ReportOption = None,
    force: ForceOption = False,
    as_json: JsonOption = False,
) -> None:
    """Compare the two pipelines on questions with known answers."""
    if context.invoked_subcommand is not None:
        return

    eval_request = EvalRequest(
        pipelines=parse_pipelines(pipeline),
        questions=questions,
        make=make or 0,
        budgets=parse_token_budgets(budgets),
        answers=answers or model,
        model=model,
        read=read,
        repeats=repeats,
        budget=budget or 0.0,
        dry_run=dry_run,
        as_json=as_json,
    )
    settings, output = start_session(context, {"model.budget": budget})
    _check(eval_request, calibrate=calibrate, save=save, reset=reset)
    if calibrate or reset:
        _fit(settings, output, eval_request, save=save, reset=reset)
    else:
        _evaluate(settings, output, eval_request, report, force=force)


@app.command("compare", epilog=COMPARE_EPILOG)
def eval_compare_command(
    context: typer.Context,
    one: Annotated[
        str, typer.Argument(metavar="RUN", help="Run id, or its beginning.")
    ],
    other: Annotated[
        str, typer.Argument(metavar="RUN", help="Run to compare it with.")
    ],
    as_json: JsonOption = False,
) -> None:
    """Compare two runs on their common questions."""
    settings, output = start_session(context)
    evaluation_reports.show_run_comparison(
        settings, output, one, other, as_json=as_json
    )


app.command("review", epilog=eval_review.EPILOG)(eval_review.eval_review_command)


@app.command("runs")
def eval_runs_command(context: typer.Context, as_json: JsonOption = False) -> None:
    """List the stored runs, newest first."""
    settings, output = start_session(context)
    evaluation_reports.show_run_list(settings, output, as_json=as_json)


@app.command("send", epilog=SEND_EPILOG)
def eval_send_command(
    context: typer.Context,
    run: Annotated[
        str | None,
        typer.Argument(
            metavar="[RUN]", help="Run id, or its beginning. Default: the newest."
        ),
    ] = None,
) -> None:
    """Send the results of a run to LangSmith."""
    settings, output = start_session(context)
    run_async(experiments.send_experiment(settings, output, run))


@app.command("show", epilog=SHOW_EPILOG)
def eval_show_command(
    context: typer.Context,
    run: Annotated[
        str | None,
        typer.Argument(
            metavar="[RUN]", help="Run id, or its beginning. Default: the newest."
        ),
    ] = None,
    report: ReportOption = None,
    force: ForceOption = False,
    as_json: JsonOption = False,
) -> None:
    """Show the report of a stored run. Nothing is measured again."""
    settings, output = start_session(context)
    eval_report = evaluation_reports.reload_report(settings, run)
    evaluation_reports.deliver_report(
        settings, output, eval_report, (), report, force=force, as_json=as_json
    )


def _check(request: EvalRequest, *, calibrate: bool, save: bool, reset: bool) -> None:
    if save and not calibrate:
        raise SettingsProblem(
            "`--save` needs `--calibrate`",
            hint="Run `lrwr eval --calibrate --questions questions.jsonl --save`.",
        )
    if reset and calibrate:
        raise SettingsProblem(
            "`--reset` and `--calibrate` cannot be combined",
            hint="Leave out `--reset`: a saved calibration replaces the old one.",
        )
    if calibrate and request.make:
        raise SettingsProblem(
            "`--make` and `--calibrate` cannot be combined",
            hint="Run `lrwr eval --make 150`, then `lrwr eval review`, then calibrate.",
        )
    if request.read and not request.model:
        raise SettingsProblem("`--read` needs a language model", hint="Add `--model`.")


def _fit(
    settings: Settings,
    output: Output,
    request: EvalRequest,
    *,
    save: bool,
    reset: bool,
) -> None:
    if reset:
        calibration.reset_calibration(settings, output, as_json=request.as_json)
        return
    if len(request.pipelines) == 1:
        settings = replace(settings, pipeline=request.pipelines[0])
    file = resolve_question_file(settings, request.questions)
    calibration_run = calibration.run_calibration(
        settings, output, file, save=save, as_json=request.as_json
    )
    run_async(calibration_run)


def _evaluate(
    settings: Settings,
    output: Output,
    request: EvalRequest,
    file: Path | None,
    *,
    force: bool,
) -> None:
    # Imported late: it loads most of the package, which `--help` does not need.
    from lrwr.cli.evaluation.run import run_evaluation

    if file is not None:
        evaluation_reports.check_report_file(settings, file, force=force)
    result = run_async(run_evaluation(settings, output, request))
    if result is not None:
        evaluation_reports.deliver_report(
            settings,
            output,
            result.report,
            result.remarks,
            file,
            force=force,
            as_json=request.as_json,
        )
        run_async(
            experiments.send_experiment_if_enabled(
                settings, output, result.report, as_json=request.as_json
            )
        )
