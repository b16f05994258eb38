"""Shows, writes, lists and compares the reports of evaluation runs."""

from collections.abc import Sequence
from pathlib import Path

from lrwr.app.presenters.evaluation import (
    ReportSection,
    describe_run_comparison,
    format_run_title,
    render_report_markdown,
    render_report_sections,
)
from lrwr.app.presenters.text import StyledText
from lrwr.app.presenters.threads import format_local_time
from lrwr.cli.runtime.output import Output
from lrwr.core.settings.files import check_output_file, write_output_file
from lrwr.core.settings.library import check_state_dir, resolve_library
from lrwr.core.settings.model import Settings
from lrwr.pipeline.evaluation.comparison import ArmComparison, describe_comparison
from lrwr.pipeline.evaluation.report import (
    ArmReport,
    EvalReport,
    build_eval_report,
    compare_eval_runs,
)
from lrwr.pipeline.evaluation.runs import (
    EvalRun,
    list_eval_runs,
    load_eval_run,
    load_latest_eval_run,
    locate_evaluations_folder,
)
from lrwr.pipeline.evaluation.variants import (
    VARIANT_A,
    VARIANT_B,
    WHOLE_TEXT_NAME,
)


def build_run_report(run: EvalRun) -> EvalReport:
    """Return the report of an evaluation run.

    It compares pipeline b with pipeline a, and the whole text with pipeline b.
    """
    return build_eval_report(
        run,
        pairs=[(VARIANT_A.name, VARIANT_B.name), (VARIANT_B.name, WHOLE_TEXT_NAME)],
    )


def check_report_file(settings: Settings, file: Path, *, force: bool) -> None:
    """Raise an error if a report cannot be written to `file`; call it before measuring.

    Raises:
        SettingsProblem: It is not `.md`, exists without `force`, or is in the
            manuscript.
    """
    check_output_file(file, settings, (".md",), force=force or None)


def deliver_report(
    settings: Settings,
    output: Output,
    report: EvalReport,
    remarks: Sequence[str],
    file: Path | None,
    *,
    force: bool,
    as_json: bool,
) -> None:
    """Print a report as text or JSON, and write it as Markdown to `file` unless None.

    `remarks` are sentences on its limitations. With `force`, an existing file is
    replaced.

    Raises:
        SettingsProblem: The file may not be written.
        LrwrError: Writing failed.
    """
    for remark in remarks:
        output.info(remark)
    if file is not None:
        check_report_file(settings, file, force=force)
        sections = render_report_sections(report)
        text = render_report_markdown(sections, format_run_title(report.run))
        write_output_file(file, text.encode(), force=force or None)
    if as_json:
        output.json({**eval_report_as_json(report), "remarks": list(remarks)})
    else:
        show_report_sections(
            output,
            render_report_sections(report),
        )
    if file is not None:
        output.info(f"Wrote the report to {file}.")


def show_report_sections(output: Output, sections: Sequence[ReportSection]) -> None:
    """Print the sections of a report in their order, through the pager if it is on."""
    with output.paged():
        for number, section in enumerate(sections):
            if number:
                output.answer()
            output.answer(StyledText(section.heading, "strong"))
            for sentence in section.sentences:
                output.answer(sentence)
            if section.rows:
                output.table(section.headings, section.rows, right=section.right)


def reload_report(settings: Settings, run: str | None) -> EvalReport:
    """Return the report of a stored evaluation run.

    `run` is the run's id or the beginning of it; None means the newest run.

    Raises:
        NotFound: There is no such run.
        StoreProblem: It cannot be read.
    """
    folder = _folder(settings)
    return build_run_report(
        load_eval_run(folder, run) if run else load_latest_eval_run(folder)
    )


def show_run_list(settings: Settings, output: Output, *, as_json: bool) -> None:
    """Print the stored evaluation runs, newest first, as a table or JSON.

    The JSON is `{"runs": [...]}`; `made` is in seconds since 1970.
    """
    eval_runs = list_eval_runs(_folder(settings))
    if as_json:
        runs = [
            {
                "id": run.id,
                "made": run.made,
                "questions": len(run.plan.questions),
                "arms": [arm.name for arm in run.plan.arms],
                "complete": run.complete,
            }
            for run in eval_runs
        ]
        output.json({"runs": runs})
        return
    rows = [
        (
            run.id,
            format_local_time(run.made),
            f"{len(run.plan.questions):,}",
            ", ".join(arm.name for arm in run.plan.arms[:3])
            + (" …" if len(run.plan.arms) > 3 else ""),
            "" if run.complete else "not complete",
        )
        for run in eval_runs
    ]
    if rows:
        output.table(("run", "when", "questions", "arms", ""), rows)
    else:
        output.info("There are no runs yet. Run `lrwr eval`.")


