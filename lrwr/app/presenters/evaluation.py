"""The report of an evaluation run as sections, for a terminal or a Markdown file."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import isfinite

from lrwr.app.presenters.text import format_count
from lrwr.app.presenters.threads import format_local_time
from lrwr.pipeline.evaluation.comparison import (
    KindRow,
    describe_comparison,
    describe_figure,
    format_figure,
)
from lrwr.pipeline.evaluation.judgements import (
    JudgeFigureSummary,
    panel_result_from_figures,
    summarize_panel_results,
)
from lrwr.pipeline.evaluation.questions import WRITER_SOURCE, QuestionKind
from lrwr.pipeline.evaluation.report import (
    ArmReport,
    EvalAlarm,
    EvalReport,
    RunComparison,
    count_questions_by_kind,
)
from lrwr.pipeline.evaluation.runs import MODEL_USES, EvalRun

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
"""Figures of arms in the order of their columns, besides those at a token budget."""

_MODEL_NAMES = {"none, the text speaks": "none (quotations from the text)"}
"""Labels of models that older runs store under another name."""

_KINDS = {
    QuestionKind.FACT: "one fact",
    QuestionKind.SEVERAL: "several passages",
    QuestionKind.RELATIONSHIP: "relationships",
    QuestionKind.TIMELINE: "time",
    QuestionKind.AS_OF: "up to a chapter",
    QuestionKind.UNANSWERABLE: "unanswerable",
    QuestionKind.OTHER: "other",
}


_DIGITS = {"precision": 3, "iou": 3, "dollars": 4}
"""Decimals of figures that are typically small; others have two."""


@dataclass(frozen=True, slots=True)
class ReportSection:
    """A section of a report: `heading`, paragraphs (`sentences`), then a table.

    The table has column `headings` and `rows` of cells; both are empty without a table.
    """

    heading: str
    sentences: tuple[str, ...] = ()
    headings: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()

    @property
    def right(self) -> tuple[str, ...]:
        """The headings of right-aligned columns: all but the first."""
        return self.headings[1:]


def render_report_sections(report: EvalReport) -> list[ReportSection]:
    """Return the sections of an evaluation report, most important first.

    Sections without sentences and rows are left out.
    """
    sections = [
        _questions_section(report),
        _headline_section(report),
        _search_section(report),
        _answer_section(report),
        _judge_section(report),
        _kinds_section(report),
        _other_figures_section(report),
        _alarms_section(report),
        _arms(report),
    ]
    return [section for section in sections if section.sentences or section.rows]


def render_report_markdown(sections: Sequence[ReportSection], title: str) -> str:
    """Return a Markdown document with the heading `title` and the `sections`.

    Markup characters in their texts are escaped.
    """
    return "\n".join([f"# {_plain(title)}", *_markdown(sections)]) + "\n"


def format_run_title(run: EvalRun) -> str:
    """Return the title of an evaluation run, with its local date and time."""
    return f"Evaluation of {format_local_time(run.made)}"


def describe_question_kind(kind: QuestionKind | None) -> str:
    """Return the user's words for a kind of test question; "all" for None."""
    return "all" if kind is None else _KINDS[kind]


def _questions_section(report: EvalReport) -> ReportSection:
    run = report.run
    plan = run.plan
    kinds = ", ".join(
        f"{describe_question_kind(kind)} {n}"
        for kind, n in count_questions_by_kind(run)
    )
    sentences = [f"{format_count(len(plan.questions), 'question')}: {kinds}."]
    generated = sum(question.made != WRITER_SOURCE for question in plan.questions)
    if generated:
        sentences.insert(
            0,
            "The figures are an upper bound: generated questions use the words of your"
            " text, and your own questions find less.",
        )
        sentences.append(
            f"{generated:,} of them were generated from your text. Check them with"
            " `lrwr eval review`: the figures are only as good as the questions."
        )
    budgets = ", ".join(f"{n:,}" for n in plan.budgets)
    sentences.append(
        "Each arm (a way of finding text) is compared by the first"
        f" {budgets} tokens of the passages that it finds."
    )
    models = [
        f"{MODEL_USES.get(use, use)}: {_MODEL_NAMES.get(name, name)}"
        for use, name in plan.models.items()
        if name
    ]
    if models:
        sentences.append(f"Models: {'; '.join(models)}.")
    if not run.complete:
        sentences.append(
            f"The run is not complete: {len(run.lines):,} of {run.part_count:,} results."
            " Run the same command to resume it."
        )
    return ReportSection(format_run_title(run), tuple(sentences))


