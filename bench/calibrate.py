"""Calibration of search confidence: fit on public questions, test on others.

Fitted on fairy tales and on the dialogue of novels. An unanswerable question is one
whose tale is hidden, or only its answering passages, or that is asked too early in the
story. Tested on held-out groups, on a novel's questions, and on the sample's own.

Prints the constants of `lrwr.core.retrieval.confidence.SHIPPED_CALIBRATIONS`.
"""

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bench.children import inside, run
from bench.data import EXAMPLE, read_lines, write_lines
from bench.library import Bench, Library, make_library, novel_library, tales_library
from bench.report import Line, say, skipped
from lrwr.core.adapters.source.parser import parse_document
from lrwr.core.model.choices import Pipeline
from lrwr.core.model.documents import DocumentId
from lrwr.core.retrieval.confidence import (
    PEOPLE_RANKING_ID,
    SIGNAL_NAMES,
    Calibration,
    RankingSignals,
)
from lrwr.pipeline.evaluation.calibration import (
    CalibrationExample,
    CalibrationTarget,
    estimate_with_calibration,
    fit_calibration,
)
from lrwr.pipeline.evaluation.calibration_figures import (
    CalibrationFigures,
    auroc,
    compute_calibration_figures,
)
from lrwr.pipeline.evaluation.intervals import Interval
from lrwr.pipeline.evaluation.questions import (
    GoldQuote,
    find_quote_places,
    parse_questions,
)

PART = "calibrate"
SOURCE = "python -m bench --only calibrate"

PER_TALE = 2
PER_NOVEL = 25
QUICK = 5
"""Questions of each tale and each novel; a quick run takes every fifth tale."""

ALL_WAYS = "again,off,words"
NO_RERANK = "off,words"
EMMA = "Emma"

Item = dict[str, Any]


@dataclass(frozen=True, slots=True)
class LabeledExample:
    """A calibration example, with the search and the kind of question that it is from.

    `ranking` is the id of the way in which the search ranked passages. `kind` is
    "answerable", or why the question cannot be answered: "tale hidden", "passages
    hidden" or "too early".
    """

    example: CalibrationExample
    kind: str
    ranking: str


def measure(bench: Bench) -> list[Line]:
    if bench.data.questions("fairytale") is None:
        return skipped(PART, "no fairy tales to fit on")
    public = [*_of_tales(bench), *_of_novels(bench)]
    tests = {"sample": _of_sample(bench), "novel": _of_passages(bench)}
    lines = []
    for ranking in sorted({one.ranking for one in public}):
        own = [one for one in public if one.ranking == ranking]
        lines += _fitted(ranking, own, tests)
    return lines


def _fitted(
    ranking: str,
    samples: Sequence[LabeledExample],
    tests: Mapping[str, Sequence[LabeledExample]],
) -> list[Line]:
    examples = [one.example for one in samples]
    calibration_target = CalibrationTarget(ranking, Pipeline.AGENTIC, SOURCE)
    fitted, tried = fit_calibration(examples, calibration_target)
    print(_constant(fitted))
    figures = compute_calibration_figures(tried, fitted.threshold)
    lines = _lines(f"{ranking}, left out", figures)
    for kind in sorted({one.kind for one in samples} - {"answerable"}):
        some = [
            t
            for t, f in zip(tried, samples, strict=True)
            if f.kind in (kind, "answerable")
        ]
        lines += _lines(
            f"{ranking}, {kind}", compute_calibration_figures(some, fitted.threshold)
        )[:2]
    for name, test in tests.items():
        others = [one.example for one in test if one.ranking == ranking]
        if others:
            judged = compute_calibration_figures(
                estimate_with_calibration(others, fitted), fitted.threshold
            )
            lines += _lines(f"{ranking}, {name}", judged)
            lines += _alone(f"{ranking}, {name}", others)
    return [*lines, *_alone(f"{ranking}, left out", examples)]


