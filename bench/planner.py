"""Accuracy of the question planner on labelled questions about the sample manuscript.

`examples/marsh-lantern.planner.jsonl` has two parts: `fitted`, which the rules may be
tuned on, and `held_out`. The model path is fed the labels by a scripted model, so that
its figures are about parsing and fallbacks, not about the knowledge of a model.
"""

import json
from collections.abc import Sequence
from statistics import mean
from typing import Any

from bench.children import inside, run
from bench.data import EXAMPLE, DataFolder
from bench.library import Bench, manuscript_library
from bench.report import Line, say

PART = "planner"
GOAL = 0.85
FIELDS = ("sources", "intent", "entities", "standalone")


def measure(bench: Bench) -> list[Line]:
    sample = Bench(DataFolder(None), bench.work, bench.quick, bench.full, None, "")
    questions = EXAMPLE.with_name(f"{EXAMPLE.name}.planner.jsonl")
    done = run(
        [*inside("planner"), str(questions)], cwd=manuscript_library(sample).root
    )
    rows: list[dict[str, Any]] = json.loads(done.out)
    for row in rows:
        wrong = [field for field in FIELDS if row.get(field) is False]
        if wrong and row["part"] == "fitted":
            say(f"  {row['id']} {row['path']}: {', '.join(wrong)}")
    return [
        _line([r for r in rows if (r["path"], r["part"]) == (path, part)], path, part)
        for path in ("rules", "model")
        for part in ("fitted", "held_out")
    ]


def _line(rows: Sequence[dict[str, Any]], path: str, part: str) -> Line:
    """Return the mean accuracy of the fields, and that of each."""
    by_field = {
        field: mean(row[field] for row in rows if field in row) for field in FIELDS
    }
    name = "rules" if path == "rules" else "scripted model replies"
    return Line(
        PART,
        f"{name}, {part.replace('_', ' ')}",
        mean(by_field.values()),
        goal=GOAL,
        sense=">=",
        note=f"{len(rows)} questions",
        also=by_field,
    )