def _headline_section(report: EvalReport) -> ReportSection:
    sentences = tuple(
        describe_comparison(comparison)
        for pair in report.pairs
        for comparison in pair
        if comparison.headline and comparison.figure == report.headline
    )
    return ReportSection("Result", sentences)


def _search_section(report: EvalReport) -> ReportSection:
    budgets = sorted(report.run.plan.budgets)
    headline_budget = report.headline.partition("@")[2]
    budgeted = [f"recall@{n}" for n in budgets]
    budgeted += [f"{name}@{headline_budget}" for name in ("precision", "iou")]
    return ReportSection(
        "Retrieval", *_table(report, [*budgeted, *SEARCH_FIGURES], seconds=True)
    )


def _answer_section(report: EvalReport) -> ReportSection:
    sentences, headings, rows = _table(report, list(ANSWER_FIGURES))
    note = ("Computed by rules, not judged by a language model.",) if rows else ()
    return ReportSection("Answers", (*note, *sentences), headings, rows)


def _table(
    report: EvalReport, figures: Sequence[str], *, seconds: bool = False
) -> tuple[tuple[str, ...], tuple[str, ...], tuple[tuple[str, ...], ...]]:
    """Return no sentences, the headings, and a row for each arm that has any figure.

    A figure that no arm has gets no column.
    """
    present = [name for name in figures if any(name in a.means for a in report.arms)]
    arms = [arm for arm in report.arms if any(name in arm.means for name in present)]
    if not arms:
        return (), (), ()
    times = ("median time", "95th percentile") if seconds else ()
    rows = tuple(
        (
            arm.name,
            *(_cell(arm, name, bounds=name == report.headline) for name in present),
            *((_time(arm.median_seconds), _time(arm.p95_seconds)) if seconds else ()),
        )
        for arm in arms
    )
    return (), ("arm", *(figure.replace("_", " ") for figure in present), *times), rows


def _cell(arm: ArmReport, figure: str, *, bounds: bool) -> str:
    if figure in arm.unreliable:
        return NOT_EVALUATED
    mean = arm.means.get(figure)
    if mean is None:
        return NONE
    digits = 0 if figure.endswith("tokens") else _DIGITS.get(figure.split("@")[0], 2)
    value = format_figure(figure, mean.interval.value, digits)
    if not bounds:
        return value
    ends = (mean.interval.low, mean.interval.high)
    low, high = (f"{end:.2f}" if isfinite(end) else "?" for end in ends)
    return f"{value} [{low}, {high}]"


def _time(seconds: float | None) -> str:
    return NONE if seconds is None else f"{seconds:.2f} s"


def _judge_section(report: EvalReport) -> ReportSection:
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
        for judge_figure_summary in _summarize_judgements(report.run, arm.name)
    ]
    headings = ("arm", "figure", "value", "answers", "tries", "failed", "spread")
    sentences = (
        "Scores by a language model. Spread: the difference between the highest and the"
        " lowest score of one answer.",
    )
    return (
        ReportSection("Judged answers", sentences, headings, tuple(rows))
        if rows
        else _EMPTY
    )


_EMPTY = ReportSection("")


def _summarize_judgements(run: EvalRun, arm: str) -> list[JudgeFigureSummary]:
    opinions = (
        panel_result_from_figures(outcome.figures, outcome.failed)
        for outcome in run.outcomes
        if outcome.arm == arm
    )
    return summarize_panel_results(opinions)


def _kinds_section(report: EvalReport) -> ReportSection:
    rows = report.kinds.get(report.headline, ())
    kind_rows = [row for row in rows if any(cell.questions for cell in row.cells)]
    if not kind_rows:
        return _EMPTY
    arms = tuple(cell.arm for cell in kind_rows[0].cells)
    return ReportSection(
        "By kind of question",
        (
            f"{describe_figure(report.headline).capitalize()}. Not tested for significance.",
        ),
        ("questions", "number", *arms),
        tuple(_kind_row(row) for row in kind_rows),
    )