def _lines(name: str, figures: CalibrationFigures) -> list[Line]:
    doubted = figures.doubted
    shown = {f"{s.coverage:.0%}": 1 - s.right for s in figures.coverage}
    bands = ", ".join(
        f"{b.low:g}-{b.high:g}: {b.questions} at {b.estimated:.2f}, true {b.found:.2f}"
        for b in figures.bands
    )
    risks = ", ".join(f"{at} {risk:.2f}" for at, risk in shown.items())
    return [
        Line(PART, f"{name}: AUROC found", *_value(figures.found, figures.questions)),
        Line(PART, f"{name}: AUROC answerable", *_value(figures.answerable, 0)),
        Line(PART, f"{name}: risk when all are shown", shown["100%"],
             note=f"at coverage {risks}"),
        Line(PART, f"{name}: Brier", figures.brier,
             note=f"one estimate for all: {figures.plain_brier:.3f}; {bands}"),
        Line(PART, f"{name}: found and doubted", doubted.found,
             note=f"threshold {figures.threshold:.3f}; missed {_share(doubted.missed)},"
             f" unanswerable {_share(doubted.unanswerable)}"),
    ]  # fmt: skip


def _alone(name: str, examples: Sequence[CalibrationExample]) -> list[Line]:
    """Say how well each signal does alone."""
    found = [example.found for example in examples]
    areas = {
        signal: auroc([getattr(example.signals, signal) for example in examples], found)
        for signal in SIGNAL_NAMES
    }
    kept = {signal: area for signal, area in areas.items() if area is not None}
    note = ", ".join(f"{signal} {area:.2f}" for signal, area in kept.items())
    return [Line(PART, f"{name}: best signal alone", max(kept.values(), default=None),
                 note=note)]  # fmt: skip


def _value(interval: Interval | None, number: int) -> tuple[Any, ...]:
    if interval is None:
        return None, "", None, ">=", "all are alike"
    note = f"{interval.low:.3f} to {interval.high:.3f}"
    return (
        interval.value,
        "",
        None,
        ">=",
        f"{note}, {number} questions" if number else note,
    )


def _share(share: float | None) -> str:
    return "-" if share is None else f"{share:.2f}"


def _constant(calibration: Calibration) -> str:
    terms = "".join(
        f'\n            SignalTerm("{t.signal}", {t.weight:.3f}, {t.mean:.4f}, {t.scale:.4f}),'
        for t in calibration.terms
    )
    return (
        f'    ("{calibration.ranking}", Pipeline.AGENTIC): Calibration(\n'
        f'        ranking="{calibration.ranking}",\n        pipeline=Pipeline.AGENTIC,\n'
        f"        bias={calibration.bias:.3f},\n        terms=({terms}\n        ),\n"
        f"        threshold={calibration.threshold:.3f},\n        questions={calibration.questions},\n"
        f"        auroc={calibration.auroc:.3f},\n        source=_SOURCE,\n    ),"
    )


def _of_tales(bench: Bench) -> list[LabeledExample]:
    path, library = bench.data.questions("fairytale"), tales_library(bench, "b")
    if path is None or library is None:
        return []
    of_tale: dict[str, list[Item]] = {}
    for question in read_lines(path):
        of_tale.setdefault(question["story"], []).append(question)
    drawn = random.Random(7)
    items: list[Item] = []
    for n, (tale, questions) in enumerate(sorted(of_tale.items())):
        chosen = drawn.sample(questions, min(PER_TALE, len(questions)))
        if bench.quick and n % QUICK:
            continue
        for question in chosen:
            spans = [(g["start"], g["end"]) for g in question["gold_passages"]]
            gold = [[f"tales/{tale}.md", *span] for span in spans]
            items += _three({"group": tale, "question": question["question"],
                             "gold": gold})  # fmt: skip
    return _asked(library, items, ALL_WAYS, "tales")


def _three(item: Item) -> Iterator[Item]:
    yield item | {"kind": "answerable"}
    yield item | {"kind": "tale hidden", "hide": "document"}
    yield item | {"kind": "passages hidden", "hide": "passages"}


