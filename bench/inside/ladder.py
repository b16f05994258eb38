"""What each part of pipeline b's search adds: `python -m bench.inside.ladder DATA WORK`.

WORK holds the libraries that `python -m bench --only retrieval --work WORK` made.
"""

import asyncio
import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

from bench.data import DataFolder, read_lines
from bench.inside.roster import scorer
from lrwr.app.container import open_workspace
from lrwr.app.evaluation import open_eval_finders
from lrwr.core.model.chunks import Passage
from lrwr.core.settings.loader import load_settings
from lrwr.pipeline.evaluation.variants import VARIANT_B, SearchedColumns, SearchVariant

_FIGURES = ("hit@1", "hit@5", "hit@10", "mrr", "coverage@2000")

_WORDS = replace(VARIANT_B, dense=False, names=False, boosts=False, rerank=False)
_BARE = replace(VARIANT_B, names=False, boosts=False, rerank=False)

STEPS = (
    replace(_WORDS, name="chunks, by words", columns=SearchedColumns.TEXT),
    replace(_WORDS, name="and lead, heading", columns=SearchedColumns.HEADINGS),
    replace(_WORDS, name="and who is there"),
    replace(_BARE, name="and meaning"),
    replace(_BARE, name="and names", names=True),
    replace(_BARE, name="and boosts", names=True, boosts=True),
    replace(VARIANT_B, name="looked at again"),
)
"""Pipeline b's alone, each one more part of the search than the step before."""


def main() -> None:
    data, work = (Path(argument).resolve() for argument in sys.argv[1:3])
    folder = DataFolder(data)
    dialogue, tales = folder.questions("novel_dialogue"), folder.questions("fairytale")
    judge = scorer(data, "retrieval_score")
    if dialogue is not None:
        asked = read_lines(dialogue)
        by_library = {
            work / f"novel-{name}": [q for q in asked if q["novel"] == name]
            for name in sorted({str(q["novel"]) for q in asked})
        }
        _climb("dialogue", by_library, judge, folder.novel_root())
    if tales is not None:
        asked = [q for q in read_lines(tales) if q.get("official_split") == "val"]
        _climb("tales, val", {work / "tales": asked}, judge, folder.tales())


def _climb(
    name: str,
    asked: Mapping[Path, Sequence[dict[str, Any]]],
    judge: Any,
    docs: Path | None,
) -> None:
    present = {root: lines for root, lines in asked.items() if root.exists()}
    questions = [question for lines in present.values() for question in lines]
    print(f"{name}: {len(questions)} questions in {len(present)} libraries")
    for step in STEPS:
        run = asyncio.run(_run(step, present.items()))
        means, _ = judge.score(questions, run, docs)
        told = "  ".join(f"{figure} {means[figure]:.3f}" for figure in _FIGURES)
        print(f"  {step.name:20} {told}", flush=True)


async def _run(
    step: SearchVariant, asked: Iterable[tuple[Path, Sequence[dict[str, Any]]]]
) -> dict[str, list[dict[str, Any]]]:
    run: dict[str, list[dict[str, Any]]] = {}
    for root, questions in asked:
        async with AsyncExitStack() as stack:
            workspace = await stack.enter_async_context(
                open_workspace(load_settings(root, {}, {}))
            )
            workshop = await stack.enter_async_context(open_eval_finders(workspace))
            finder = workshop.finder(step)
            order = await finder.story_order()
            for question in questions:
                request = step.request(question["question"], 20)
                found = await finder.find(request, order)
                run[question["id"]] = [_line(passage) for passage in found.passages]
    return run


def _line(passage: Passage) -> dict[str, Any]:
    return {"text": passage.chunk.text, "file": str(passage.chunk.document)}


if __name__ == "__main__":
    main()
