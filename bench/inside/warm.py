"""Searches one open library many times in every way, and a bare vector index as well.

Argument: a JSON list of questions. Works in the working directory; prints JSON.
"""

import asyncio
import json
import os
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import quantiles
from typing import Any

import numpy as np
import qdrant_edge

from bench.library import open_database
from lrwr.app.container import Workspace, open_workspace
from lrwr.core.model.choices import Pipeline
from lrwr.core.retrieval.retrievers import RETRIEVER_POOL_SIZE
from lrwr.core.retrieval.search_model import SearchRequest
from lrwr.core.retrieval.service import PassageFinder
from lrwr.core.retrieval.story import StoryOrder
from lrwr.core.settings.loader import load_settings

LIMIT = 8
PAGE = 1_000
VECTOR = "text"

Ask = Callable[[str], Awaitable[object]]

_ASKED = SearchRequest("", Pipeline.AGENTIC, LIMIT)

WAYS = {
    "dense": replace(_ASKED, lexical=False, rerank=False),
    "lexical": replace(_ASKED, dense=False, rerank=False),
    "fused": replace(_ASKED, rerank=False),
    "reranked": _ASKED,
}


async def _main(questions: Sequence[str]) -> None:
    settings = load_settings(Path.cwd(), os.environ, {})
    first = await _first(questions[0])
    second = await _first(questions[0])
    async with open_workspace(settings) as workspace:
        counts = await workspace.passages.counts(settings.pipeline)
        ways = await _ways(workspace, questions)
        ways |= await _bare(workspace, questions)
    told = {"chunks": counts.chunks, "first": first, "second": second, "ways": ways}
    print(json.dumps(told))


async def _first(question: str) -> dict[str, float]:
    """Open everything anew and ask once."""
    cpu, wall = time.process_time(), time.monotonic()
    settings = load_settings(Path.cwd(), os.environ, {})
    async with open_workspace(settings) as workspace:
        way = replace(WAYS["fused"], pipeline=settings.pipeline)
        await _asking(workspace.finder(), way, None)(question)
    return {"cpu": time.process_time() - cpu, "wall": time.monotonic() - wall}


async def _ways(workspace: Workspace, questions: Sequence[str]) -> dict[str, Any]:
    finder, own = workspace.finder(), workspace.settings.pipeline
    order = await finder.story_order()

    async def arrange(question: str) -> object:
        del question
        return await finder.story_order()

    rows = {
        name: await _timed(
            _asking(finder, replace(way, pipeline=own), order), questions
        )
        for name, way in WAYS.items()
    }
    return rows | {"story order read, once a search": await _timed(arrange, questions)}


def _asking(finder: PassageFinder, way: SearchRequest, order: StoryOrder | None) -> Ask:
    async def ask(question: str) -> object:
        return await finder.find(replace(way, question=question), order)

    return ask


async def _bare(workspace: Workspace, questions: Sequence[str]) -> dict[str, Any]:
    embedder = workspace.embedders.local
    vectors = await embedder.embed(questions)
    queries = dict(zip(questions, vectors.tolist(), strict=True))

    async def embed(question: str) -> object:
        return await embedder.embed([question])

    with tempfile.TemporaryDirectory(prefix="lrwr-bench-edge-") as folder:
        shard = _shard(Path(folder, "shard"), workspace.library.database)

        async def ask(question: str) -> object:
            nearest = qdrant_edge.Query.Nearest(queries[question], using=VECTOR)
            return shard.query(
                qdrant_edge.QueryRequest(RETRIEVER_POOL_SIZE, query=nearest)
            )

        rows = {
            "bare Edge query": await _timed(ask, questions),
            "one question embedded": await _timed(embed, questions),
        }
        shard.close()
    return rows


def _shard(folder: Path, database: Path) -> Any:
    """Make a shard of the same vectors, with nothing beside them."""
    folder.mkdir()
    params = qdrant_edge.EdgeVectorParams(
        size=384, distance=qdrant_edge.Distance.Cosine
    )
    config = qdrant_edge.EdgeConfig(vectors={VECTOR: params})
    shard = qdrant_edge.EdgeShard.create(str(folder), config)
    sql = "select c.n, e.vector from chunk c join embedding e using (space, text_hash)"
    with open_database(database) as connection:
        found = connection.execute(sql)
        while rows := found.fetchmany(PAGE):
            points = [
                qdrant_edge.Point(
                    number, {VECTOR: np.frombuffer(vector, np.float32).tolist()}, {}
                )
                for number, vector in rows
            ]
            shard.update(qdrant_edge.UpdateOperation.upsert_points(points))
    return shard


async def _timed(ask: Ask, questions: Sequence[str]) -> dict[str, float]:
    for question in questions[:3]:
        await ask(question)
    walls, cpus = [], []
    for question in questions:
        cpu, wall = time.process_time(), time.monotonic()
        await ask(question)
        walls.append(time.monotonic() - wall)
        cpus.append(time.process_time() - cpu)
    return {
        "p50_wall": _p(walls, 50),
        "p95_wall": _p(walls, 95),
        "p50_cpu": _p(cpus, 50),
        "p95_cpu": _p(cpus, 95),
    }


def _p(values: Sequence[float], share: int) -> float:
    return quantiles(values, n=100, method="inclusive")[share - 1]


if __name__ == "__main__":
    asyncio.run(_main(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))))