def _of_novels(bench: Bench) -> list[LabeledExample]:
    """Ask of what people say: in the whole novel, and at a chapter of it."""
    whole, asof = (bench.data.questions(n) for n in ("novel_dialogue", "asof"))
    if whole is None or asof is None:
        return []
    questions = [*read_lines(whole), *read_lines(asof)]
    found = []
    for novel in bench.data.novels()[: bench.novels]:
        own = [q for q in questions if q["novel"] == novel.name]
        if not own:
            continue
        drawn = random.Random(7).sample(own, min(len(own), 2 * PER_NOVEL))
        items = [_of_dialogue(question, novel.name) for question in drawn]
        found += _asked(novel_library(bench, novel, "b"), items, NO_RERANK, "dialogue")
    return found


def _of_dialogue(question: Item, novel: str) -> Item:
    asof = question.get("asof_chapter")
    answerable = bool(question["gold_passages"])
    return {
        "group": novel,
        "question": question["question"],
        "kind": "answerable" if answerable else "too early",
        "gold": [_novel_gold(one) for one in question["gold_passages"]],
        "as_of": "" if asof is None else f"ch{asof}",
    }


def _novel_gold(gold: Item) -> list[Any]:
    return [f"novel/chapters/{gold['file']}", gold["start"], gold["end"]]


def _of_passages(bench: Bench) -> list[LabeledExample]:
    """Ask of a novel what its passages answer, and again with those hidden."""
    whole = bench.data.questions("novel_dialogue")
    novel = next((n for n in bench.data.novels() if n.name == EMMA), None)
    path = whole and whole.parent.parent / "novel_qa" / "gutenqa_emma.jsonl"
    if novel is None or path is None or not path.exists():
        return []
    items: list[Item] = []
    for question in read_lines(path):
        gold = [_novel_gold(one) for one in question["gold_passages"]]
        item = {"group": question["id"], "question": question["question"], "gold": gold}
        items += [one for one in _three(item) if one.get("hide") != "document"]
    return _asked(novel_library(bench, novel, "b"), items, ALL_WAYS, "passages")


def _of_sample(bench: Bench) -> list[LabeledExample]:
    library = make_library(
        bench.work / "sample-b",
        {name: EXAMPLE / name for name in ("chapters", "notes")},
        pipeline="b",
    )
    path = EXAMPLE.with_name(f"{EXAMPLE.name}.questions.jsonl")
    items: list[Item] = [
        {
            "group": question.id,
            "question": question.text,
            "kind": "answerable" if question.answerable else "unanswerable",
            "gold": [_sample_gold(gold) for gold in question.gold],
            "every": question.every,
            "as_of": question.as_of,
        }
        for question in parse_questions(path.read_text(encoding="utf-8"), path.name)
    ]
    return _asked(library, items, ALL_WAYS, "sample")


def _sample_gold(gold: GoldQuote) -> list[Any]:
    document = DocumentId(gold.file)
    text = parse_document(document, (EXAMPLE / gold.file).read_bytes()).text
    place = find_quote_places(gold.quote, document, text)[0]
    return [gold.file, place.span.start, place.span.end]


def _asked(
    library: Library, items: Sequence[Item], ways: str, name: str
) -> list[LabeledExample]:
    say(f"  asking {library.root.name} {len(items)} questions, {name} …")
    asked = library.root / f"asked-{name}.jsonl"
    told = library.root / f"told-{name}.jsonl"
    write_lines(asked, list(items))
    done = run([*inside("calibrate"), asked, ways], cwd=library.root, out=told)
    say(f"  {done.cost.cpu:.0f} CPU s")
    people = name != "tales"
    lines = [line | {"people": people} for line in read_lines(told)]
    return [_read(line) for line in lines if _counts(line)]


def _counts(line: Item) -> bool:
    """Say whether a line tells something of its ranking.

    A question about people is never looked at again, so that asking twice tells the
    same; and what is hidden from the indexes is still found by who is there, so that
    only novels are asked about people.
    """
    of_people = line["ranking"].startswith(PEOPLE_RANKING_ID)
    return not of_people or (line["way"] != "again" and line["people"])


def _read(line: Item) -> LabeledExample:
    example = CalibrationExample(
        line["group"],
        RankingSignals(**line["signals"]),
        line["found"],
        line["answerable"],
    )
    return LabeledExample(example, line["kind"], line["ranking"])
