"""How often search finds the answering passage, on public question sets."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from bench.data import read_lines
from bench.library import Bench, novel_library, tales_library
from bench.report import Line, say, skipped
from bench.scoring import (
    QuestionBatch,
    QuestionSet,
    find_leaks,
    score_results,
    search_batches,
)

PART = "retrieval"

WAYS: Mapping[str, Sequence[str]] = {
    "dense": ["--dense", "--no-rerank"],
    "lexical": ["--lexical", "--no-rerank"],
    "fused": ["--no-rerank"],
    "reranked": [],
}
HEADLINE = "hit@5"
ALSO = ("hit@1", "hit@10", "mrr", "coverage@2000")
GOALS = {
    ("tales, val", "hit@5"): 0.84,
    ("tales, val", "mrr"): 0.71,
    ("dialogue", "hit@10"): 0.75,
    ("dialogue", "coverage@2000"): 0.35,
}

DEFAULT = "reranked"
"""The way a writer gets without asking; the goals are for it."""

QUICK = 5
"""Of so many questions, a quick run asks one."""

Question = dict[str, Any]


def measure(bench: Bench) -> list[Line]:
    if bench.data.scorer() is None:
        return skipped(PART, "no score/retrieval_score.py beside the data")
    return _of_tales(bench) + _of_dialogue(bench) + _of_horizons(bench)


def _of_tales(bench: Bench) -> list[Line]:
    path, library = (
        bench.data.questions("fairytale"),
        tales_library(bench, bench.pipeline),
    )
    docs = bench.data.tales()
    if path is None or docs is None or library is None:
        return skipped(PART, "no fairy tales here")
    every = read_lines(path)
    val = _some(bench, [q for q in every if q.get("official_split") == "val"])
    named = [q for q in val if q.get("anchored")]
    sets = {
        "tales, val": QuestionSet(docs, [QuestionBatch(library, val)]),
        "tales, val, tale named": QuestionSet(docs, [QuestionBatch(library, named)]),
    }
    lines = _scored(bench, sets, WAYS)
    ways = dict(WAYS) if bench.full else {k: WAYS[k] for k in WAYS if k != "reranked"}
    shelf = QuestionSet(docs, [QuestionBatch(library, _some(bench, every))])
    lines += _scored(bench, {"tales, all": shelf}, ways)
    if not bench.full:
        lines += skipped(PART, "tales, all, reranked: only with --full")
    return lines


def _of_dialogue(bench: Bench) -> list[Line]:
    path, docs = bench.data.questions("novel_dialogue"), bench.data.novel_root()
    if path is None or docs is None:
        return skipped(PART, "no dialogue questions here")
    batches = _by_novel(bench, _some(bench, read_lines(path)))
    return _scored(bench, {"dialogue": QuestionSet(docs, batches)}, WAYS)


def _of_horizons(bench: Bench) -> list[Line]:
    path, docs = bench.data.questions("asof"), bench.data.novel_root()
    if path is None or docs is None:
        return skipped(PART, "no questions at a chapter here")
    batches = _by_novel(bench, _some(bench, read_lines(path)))
    lines = []
    for way, flags in WAYS.items():
        say(f"  asking: as of, {way} …")
        found, _ = search_batches(batches, flags)
        told = [
            QuestionBatch(one.library, [q for q in one.questions if q["answerable"]])
            for one in batches
        ]
        figures = score_results(bench, QuestionSet(docs, told), found)
        lines.append(
            Line(
                PART,
                f"as of, {way}: {HEADLINE}",
                figures[HEADLINE],
                note=f"{figures['n']:.0f} answerable",
                also={figure: figures[figure] for figure in ALSO},
            )
        )
        late = find_leaks([q for one in batches for q in one.questions], found)
        total = sum(len(one.questions) for one in batches)
        note = f"{len(late)} of {total}" + (f"; first {late[0]}" if late else "")
        share = len(late) / max(1, total)
        lines.append(Line(PART, f"as of, {way}: leaks", share, goal=0, note=note))
    return lines


def _scored(
    bench: Bench, sets: Mapping[str, QuestionSet], ways: Mapping[str, Sequence[str]]
) -> list[Line]:
    """Ask the first set in each way, and score it and the others, parts of it."""
    asked = next(iter(sets.values())).asked
    number = sum(len(one.questions) for one in asked)
    lines = []
    for way, flags in ways.items():
        say(f"  asking: {next(iter(sets))}, {way} …")
        found, cpu = search_batches(asked, flags)
        for name, shelf in sets.items():
            figures = score_results(bench, shelf, found)
            lines += _figures(name, way, figures, cpu / max(1, number))
    return lines


def _figures(
    name: str, way: str, figures: Mapping[str, float], cpu: float
) -> list[Line]:
    note = f"{figures['n']:.0f} questions, {cpu:.3f} CPU s each"
    also = {figure: figures[figure] for figure in ALSO}
    lines = []
    for figure in (HEADLINE, *ALSO):
        goal = GOALS.get((name, figure)) if way == DEFAULT else None
        if figure == HEADLINE:
            line = Line(PART, f"{name}, {way}: {figure}", figures[figure])
            lines.append(replace(line, goal=goal, sense=">=", note=note, also=also))
        elif goal is not None:
            line = Line(PART, f"{name}, {way}: {figure}", figures[figure])
            lines.append(replace(line, goal=goal, sense=">="))
    return lines


def _some(bench: Bench, questions: list[Question]) -> list[Question]:
    return questions[::QUICK] if bench.quick else questions


def _by_novel(bench: Bench, questions: Sequence[Question]) -> list[QuestionBatch]:
    """Return each novel's questions with a library of that novel alone."""
    names = sorted({str(question["novel"]) for question in questions})
    by_name = {novel.name: novel for novel in bench.data.novels()}
    asked = []
    for name in names[: bench.novels]:
        if name in by_name:
            library = novel_library(bench, by_name[name], bench.pipeline)
            own = [question for question in questions if question["novel"] == name]
            asked.append(QuestionBatch(library, own))
    return asked
