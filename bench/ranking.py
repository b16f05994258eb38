"""How much a language model as reranker improves the order of passages on tales.

The model is any server with OpenAI's chat API. Set `BENCH_MODEL_URL`, such as
`http://127.0.0.1:11434/v1`, `BENCH_MODEL_NAME`, and, if 40 are too many or too few,
`BENCH_MODEL_QUESTIONS`. Each question is one call; its order is stored in the library,
so that a second run calls nothing.
"""

import os

from bench.data import read_lines
from bench.library import Bench, tales_library
from bench.report import Line, skipped
from bench.scoring import QuestionBatch, QuestionSet, score_results, search_batches

PART = "ranking"
QUESTIONS = 40
SECONDS = 600
"""Seconds that the model may take for one order; a writer would wait less."""

FIGURES = ("hit@1", "hit@5", "mrr")


def measure(bench: Bench) -> list[Line]:
    path, docs = bench.data.questions("fairytale"), bench.data.tales()
    url, name = os.environ.get("BENCH_MODEL_URL"), os.environ.get("BENCH_MODEL_NAME")
    if not url or not name:
        return skipped(PART, "set BENCH_MODEL_URL and BENCH_MODEL_NAME")
    library = tales_library(bench, bench.pipeline)
    if path is None or docs is None or library is None or bench.data.scorer() is None:
        return skipped(PART, "no fairy tales or no scorer here")
    val = [q for q in read_lines(path) if q.get("official_split") == "val"]
    number = int(os.environ.get("BENCH_MODEL_QUESTIONS", QUESTIONS))
    questions = val[:: max(1, len(val) // number)][:number]
    shelf = QuestionSet(docs, [QuestionBatch(library, questions)])
    model = {
        "LRWR_RERANK_MODEL": "model",
        "LRWR_RERANK_TIMEOUT": str(SECONDS),
        "LRWR_MODEL_USE": "local",
        "LRWR_MODEL_NAME": name,
        "LRWR_MODEL_BASE_URL": url,
    }
    lines = []
    for way, env in (("local", {}), (name, model)):
        found, _ = search_batches(shelf.asked, (), env)
        failed = sum(bool(answer["remarks"]) for answer in found.values())
        figures = score_results(bench, shelf, found)
        note = f"{len(questions)} questions, {failed} not ordered"
        lines += [
            Line(PART, f"tales, val, {way}: {figure}", figures[figure], note=note)
            for figure in FIGURES
        ]
    return lines
