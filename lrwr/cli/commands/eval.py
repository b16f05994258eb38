"""`lrwr eval`: how well lrwr does on questions whose answers you know."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lrwr.cli.flags import Json

if TYPE_CHECKING:
    from lrwr.cli.output import Output
    from lrwr.core.settings.values import Settings
    from lrwr.pipeline.evaluation.asking import Asked
    from lrwr.pipeline.evaluation.questions import Question
    from lrwr.pipeline.evaluation.trying import Trial
    from lrwr.wiring import Services

EPILOG = (
    "Examples: lrwr eval · lrwr eval --calibrate questions.jsonl · lrwr eval"
    " --calibrate questions.jsonl --save · lrwr eval --reset"
)

Calibrate = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE.jsonl",
        help="Fit when evidence counts as weak, on your own questions: a line of"
        ' {"question", "kind", "gold": [{"file", "quote"}]} each, and at least a quarter'
        ' of kind "unanswerable".',
    ),
]
PipelineName = Annotated[
    str | None,
    typer.Option(
        "--pipeline", metavar="a|b", help="The recipe whose passages to search."
    ),
]
Save = Annotated[bool, typer.Option("--save", help="Keep what was fitted, and use it.")]
Reset = Annotated[
    bool, typer.Option("--reset", help="Go back to what lrwr comes with.")
]


def evaluate(
    context: typer.Context,
    calibrate: Calibrate = None,
    save: Save = False,
    reset: Reset = False,
    pipeline: PipelineName = None,
    as_json: Json = False,
) -> None:
    """Say how far searches can be trusted, and fit that to your own questions."""
    from lrwr.cli.begin import begin
    from lrwr.cli.running import run_async

    settings, output = begin(context, {"pipeline": pipeline})
    _check(calibrate, save=save, reset=reset)
    if calibrate is not None:
        run_async(_calibrate(settings, output, calibrate, save=save, as_json=as_json))
    elif reset:
        _reset(settings, output, as_json=as_json)
    else:
        run_async(_tell(settings, output, as_json=as_json))


def _check(calibrate: Path | None, *, save: bool, reset: bool) -> None:
    from lrwr.core.model.errors import SettingsProblem

    if save and calibrate is None:
        raise SettingsProblem(
            "--save keeps what --calibrate fits",
            hint="Try: lrwr eval --calibrate questions.jsonl --save",
        )
    if reset and calibrate is not None:
        raise SettingsProblem(
            "--reset and --calibrate exclude each other",
            hint="Leave --reset out: what is saved takes the place of what was.",
        )


def _reset(settings: "Settings", output: "Output", *, as_json: bool) -> None:
    from lrwr.core.retrieval.calibrated import forget_kept
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


async def _tell(settings: "Settings", output: "Output", *, as_json: bool) -> None:
    """Say what is in use, and what this command can do."""
    from lrwr.cli import evaluations
    from lrwr.core.retrieval.confidence import SHIPPED
    from lrwr.wiring import open_services

    async with open_services(settings, say=output.warn) as services:
        known = [
            one
            for (_, pipeline), one in services.calibrations().items()
            if pipeline is settings.pipeline
        ]
        shipped = set(SHIPPED.values())
    if as_json:
        output.json(
            {
                "pipeline": settings.pipeline,
                "in_use": [evaluations.calibration_as_json(one) for one in known],
            }
        )
        return
    evaluations.show_in_use(output, known, shipped)


async def _calibrate(
    settings: "Settings", output: "Output", path: Path, *, save: bool, as_json: bool
) -> None:
    from lrwr.cli import evaluations
    from lrwr.cli.unread import require_passages
    from lrwr.core.retrieval.confidence import SHIPPED
    from lrwr.pipeline.evaluation.trying import try_out
    from lrwr.wiring import open_services

    questions = _read(path)
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
        output.json(evaluations.as_json(trials, asked.remarks, saved))
        return
    with output.paged():
        for trial in trials:
            evaluations.show(output, trial)
    evaluations.say_what_now(output, trials, saved)


async def _ask(
    services: "Services", output: "Output", questions: "list[Question]"
) -> "Asked":
    from lrwr.pipeline.evaluation.asking import Asker

    finder = services.finder()
    order = await finder.story_order()
    asker = Asker(finder, services.passages, services.settings.pipeline, order)
    with output.progress("Searching", len(questions)) as advance:
        return await asker.ask(questions, advance)


def _saved(services: "Services", trials: "list[Trial]") -> Path:
    """Keep what was fitted, beside what was kept of other rankings."""
    from lrwr.core.retrieval.calibrated import keep, kept_file, read_kept
    from lrwr.core.retrieval.confidence import calibrations

    before, _ = read_kept(kept_file(services.library))
    fitted = [trial.calibration for trial in trials if trial.calibration is not None]
    kept = calibrations([*before, *fitted])
    return keep(services.library, list(kept.values()))


def _read(path: Path) -> "list[Question]":
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
