"""Fitting, on questions with known answers, when evidence counts as weak."""

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lrwr.app.container import Services
    from lrwr.cli.runtime.output import Output
    from lrwr.core.settings.model import Settings
    from lrwr.pipeline.evaluation.calibration_check import Trial
    from lrwr.pipeline.evaluation.question_runner import Asked
    from lrwr.pipeline.evaluation.questions import Question


def reset(settings: "Settings", output: "Output", *, as_json: bool) -> None:
    """Forget what was fitted in this library."""
    from lrwr.core.retrieval.calibration_store import forget_kept
    from lrwr.core.settings.library import check_state_dir, library_of

    library = library_of(settings)
    check_state_dir(library)
    removed = forget_kept(library)
    if as_json:
        output.json({"removed": removed})
    elif removed:
        output.story("Back to what lrwr comes with.")
    else:
        output.story("Nothing was fitted here; what lrwr comes with is in use.")


async def calibrate(
    settings: "Settings", output: "Output", path: Path, *, save: bool, as_json: bool
) -> None:
    """Fit on a file of questions, show what that is worth, and keep it if asked to.

    Raises:
        NotFound: Nothing has been ingested here, or there is no such file.
        SettingsProblem: The file holds something else.
        LrwrError: There is too little to fit.
    """
    from lrwr.app.container import open_services
    from lrwr.cli.presenters import search_quality
    from lrwr.cli.runtime.session import require_passages
    from lrwr.core.retrieval.confidence import SHIPPED
    from lrwr.pipeline.evaluation.calibration_check import try_out

    questions = read_file(path)
    async with open_services(settings, say=output.story) as services:
        await require_passages(services)
        asked = await _ask(services, output, questions)
        for remark in asked.remarks:
            output.warn(remark)
        trials = try_out(
            asked.examples, settings.pipeline, SHIPPED, f"lrwr eval: {path.name}"
        )
        saved = _saved(services, trials) if save else None
    if as_json:
        output.json(search_quality.as_json(trials, asked.remarks, saved))
        return
    with output.paged():
        for trial in trials:
            search_quality.show(output, trial)
    search_quality.say_what_now(output, trials, saved)


async def _ask(
    services: "Services", output: "Output", questions: "list[Question]"
) -> "Asked":
    from lrwr.pipeline.evaluation.question_runner import Asker

    finder = services.finder()
    order = await finder.story_order()
    asker = Asker(finder, services.passages, services.settings.pipeline, order)
    with output.progress("Searching", len(questions)) as advance:
        return await asker.ask(questions, advance)


def _saved(services: "Services", trials: "list[Trial]") -> Path:
    """Keep what was fitted, beside what was kept of other rankings."""
    from lrwr.core.retrieval.calibration_store import keep, kept_file, read_kept
    from lrwr.core.retrieval.confidence import calibrations

    before, _ = read_kept(kept_file(services.library))
    fitted = [trial.calibration for trial in trials if trial.calibration is not None]
    kept = calibrations([*before, *fitted])
    return keep(services.library, list(kept.values()))


def read_file(path: Path) -> "list[Question]":
    """Return the questions that a file holds.

    Raises:
        NotFound: There is no such file.
        SettingsProblem: It holds something else.
    """
    from lrwr.core.model.errors import NotFound, SettingsProblem
    from lrwr.pipeline.evaluation.questions import read_questions

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
    return read_questions(text, str(path))
