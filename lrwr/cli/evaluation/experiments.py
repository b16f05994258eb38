"""Export of evaluation results to LangSmith."""

from functools import partial

from lrwr.app.container import open_workspace
from lrwr.app.presenters.text import format_count
from lrwr.app.telemetry.evaluations import (
    build_experiments,
    build_golden_set,
    load_library_name,
)
from lrwr.cli.presenters.evaluation_reports import reload_report
from lrwr.cli.runtime.output import Output
from lrwr.cli.runtime.services import announce_first_use, prompt_for_consent
from lrwr.core.model.errors import LrwrError, SettingsProblem
from lrwr.core.settings.model import Settings
from lrwr.core.settings.service_access import is_tracing_texts
from lrwr.pipeline.evaluation.report import EvalReport

_OFF = "off"


async def send_experiment(settings: Settings, output: Output, run: str | None) -> None:
    """Send the results of a stored evaluation run to LangSmith.

    `run` is the run's id or the beginning of it; None means the newest run.

    Raises:
        NotFound: There is no such run, or the library is empty.
        SettingsProblem: LangSmith is not configured, or the run is not complete.
        StoreProblem: The run or the library cannot be read.
        ServiceUnavailable: LangSmith did not accept everything.
    """
    if settings.traces.keeper == _OFF:
        raise SettingsProblem(
            "LangSmith is not configured",
            hint='Set `[traces] keeper = "langsmith"` in your own settings file.',
        )
    report = reload_report(settings, run)
    if not report.run.complete:
        raise SettingsProblem(
            f"The run {report.run.id} is not complete",
            hint="To resume it, repeat the `lrwr eval` command that started it.",
        )
    await _send(settings, output, report, as_json=False)


async def send_experiment_if_enabled(
    settings: Settings, output: Output, report: EvalReport, *, as_json: bool
) -> None:
    """Send the results of a completed run to LangSmith if `[traces] keeper` is set.

    A failure is only printed. With `as_json`, nobody is asked for consent.
    """
    if settings.traces.keeper == _OFF or not report.run.complete:
        return
    try:
        await _send(settings, output, report, as_json=as_json)
    except LrwrError as error:
        output.info(
            f"The results were not sent. {error.full_text} Run `lrwr eval send"
            f" {report.run.id}` to try again."
        )


async def _send(
    settings: Settings, output: Output, report: EvalReport, *, as_json: bool
) -> None:
    async with open_workspace(settings, say=output.info) as workspace:
        workspace.require_library()
        prompt_for_consent(workspace, output, "langsmith", as_json=as_json)
        announce_first_use(workspace, output, "langsmith")
        log = workspace.egress.experiments()
        if log is None:
            return
        library = await load_library_name(workspace.egress.database)
        golden = build_golden_set(report.run, library, workspace.library.root.name)
        experiments = build_experiments(report)
        with output.progress("Sending results", len(experiments)) as advance:
            name = await log.store(golden, experiments, partial(advance, 1))
    text_inclusion = "with" if is_tracing_texts(settings) else "without"
    count_text = format_count(len(golden.examples), "question")
    output.info(
        f"Sent {format_count(len(experiments), 'experiment')} on {count_text} to the"
        f" LangSmith dataset “{name}”, {text_inclusion} your text."
    )
