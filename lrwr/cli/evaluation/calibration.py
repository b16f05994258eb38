"""`lrwr eval --calibrate` and `--reset`: below which score search results count as
weak.

A calibration maps search scores to the probability that the first passages hold the
answer.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path

from lrwr.app.container import Workspace, open_workspace
from lrwr.app.presenters.text import StyledText
from lrwr.cli.evaluation import calibration
from lrwr.cli.runtime.output import Output
from lrwr.cli.runtime.question_file import read_input_file
from lrwr.cli.runtime.services import require_passages
from lrwr.core.retrieval.confidence import (
    SHIPPED_CALIBRATIONS,
    Calibration,
    delete_calibrations,
    get_calibration_path,
    index_calibrations,
    load_calibrations,
    load_embedding_weights,
    save_calibrations,
)
from lrwr.core.retrieval.retrievers import EmbeddingWeight
from lrwr.core.settings.library import check_state_dir, resolve_library
from lrwr.core.settings.model import Settings
from lrwr.pipeline.evaluation.calibration import (
    CalibrationExamples,
    CalibrationTrial,
    ExampleCollector,
    try_calibrations,
)
from lrwr.pipeline.evaluation.calibration_figures import CalibrationFigures
from lrwr.pipeline.evaluation.embedding_weight import (
    FACTORS,
    RankCollector,
    choose_embedding_weight,
)
from lrwr.pipeline.evaluation.intervals import Interval
from lrwr.pipeline.evaluation.questions import EvalQuestion, parse_questions


def reset_calibration(settings: Settings, output: Output, *, as_json: bool) -> None:
    """Delete the library's own calibration, so that the one shipped with lrwr is used.

    Print whether there was one.
    """
    library = resolve_library(settings)
    check_state_dir(library)
    removed = delete_calibrations(library)
    if as_json:
        output.json({"removed": removed})
    elif removed:
        output.info("Deleted the saved calibration; the shipped one is in use.")
    else:
        output.info("There is no saved calibration; the shipped one is in use.")


async def run_calibration(
    settings: Settings, output: Output, path: Path, *, save: bool, as_json: bool
) -> None:
    """Calibrate search on the questions in `path`, and print figures.

    Fits the weight of embeddings, unless the built-in embedding model is used, then the
    confidence. With `save`, the library uses both from now on.

    Raises:
        NotFound: The library is empty, or the file does not exist.
        SettingsProblem: The file is not a file of questions.
        LrwrError: There are too few questions.
    """
    questions = read_question_file(path)
    async with open_workspace(settings, say=output.info) as workspace:
        await require_passages(workspace)
        weight = await _fit_embedding_weight(workspace, output, questions)
        calibration_examples = await _collect_examples(
            workspace, output, questions, weight
        )
        for remark in calibration_examples.remarks:
            output.warn(remark)
        trials = try_calibrations(
            calibration_examples.examples,
            settings.pipeline,
            SHIPPED_CALIBRATIONS,
            f"lrwr eval: {path.name}",
        )
        saved = _save_calibrations(workspace, trials, weight) if save else None
    if as_json:
        output.json(
            calibration.calibration_trials_as_json(
                trials, calibration_examples.remarks, saved, weight
            )
        )
        return
    with output.paged():
        if weight is not None:
            output.answer(describe_embedding_weight(weight))
            output.answer()
        for trial in trials:
            calibration.show_calibration_trial(output, trial)
    calibration.print_calibration_advice(output, trials, saved)


async def _fit_embedding_weight(
    workspace: Workspace, output: Output, questions: list[EvalQuestion]
) -> EmbeddingWeight | None:
    """Fit the weight of the configured embedding model.

    None for the built-in model, whose weight is part of lrwr, without embeddings, and
    if too few of `questions` can be answered.
    """
    retrieval = workspace.retrieval
    space = await asyncio.to_thread(retrieval.find_other_space)
    if not space:
        return None
    finders = {f: retrieval.finder(dense_factors={space: f}) for f in FACTORS}
    order = await finders[1.0].story_order()
    collector = RankCollector(
        finders, workspace.passages, workspace.settings.pipeline, order
    )
    with output.progress("Fitting the weight of embeddings", len(questions)) as advance:
        ranks = await collector.collect(questions, advance)
    return choose_embedding_weight(space, ranks)


async def _collect_examples(
    workspace: Workspace,
    output: Output,
    questions: list[EvalQuestion],
    weight: EmbeddingWeight | None,
) -> CalibrationExamples:
    factors = {weight.space: weight.factor} if weight is not None else None
    finder = workspace.retrieval.finder(dense_factors=factors)
    order = await finder.story_order()
    asker = ExampleCollector(
        finder, workspace.passages, workspace.settings.pipeline, order
    )
    with output.progress("Searching", len(questions)) as advance:
        return await asker.ask(questions, advance)


def _save_calibrations(
    workspace: Workspace,
    trials: list[CalibrationTrial],
    weight: EmbeddingWeight | None,
) -> Path:
    """Save new calibrations and the weight of embeddings together with stored ones of
    other rankings and embedding models.
    """
    path = get_calibration_path(workspace.library)
    before, _ = load_calibrations(path)
    weights = {stored.space: stored for stored in load_embedding_weights(path)}
    if weight is not None:
        weights[weight.space] = weight
    fitted = [trial.calibration for trial in trials if trial.calibration is not None]
    calibration_table = index_calibrations([*before, *fitted])
    return save_calibrations(
        workspace.library, list(calibration_table.values()), list(weights.values())
    )


def read_question_file(path: Path) -> list[EvalQuestion]:
    """Return the questions of a file, in its order.

    Raises:
        NotFound: The file cannot be read.
        SettingsProblem: It is not a file of questions.
    """
    return parse_questions(read_input_file(path), str(path))


_RANKINGS = {
    "late-interaction": "reranked",
    "cohere": "reranked by Cohere",
    "off": "not reranked",
    "people": "for questions about characters",
}


def describe_ranking(ranking: str) -> str:
    """Return how passages were ranked, followed by the id `ranking` in parentheses.

    An example is "not reranked (off)". An unknown id is returned unchanged.
    """
    description = _RANKINGS.get(ranking.partition("/")[0])
    return f"{description} ({ranking})" if description else ranking


def describe_embedding_weight(weight: EmbeddingWeight) -> str:
    """Return a sentence on the weight of an embedding model and what it improves."""
    ranks = f"MRR {_two(weight.default_mrr)} with the default, {_two(weight.mrr)}"
    return (
        f"Weight of the embeddings of {weight.space}: {weight.factor:g} times the default,"
        f" fitted on {weight.questions} questions ({ranks} fitted and cross-validated)."
    )


def describe_calibrations(calibrations: Sequence[Calibration]) -> list[str]:
    """Return a sentence for each of `calibrations`, in their order.

    It names the ranking, the number of the user's questions that it was fitted on, the
    area under the ROC curve (0.5 is chance) and the threshold.
    """
    return [
        f"Search confidence, {describe_ranking(calibration.ranking)}: fitted on your"
        f" questions ({calibration.questions}), AUROC {_two(calibration.auroc)}, low"
        f" confidence below {_two(calibration.threshold)}."
        for calibration in calibrations
    ]


def show_calibration_trial(output: Output, trial: CalibrationTrial) -> None:
    """Print how many questions one ranking answers, and how good calibrations are.

    A table compares the shipped calibration with the new one; either may be missing.
    """
    missed = trial.questions - trial.found - trial.unanswerable
    output.answer(StyledText(f"Search {describe_ranking(trial.ranking)}", "strong"))
    output.answer(
        f"{trial.questions} questions: {trial.found} with the answer in the first passages,"
        f" {missed} missed, {trial.unanswerable} that the text does not answer."
    )
    if trial.short_of:
        output.answer(f"Not fitted: {trial.short_of}.")
    sides = [side for side in (trial.shipped, trial.own) if side is not None]
    if sides:
        headings = ["", *(["as shipped"] if trial.shipped else [])]
        headings += ["fitted here"] if trial.own else []
        output.table(headings, [[n, *map(of, sides)] for n, of in _rows(sides)])
    output.answer()


def print_calibration_advice(
    output: Output, trials: Sequence[CalibrationTrial], saved: Path | None
) -> None:
    """Print how to read the figures, and where calibrations were stored.

    `saved` is their file, None if they were not stored.
    """
    output.info(
        "AUROC: how often a question whose answer was found has a higher confidence than"
        " one whose answer was not; 0.5 is chance. Brier error: 0 is best; in"
        " parentheses, the error if all questions had one confidence. Fitted figures are"
        " cross-validated."
    )
    if any(trial.calibration and trial.chance for trial in trials):
        output.warn(
            "The calibration may be no better than chance. If so, ignore warnings of"
            " low confidence."
        )
    if saved is not None:
        output.info(f"Saved in {saved}. Run `lrwr eval --reset` to delete it.")
    else:
        output.info("Nothing was saved. Add `--save` to save the fit.")


def calibration_trials_as_json(
    trials: Sequence[CalibrationTrial],
    remarks: Sequence[str],
    saved: Path | None,
    weight: EmbeddingWeight | None = None,
) -> dict[str, object]:
    """Return the results of calibration as JSON: `rankings`, `embedding_weight`,
    `remarks` and `saved`.

    Each ranking has numbers of questions, the figures of the `shipped` and the `fitted`
    calibration, and the new `calibration`; these three are None if missing. `remarks`
    are sentences; `saved` is the file of the new calibrations, None if not stored.
    `embedding_weight` is None for the built-in embedding model.
    """
    return {
        "rankings": [
            {
                "ranking": trial.ranking,
                "questions": trial.questions,
                "found": trial.found,
                "unanswerable": trial.unanswerable,
                "shipped": _figures(trial.shipped),
                "fitted": _figures(trial.own),
                "calibration": trial.calibration
                and calibration_as_json(trial.calibration),
                "short_of": trial.short_of,
            }
            for trial in trials
        ],
        "embedding_weight": None if weight is None else asdict(weight),
        "remarks": list(remarks),
        "saved": None if saved is None else str(saved),
    }


def calibration_as_json(calibration: Calibration) -> dict[str, object]:
    """Return a calibration as JSON; keys are the names of its fields."""
    return asdict(calibration)


def _figures(figures: CalibrationFigures | None) -> dict[str, object] | None:
    return None if figures is None else asdict(figures)


_Row = tuple[str, Callable[[CalibrationFigures], str]]


def _rows(sides: Sequence[CalibrationFigures]) -> list[_Row]:
    rows: list[_Row] = [
        ("AUROC, found", lambda side: _interval(side.found)),
        ("AUROC, answerable", lambda side: _interval(side.answerable)),
        ("Brier error", lambda side: f"{_two(side.brier)} ({_two(side.plain_brier)})"),
        ("low confidence below", lambda side: _two(side.threshold)),
        ("found, but low confidence", lambda side: _share(side.doubted.found)),
        ("missed, with low confidence", lambda side: _share(side.doubted.missed)),
        (
            "unanswerable, with low confidence",
            lambda side: _share(side.doubted.unanswerable),
        ),
    ]
    for n, coverage in enumerate(sides[0].coverage):
        name = f"wrong among the surest {coverage.coverage:.0%}"
        rows.append((name, _wrong(n)))
    return rows


def _wrong(row: int) -> Callable[[CalibrationFigures], str]:
    return lambda side: _two(1 - side.coverage[row].right)


def _interval(interval: Interval | None) -> str:
    if interval is None:
        return "-"
    return f"{_two(interval.value)} ({_two(interval.low)} to {_two(interval.high)})"


def _share(share: float | None) -> str:
    return "-" if share is None else _two(share)


def _two(value: float) -> str:
    return f"{value:.2f}"