def _kind_row(row: KindRow) -> tuple[str, ...]:
    number = max(cell.questions for cell in row.cells)
    means = (NONE if cell.mean is None else f"{cell.mean:.2f}" for cell in row.cells)
    return (describe_question_kind(row.kind), f"{number:,}", *means)


def _other_figures_section(report: EvalReport) -> ReportSection:
    sentences: list[str] = []
    for pair in report.pairs:
        other_comparisons = [
            comparison
            for comparison in pair
            if not comparison.headline and comparison.questions
        ]
        sentences += [
            describe_comparison(comparison)
            for comparison in other_comparisons
            if comparison.claimed
        ]
        unsure = [
            describe_figure(comparison.figure)
            for comparison in other_comparisons
            if not comparison.claimed
        ]
        if unsure:
            sentences.append(
                f"{pair[0].b} against {pair[0].a}: no significant difference in"
                f" {'; '.join(unsure)}."
            )
    return ReportSection("Other figures", tuple(sentences))


def _alarms_section(report: EvalReport) -> ReportSection:
    return ReportSection(
        "Problems", tuple(_describe_alarm(alarm) for alarm in report.alarms)
    )


def _describe_alarm(alarm: EvalAlarm) -> str:
    number = f"{alarm.questions:,} of {format_count(alarm.of, 'question')}"
    texts = {
        "leak": f"retrieves text from after the point of the story that the question allows, for {number}",
        "answer_leak": f"answers {number} with text from after the point of the story that the question allows",
        "invented": f"answers {number} that the text does not answer",
        "resolved": f"answers {number} with citations that do not match the text",
        "quotes": f"answers {number} with quotations that are not in the text",
    }
    if alarm.reason:
        return (
            f"{alarm.arm}: {alarm.figure.replace('_', ' ')} could not be computed"
            f" {alarm.questions:,} of {alarm.of:,} times; most often: {alarm.reason}"
        )
    if alarm.figure in texts:
        return f"{alarm.arm} {texts[alarm.figure]}."
    questions = format_count(alarm.of, "question")
    return f"{alarm.arm} finds the answer to none of the {questions}."


def _arms(report: EvalReport) -> ReportSection:
    return ReportSection(
        "Arms", tuple(f"{arm.name}: {arm.description}" for arm in report.arms)
    )


def _markdown(sections: Sequence[ReportSection]) -> Iterator[str]:
    for number, section in enumerate(sections):
        if number:  # the first one's heading is the title
            yield f"\n## {_plain(section.heading)}"
        for sentence in section.sentences:
            yield f"\n{_plain(sentence)}"
        if section.rows:
            yield ""
            yield _row(section.headings)
            yield _row(["---", *["---:" for _ in section.headings[1:]]], plain=False)
            yield from (_row(row) for row in section.rows)


def _row(cells: Sequence[str], *, plain: bool = True) -> str:
    return f"| {' | '.join(_plain(cell) if plain else cell for cell in cells)} |"


def _plain(text: str) -> str:
    """Return a text on one line with markup characters escaped."""
    line = " ".join(text.split())
    for sign in "\\`*_<>|#[]":
        line = line.replace(sign, f"\\{sign}")
    return line


def describe_run_comparison(run_comparison: RunComparison) -> Iterator[str]:
    """Yield sentences that compare two evaluation runs.

    They count the common questions, name differences between the runs' conditions, and
    say for each common arm (way to search) which measures differ.
    """
    yield (
        f"{format_count(len(run_comparison.matched.questions), 'question')} in both runs;"
        f" {len(run_comparison.matched.left_out):,} not compared."
    )
    yield from run_comparison.matched.differences
    for arm in run_comparison.arms:
        other_comparisons = [
            comparison
            for comparison in arm
            if not comparison.headline and comparison.claimed
        ]
        yield from (
            describe_comparison(comparison) for comparison in arm if comparison.headline
        )
        yield from (describe_comparison(comparison) for comparison in other_comparisons)
    if not run_comparison.arms:
        yield "The runs have no arm in common."
