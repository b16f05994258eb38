"""What each part of pipeline b's search adds: `python -m bench.inside.ladder DATA WORK`.

WORK holds the libraries that `python -m bench --only retrieval --work WORK` made.
"""

import asyncio
import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.data import DataFolder, read_lines
from bench.inside.roster import scorer
from lrwr.core.adapters.records.sqlite.lexical import (
    WEIGHTS,
    SqliteLexicalIndex,
    Weights,
)
from lrwr.core.model.chunks import Pipeline
from lrwr.core.model.search import Passage
from lrwr.core.retrieval.search import PassageFinder, SearchRequest
from lrwr.core.retrieval.story_search import StorySearch
from lrwr.core.settings.load import load_settings
from lrwr.wiring import Services, open_services

_TEXT: Weights = (1.0, 0.0, 0.0, 0.0)
_HEADED: Weights = (*WEIGHTS[Pipeline.AGENTIC][:3], 0.0)
_FIGURES = ("hit@1", "hit@5", "hit@10", "mrr", "coverage@2000")


@dataclass(frozen=True, slots=True)
class Step:
    """One more part of the search than the step before."""

    name: str
    weights: Weights = WEIGHTS[Pipeline.AGENTIC]
    dense: bool = True
    names: bool = True
    boosts: bool = True
    rerank: bool = True


STEPS = (
    Step("chunks, by words", _TEXT, dense=False, names=False, boosts=False, rerank=False),
    Step("and lead, heading", _HEADED, dense=False, names=False, boosts=False, rerank=False),
    Step("and who is there", dense=False, names=False, boosts=False, rerank=False),
    Step("and meaning", names=False, boosts=False, rerank=False),
    Step("and names", boosts=False, rerank=False),
    Step("and boosts", rerank=False),
    Step("looked at again"),
)  # fmt: skip


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
    step: Step, asked: Iterable[tuple[Path, Sequence[dict[str, Any]]]]
) -> dict[str, list[dict[str, Any]]]:
    run: dict[str, list[dict[str, Any]]] = {}
    for root, questions in asked:
        async with AsyncExitStack() as stack:
            services = await stack.enter_async_context(
                open_services(load_settings(root, {}, {}))
            )
            finder = _finder(services, step)
            order = await finder.story_order()
            for question in questions:
                request = SearchRequest(
                    question["question"],
                    Pipeline.AGENTIC,
                    20,
                    dense=step.dense,
                    rerank=step.rerank,
                    names=step.names,
                    boosts=step.boosts,
                )
                found = await finder.find(request, order)
                run[question["id"]] = [_line(passage) for passage in found.passages]
    return run


def _finder(services: Services, step: Step) -> PassageFinder:
    return PassageFinder(
        store=services.passages,
        lexical=SqliteLexicalIndex(
            services._database,
            {Pipeline.AGENTIC: step.weights},
        ),
        embedder=services._embedder,
        vectors=services._vectors,
        reranker=services.reranker,
        candidates=services.settings.rerank.candidates,
        order_patterns=services.settings.manuscript.order,
        story=StorySearch(services.stories),
    )


def _line(passage: Passage) -> dict[str, Any]:
    return {"text": passage.chunk.text, "file": str(passage.chunk.document)}


if __name__ == "__main__":
    main()
