"""`lrwr eval` on the sample's questions and on dialogue questions of novels."""

import json
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from bench.children import REPO, lrwr, run
from bench.data import read_lines
from bench.library import Bench, ingest, make_library, novel_library
from bench.report import Line, skipped

PART = "evaluation"

QUESTIONS = REPO / "examples" / "marsh-lantern.questions.jsonl"
SAMPLE = REPO / "examples" / "marsh-lantern"

NOVELS = 3
"""Novels whose questions on dialogue are asked, if no other number is given."""

FIGURES = ("recall@500", "recall@1000", "recall@2000", "hit@5", "mrr")


def measure(bench: Bench) -> list[Line]:
    sample = make_library(bench.work / "sample", {"manuscript": SAMPLE})
    lines = list(_told("sample, by hand", _evaluated(sample.root, QUESTIONS)))
    return [*lines, *_of_dialogue(bench)]


def _of_dialogue(bench: Bench) -> Iterator[Line]:
    path = bench.data.questions("novel_dialogue")
    if path is None:
        yield from skipped(PART, "no dialogue questions here")
        return
    lines = read_lines(path)
    by_name = {novel.name: novel for novel in bench.data.novels()}
    names = sorted({str(one["novel"]) for one in lines} & by_name.keys())
    for name in names[: bench.novels or NOVELS]:
        own = [one for one in lines if one["novel"] == name]
        library = novel_library(bench, by_name[name])
        file = library.root / "dialogue.jsonl"
        written = [_as_lrwr_has_it(one, by_name[name] / "chapters") for one in own]
        file.write_text("\n".join(written), encoding="utf-8")
        yield from _told(f"{name}, dialogue", _evaluated(library.root, file))


def _as_lrwr_has_it(question: dict[str, Any], chapters: Path) -> str:
    gold = [
        {"file": one["file"], "quote": _text(chapters / one["file"])[_at(one)]}
        for one in question["gold_passages"]
    ]
    told = {"id": question["id"], "question": question["question"], "kind": "several"}
    return json.dumps({**told, "gold": gold, "need": "all"}, ensure_ascii=False)


def _at(place: dict[str, Any]) -> slice:
    return slice(place["start"], place["end"])


@cache
def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def _evaluated(root: Path, questions: Path) -> dict[str, Any]:
    """Read with pipeline a, too, and evaluate; pipeline b is there already."""
    ingest(root, env={"LRWR_PIPELINE": "a"})
    words = ["eval", "--questions", str(questions), "--json"]
    done = run([*lrwr(), *words], cwd=root)
    told: dict[str, Any] = json.loads(done.out)
    return told


def _told(name: str, report: dict[str, Any]) -> Iterator[Line]:
    a, b = (_arm(report["arms"], arm) for arm in ("A", "B"))
    for figure in FIGURES:
        (found,) = [o for o in report["comparisons"] if o["figure"] == figure]
        note = f"a {_value(a, figure):.3f}; {found['verdict']}"
        yield Line(PART, f"{name}: {figure}, b", _value(b, figure), note=note)
    for arm in (a, b):
        leaks = arm["figures"].get("leak")
        if leaks is not None:
            what = f"{name}: leaks, {arm['name'].lower()}"
            yield Line(PART, what, leaks["value"], goal=0)
    ratio = b["seconds_p50"] / max(1e-6, a["seconds_p50"])
    yield Line(PART, f"{name}: b ÷ a, half of the searches", ratio, "x")


def _arm(arms: Sequence[dict[str, Any]], name: str) -> dict[str, Any]:
    (found,) = [arm for arm in arms if arm["name"] == name]
    return found


def _value(arm: dict[str, Any], figure: str) -> float:
    return float(arm["figures"][figure]["value"])