def show_run_comparison(
    settings: Settings, output: Output, first_id: str, second_id: str, *, as_json: bool
) -> None:
    """Print a comparison of two evaluation runs on their common questions.

    Each arm (way to search) that both have is compared. The ids may be shortened to
    their beginnings.

    Raises:
        NotFound: There is no such run.
        StoreProblem: One cannot be read.
    """
    folder = _folder(settings)
    eval_runs = compare_eval_runs(
        load_eval_run(folder, first_id), load_eval_run(folder, second_id)
    )
    if as_json:
        comparisons = [
            [arm_comparison_as_json(comparison) for comparison in arm]
            for arm in eval_runs.arms
        ]
        output.json(
            {
                "questions": len(eval_runs.matched.questions),
                "left_out": list(eval_runs.matched.left_out),
                "differences": list(eval_runs.matched.differences),
                "comparisons": [row for rows in comparisons for row in rows],
            }
        )
        return

    for sentence in describe_run_comparison(eval_runs):
        output.answer(sentence)


def eval_report_as_json(report: EvalReport) -> dict[str, object]:
    """Return the report of an evaluation run as JSON.

    `made` is in seconds since 1970, `budgets` are in tokens. `arms` (ways to search)
    have `figures` with mean and interval, None if too many questions failed.
    `comparisons` are those of `arm_comparison_as_json`; `wrong` are results that must
    not happen.
    """
    run = report.run
    return {
        "run": run.id,
        "made": run.made,
        "complete": run.complete,
        "questions": len(run.plan.questions),
        "budgets": list(run.plan.budgets),
        "models": dict(run.plan.models),
        "headline": report.headline,
        "arms": [_arm_as_json(arm) for arm in report.arms],
        "comparisons": [
            arm_comparison_as_json(comparison)
            for pair in report.pairs
            for comparison in pair
        ],
        "wrong": [
            {
                "arm": alarm.arm,
                "figure": alarm.figure,
                "questions": alarm.questions,
                "of": alarm.of,
                "reason": alarm.reason,
            }
            for alarm in report.alarms
        ],
    }


def arm_comparison_as_json(arm_comparison: ArmComparison) -> dict[str, object]:
    """Return the comparison of two arms (ways to search) by one measure as JSON.

    `difference` is the mean of arm `b` minus that of `a`, with the bounds of its
    interval; infinite bounds become None. `chance`, `mcnemar` and `corrected` are
    p-values. `claimed` is true if the arms may be called different; `verdict` says so
    in a sentence.
    """
    return {
        "figure": arm_comparison.figure,
        "a": arm_comparison.a,
        "b": arm_comparison.b,
        "questions": arm_comparison.questions,
        "mean_a": arm_comparison.mean_a,
        "mean_b": arm_comparison.mean_b,
        "difference": _bounds(
            arm_comparison.difference.value,
            arm_comparison.difference.low,
            arm_comparison.difference.high,
        ),
        "mcnemar": arm_comparison.mcnemar,
        "chance": arm_comparison.chance,
        "corrected": arm_comparison.corrected,
        "claimed": arm_comparison.claimed,
        "verdict": describe_comparison(arm_comparison),
    }


def _arm_as_json(arm: ArmReport) -> dict[str, object]:
    return {
        "name": arm.name,
        "told": arm.description,
        "questions": arm.questions,
        "figures": {
            name: None
            if name in arm.unreliable
            else _bounds(mean.interval.value, mean.interval.low, mean.interval.high)
            for name, mean in arm.means.items()
        },
        "failed": dict(arm.failed),
        "seconds_p50": arm.median_seconds,
        "seconds_p95": arm.p95_seconds,
    }


def _bounds(value: float, low: float, high: float) -> dict[str, float | None]:
    """Return a value with its bounds; None for an infinite one."""
    ends = {"value": value, "low": low, "high": high}
    return {
        n: None if abs(bound) == float("inf") else bound for n, bound in ends.items()
    }


def _folder(settings: Settings) -> Path:
    library = resolve_library(settings)
    check_state_dir(library)
    return locate_evaluations_folder(library)
