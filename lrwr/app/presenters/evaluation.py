"""A run of an evaluation as sheets: for a terminal, or for a Markdown file."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lrwr.app.presenters.plots import DotPlotRow, draw_dot_plot
from lrwr.app.presenters.text import format_count
from lrwr.app.presenters.threads import format_local_time
from lrwr.pipeline.evaluation.comparison import (
    ArmComparison,
    KindRow,
    describe_comparison,
)
from lrwr.pipeline.evaluation.figures import describe_figure, format_figure
from lrwr.pipeline.evaluation.judgements import (
    JudgeFigureSummary,
    panel_result_from_figures,
    summarize_panel_results,
)
from lrwr.pipeline.evaluation.plan import EvalRun
from lrwr.pipeline.evaluation.questions import WRITER_SOURCE, QuestionKind
from lrwr.pipeline.evaluation.report import (
    ArmReport,
    EvalAlarm,
    EvalReport,
    RunComparison,
    count_questions_by_kind,
)

NOT_EVALUATED = "not evaluated"
NONE = "–"

SEARCH_FIGURES = ("hit@1", "hit@5", "hit@10", "mrr", "ndcg@10", "leak", "tokens")
ANSWER_FIGURES = (
    "resolved",
    "citation_precision",
    "citation_recall",
    "quotes",
    "word_overlap",
    "false_gap",
    "invented",
    "answer_leak",
    "answer_tokens",
    "answer_seconds",
    "dollars",
)
"""Figures of arms in the order of their columns, beside those of a budget."""

_KINDS = {
    QuestionKind.FACT: "one fact",
    QuestionKind.SEVERAL: "several passages",
    QuestionKind.RELATIONSHIP: "relationships",
    QuestionKind.TIMELINE: "when it happened",
    QuestionKind.AS_OF: "at a point of the story",
    QuestionKind.UNANSWERABLE: "not in the text",
    QuestionKind.OTHER: "other",
}


_DIGITS = {"precision": 3, "iou": 3, "dollars": 4}
"""Digits of figures that are small by their nature; others have two."""


@dataclass(frozen=True, slots=True)
class ReportSection:
    """A part of a report: what is said, then a table, then a drawing.

    `right` are headings whose column ends aligned.
    """

    heading: str
    said: tuple[str, ...] = ()
    headings: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    drawn: tuple[str, ...] = ()

    @property
    def right(self) -> tuple[str, ...]:
        """Headings of numbers: all but the first."""
        return self.headings[1:]


def render_report_sections(
    report: EvalReport, *, width: int, ascii_only: bool = False
) -> list[ReportSection]:
    """Return a report, most important first; no drawing is wider than `width`."""
    sheets = [
        _what_was_asked(report),
        _said_first(report),
        _searched(report, width, ascii_only=ascii_only),
        _answered(report),
        _judged(report),
        _by_kind(report),
        _climbed(report),
        _also(report),
        _wrong(report),
        _arms(report),
    ]
    return [sheet for sheet in sheets if sheet.said or sheet.rows or sheet.drawn]


def render_report_markdown(sheets: Sequence[ReportSection], title: str) -> str:
    """Return sheets as a Markdown text; nothing in them counts as markup."""
    return "\n".join([f"# {_plain(title)}", *_markdown(sheets)]) + "\n"


def format_run_title(run: EvalRun) -> str:
    """Name a run."""
    return f"Evaluation of {format_local_time(run.made)}"


def describe_question_kind(kind: QuestionKind | None) -> str:
    """Name a kind of questions; None is all of them."""
    return "all" if kind is None else _KINDS[kind]


def _what_was_asked(report: EvalReport) -> ReportSection:
    run = report.run
    plan = run.plan
    kinds = ", ".join(
        f"{describe_question_kind(kind)} {n}"
        for kind, n in count_questions_by_kind(run)
    )
    said = [f"{format_count(len(plan.questions), 'question')}: {kinds}."]
    made = sum(question.made != WRITER_SOURCE for question in plan.questions)
    if made:
        said.append(
            f"{made:,} of them were made by lrwr from your text. `lrwr eval review` shows"
            " them: figures are worth what the questions are."
        )
    budgets = ", ".join(f"{n:,}" for n in plan.budgets)
    said.append(f"Each arm may give {budgets} tokens; the rest of it is cut off.")
    models = [f"{use}: {name}" for use, name in plan.models.items() if name]
    if models:
        said.append(f"Models: {'; '.join(models)}.")
    if not run.complete:
        said.append(
            f"It is not complete: {len(run.lines):,} of {run.wanted:,} parts are there."
            " The same command goes on."
        )
    return ReportSection(format_run_title(run), tuple(said))


def _said_first(report: EvalReport) -> ReportSection:
    said = tuple(
        describe_comparison(one)
        for pair in report.pairs
        for one in pair
        if one.headline and one.figure == report.headline
    )
    return ReportSection("What may be said", said)


def _searched(report: EvalReport, width: int, *, ascii_only: bool) -> ReportSection:
    budgets = sorted(report.run.plan.budgets)
    most = report.headline.partition("@")[2]
    budgeted = [f"recall@{n}" for n in budgets]
    budgeted += [f"{name}@{most}" for name in ("precision", "iou")]
    table = _table(report, [*budgeted, *SEARCH_FIGURES], seconds=True)
    means = [(arm.name, arm.means.get(report.headline)) for arm in report.arms]
    shown = [DotPlotRow(name, mean.interval) for name, mean in means if mean]
    drawn = draw_dot_plot(shown, width=width, ascii_only=ascii_only) if shown else []
    about = describe_figure(report.headline).about
    title = [f"{about.capitalize()}:"] if drawn else []
    return ReportSection("Searching", *table, drawn=(*title, *drawn))


def _answered(report: EvalReport) -> ReportSection:
    said, headings, rows = _table(report, list(ANSWER_FIGURES))
    note = ("Counted, without a judge.",) if rows else ()
    return ReportSection("Answering", (*note, *said), headings, rows)


def _table(
    report: EvalReport, figures: Sequence[str], *, seconds: bool = False
) -> tuple[tuple[str, ...], tuple[str, ...], tuple[tuple[str, ...], ...]]:
    """Return nothing said, headings, and a row for each arm that has any of `figures`.

    A figure that no arm has gets no column.
    """
    there = [name for name in figures if any(name in a.means for a in report.arms)]
    arms = [arm for arm in report.arms if any(name in arm.means for name in there)]
    if not arms:
        return (), (), ()
    times = ("half within", "95 % within") if seconds else ()
    rows = tuple(
        (
            arm.name,
            *(_cell(arm, name) for name in there),
            *((_time(arm.half), _time(arm.most)) if seconds else ()),
        )
        for arm in arms
    )
    return (), ("arm", *(one.replace("_", " ") for one in there), *times), rows


def _cell(arm: ArmReport, figure: str) -> str:
    if figure in arm.worthless:
        return NOT_EVALUATED
    mean = arm.means.get(figure)
    if mean is None:
        return NONE
    digits = 0 if figure.endswith("tokens") else _DIGITS.get(figure.split("@")[0], 2)
    return format_figure(figure, mean.interval.value, digits)


def _time(seconds: float | None) -> str:
    return NONE if seconds is None else f"{seconds:.2f} s"


def _judged(report: EvalReport) -> ReportSection:
    rows = [
        (
            arm.name,
            judge_figure_summary.figure.replace("_", " "),
            NOT_EVALUATED
            if judge_figure_summary.value is None
            else f"{judge_figure_summary.value:.2f}",
            f"{judge_figure_summary.answers:,}",
            f"{judge_figure_summary.tries:,}",
            f"{judge_figure_summary.failed:,}",
            f"{judge_figure_summary.spread:.2f}",
        )
        for arm in report.arms
        for judge_figure_summary in _standings(report.run, arm.name)
    ]
    headings = ("arm", "figure", "value", "answers", "tries", "failed", "spread")
    said = (
        "A model's opinion: the spread is how far its tries at one answer lie apart.",
    )
    return (
        ReportSection("What the judge says", said, headings, tuple(rows))
        if rows
        else _EMPTY
    )


_EMPTY = ReportSection("")


def _standings(run: EvalRun, arm: str) -> list[JudgeFigureSummary]:
    opinions = (
        panel_result_from_figures(outcome.figures, outcome.failed)
        for outcome in run.outcomes
        if outcome.arm == arm
    )
    return summarize_panel_results(opinions)


def _by_kind(report: EvalReport) -> ReportSection:
    rows = report.kinds.get(report.headline, ())
    shown = [row for row in rows if any(cell.questions for cell in row.cells)]
    if not shown:
        return _EMPTY
    arms = tuple(cell.arm for cell in shown[0].cells)
    return ReportSection(
        "By kind of question",
        (
            f"{describe_figure(report.headline).about.capitalize()}. For looking, not for claims.",
        ),
        ("questions", "number", *arms),
        tuple(_kind_row(row) for row in shown),
    )


def _kind_row(row: KindRow) -> tuple[str, ...]:
    number = max(cell.questions for cell in row.cells)
    means = (NONE if cell.mean is None else f"{cell.mean:.2f}" for cell in row.cells)
    return (describe_question_kind(row.kind), f"{number:,}", *means)


def _climbed(report: EvalReport) -> ReportSection:
    if not report.steps:
        return _EMPTY
    first = report.steps[0]
    rows = [(first.a, f"{first.mean_a:.2f}", NONE, NONE)]
    rows += [
        (step.b, f"{step.mean_b:.2f}", _signed(step), "yes" if step.claimed else "no")
        for step in report.steps
    ]
    return ReportSection(
        "What each step adds",
        (f"{describe_figure(report.headline).about.capitalize()}, a step at a time.",),
        ("step", "mean", "more than before", "sure"),
        tuple(rows),
    )


def _signed(arm_comparison: ArmComparison) -> str:
    bounds = arm_comparison.difference
    return f"{bounds.value:+.2f} [{bounds.low:+.2f}, {bounds.high:+.2f}]"


def _also(report: EvalReport) -> ReportSection:
    said: list[str] = []
    for pair in report.pairs:
        others = [one for one in pair if not one.headline and one.questions]
        said += [describe_comparison(one) for one in others if one.claimed]
        unsure = [
            describe_figure(one.figure).about for one in others if not one.claimed
        ]
        if unsure:
            said.append(
                f"{pair[0].b} against {pair[0].a}, no difference can be claimed in:"
                f" {'; '.join(unsure)}."
            )
    return ReportSection("Looked at also", tuple(said))


def _wrong(report: EvalReport) -> ReportSection:
    return ReportSection(
        "What is wrong", tuple(_alarm(alarm) for alarm in report.alarms)
    )


def _alarm(alarm: EvalAlarm) -> str:
    number = f"{alarm.questions:,} of {format_count(alarm.of, 'question')}"
    told = {
        "leak": f"gives what comes later in the story for {number}",
        "answer_leak": f"gives away what comes later in the story in {number}",
        "invented": f"answers {number} as if the text told it, and it does not",
        "resolved": f"cites what does not stand there in {number}",
        "quotes": f"quotes what does not stand in the text in {number}",
    }
    if alarm.reason:
        return (
            f"{alarm.arm}: {alarm.figure.replace('_', ' ')} failed {alarm.questions:,} of"
            f" {alarm.of:,} times, most often so: {alarm.reason}"
        )
    if alarm.figure in told:
        return f"{alarm.arm} {told[alarm.figure]}."
    return (
        f"{alarm.arm} finds the answer to none of {format_count(alarm.of, 'question')}."
    )


def _arms(report: EvalReport) -> ReportSection:
    return ReportSection(
        "The arms", tuple(f"{arm.name}: {arm.told}" for arm in report.arms)
    )


def _markdown(sheets: Sequence[ReportSection]) -> Iterator[str]:
    for number, sheet in enumerate(sheets):
        if number:  # the first one's heading is the title
            yield f"\n## {_plain(sheet.heading)}"
        for sentence in sheet.said:
            yield f"\n{_plain(sentence)}"
        if sheet.rows:
            yield ""
            yield _row(sheet.headings)
            yield _row(["---", *["---:" for _ in sheet.headings[1:]]], plain=False)
            yield from (_row(row) for row in sheet.rows)
        if sheet.drawn:
            yield "\n```text"
            yield from sheet.drawn
            yield "```"


def _row(cells: Sequence[str], *, plain: bool = True) -> str:
    return f"| {' | '.join(_plain(cell) if plain else cell for cell in cells)} |"


def _plain(text: str) -> str:
    """Return a text on one line in which nothing counts as markup."""
    line = " ".join(text.split())
    for sign in "\\`*_<>|#[]":
        line = line.replace(sign, f"\\{sign}")
    return line


def describe_run_comparison(run_comparison: RunComparison) -> Iterator[str]:
    """Say what two runs have in common, and what may be said of their difference."""
    yield (
        f"{format_count(len(run_comparison.matched.questions), 'question')} are the same in both;"
        f" {len(run_comparison.matched.left_out):,} left out."
    )
    yield from run_comparison.matched.differences
    for arm in run_comparison.arms:
        others = [one for one in arm if not one.headline and one.claimed]
        yield from (describe_comparison(one) for one in arm if one.headline)
        yield from (describe_comparison(one) for one in others)
    if not run_comparison.arms:
        yield "No arm is in both, so there is nothing to compare."
