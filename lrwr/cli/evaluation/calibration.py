"""Fitting, on questions with known answers, when evidence counts as weak."""

from pathlib import Path

from lrwr.app.container import Workspace, open_workspace
from lrwr.cli.presenters import search_quality
from lrwr.cli.runtime.output import Output
from lrwr.cli.runtime.services import require_passages
from lrwr.core.model.errors import NotFound, SettingsProblem
from lrwr.core.retrieval.confidence import (
    SHIPPED_CALIBRATIONS,
    delete_calibrations,
    get_calibration_path,
    index_calibrations,
    load_calibrations,
    save_calibrations,
)
from lrwr.core.settings.library import check_state_dir, resolve_library
from lrwr.core.settings.model import Settings
from lrwr.pipeline.evaluation.calibration_check import (
    CalibrationTrial,
    try_calibrations,
)
from lrwr.pipeline.evaluation.question_runner import (
    CalibrationExamples,
    ExampleCollector,
)
from lrwr.pipeline.evaluation.questions import EvalQuestion, parse_questions


def reset_calibration(settings: Settings, output: Output, *, as_json: bool) -> None:
    """Forget what was fitted in this library."""
    library = resolve_library(settings)
    check_state_dir(library)
    removed = delete_calibrations(library)
    if as_json:
        output.json({"removed": removed})
    elif removed:
        output.story("Back to what lrwr comes with.")
    else:
        output.story("Nothing was fitted here; what lrwr comes with is in use.")


async def run_calibration(
    settings: Settings, output: Output, path: Path, *, save: bool, as_json: bool
) -> None:
    """Fit on a file of questions, show what that is worth, and keep it if asked to.

    Raises:
        NotFound: Nothing has been ingested here, or there is no such file.
        SettingsProblem: The file holds something else.
        LrwrError: There is too little to fit.
    """
    questions = read_question_file(path)
    async with open_workspace(settings, say=output.story) as workspace:
        await require_passages(workspace)
        calibration_examples = await _collect_examples(workspace, output, questions)
        for remark in calibration_examples.remarks:
            output.warn(remark)
        trials = try_calibrations(
            calibration_examples.examples,
            settings.pipeline,
            SHIPPED_CALIBRATIONS,
            f"lrwr eval: {path.name}",
        )
        saved = _save_calibrations(workspace, trials) if save else None
    if as_json:
        output.json(
            search_quality.calibration_trials_as_json(
                trials, calibration_examples.remarks, saved
            )
        )
        return
    with output.paged():
        for trial in trials:
            search_quality.show_calibration_trial(output, trial)
    search_quality.print_calibration_advice(output, trials, saved)


async def _collect_examples(
    workspace: Workspace, output: Output, questions: list[EvalQuestion]
) -> CalibrationExamples:
    finder = workspace.finder()
    order = await finder.story_order()
    asker = ExampleCollector(
        finder, workspace.passages, workspace.settings.pipeline, order
    )
    with output.progress("Searching", len(questions)) as advance:
        return await asker.ask(questions, advance)


def _save_calibrations(workspace: Workspace, trials: list[CalibrationTrial]) -> Path:
    """Keep what was fitted, beside what was kept of other rankings."""
    before, _ = load_calibrations(get_calibration_path(workspace.library))
    fitted = [trial.calibration for trial in trials if trial.calibration is not None]
    calibration_table = index_calibrations([*before, *fitted])
    return save_calibrations(workspace.library, list(calibration_table.values()))


def read_question_file(path: Path) -> list[EvalQuestion]:
    """Return the questions that a file holds.

    Raises:
        NotFound: There is no such file.
        SettingsProblem: It holds something else.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise NotFound(
            f"{path} cannot be read: {error.strerror}", hint="Check the path."
        ) from error
    except UnicodeDecodeError as error:
        raise SettingsProblem(
            f"{path} is not UTF-8 text", hint="Save it as UTF-8."
        ) from error
    return parse_questions(text, str(path))
