"""Cuts novels by meaning, and again after each of a hundred edits.

Arguments: the data folder, and names of novels; without names, two of them. A novel is
a file for each chapter. Prints JSON, an object for each novel; CPU and wall in seconds.
"""

import asyncio
import json
import os
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from bench.data import DataFolder
from bench.edits import next_edit
from lrwr.app.retrieval import MAX_THREADS
from lrwr.core.adapters.embed.local import LocalEmbedder
from lrwr.core.adapters.source.parser import parse_document
from lrwr.core.adapters.source.text import find_sentence_spans
from lrwr.core.model.documents import Document, DocumentId
from lrwr.pipeline.stages.semantic_splitter import (
    ChunkCut,
    ChunkLimits,
    CutPlan,
    RegionPlan,
    choose_cuts,
    plan_cuts,
)
from lrwr.pipeline.stages.units import (
    SeamKey,
    UnitBond,
    collect_seam_sentences,
    compute_seam_distances,
    find_missing_seams,
)

SEED = 20_260
EDITS = 100
NOVELS = ("PrideAndPrejudice", "TheGreatGatsby")
QUANTILES = (0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0)


@dataclass(slots=True)
class Desk:
    """What was learned of a novel so far, and what it took."""

    embedder: LocalEmbedder
    distances: dict[SeamKey, float] = field(default_factory=dict)
    cores: set[str] = field(default_factory=set)
    led: set[str] = field(default_factory=set)
    took: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def timed(self, name: str) -> Iterator[None]:
        """Add to what `name` took."""
        cpu, wall = time.process_time(), time.monotonic()
        yield
        for kind, spent in (
            ("cpu", time.process_time() - cpu),
            ("wall", time.monotonic() - wall),
        ):
            key = f"{name}_{kind}"
            self.took[key] = self.took.get(key, 0.0) + spent

    async def read(self, documents: Iterable[Document]) -> "Reading":
        """Plan, embed what is missing, cut; return all of it."""
        documents = list(documents)
        with self.timed("plan"):
            plans = [
                plan_cuts(
                    d, find_sentence_spans, self.embedder.count_tokens, ChunkLimits()
                )
                for d in documents
            ]
        seams = (seam for plan in plans for seam in plan.seams)
        missing = find_missing_seams(seams, self.distances)
        sentences = collect_seam_sentences(missing)
        with self.timed("embed"):
            vectors = await self.embedder.embed(sentences)
        with self.timed("distances"):
            self.distances |= compute_seam_distances(missing, sentences, vectors)
        with self.timed("cut"):
            cuts = [choose_cuts(plan, self.distances) for plan in plans]
        return Reading(documents, plans, cuts, len(sentences))

    def fresh(self, reading: "Reading") -> dict[str, int]:
        """Return how many chunks were never seen, and how many with their leads."""
        cores, led = set(reading.texts()), set(reading.texts(led=True))
        fresh = {"cores": len(cores - self.cores), "led": len(led - self.led)}
        self.cores |= cores
        self.led |= led
        return fresh


@dataclass(frozen=True, slots=True)
class Reading:
    """Documents, cut."""

    documents: list[Document]
    plans: list[CutPlan]
    cuts: list[tuple[ChunkCut, ...]]
    embedded: int

    def texts(self, *, led: bool = False) -> Iterator[str]:
        """Yield every chunk's text, after its lead if so wished."""
        for document, cuts in zip(self.documents, self.cuts, strict=True):
            for chunk in cuts:
                begin = (chunk.lead if led else None) or chunk.span
                yield document.text[begin.start : chunk.span.end]

    def homes(self) -> Iterator[tuple[RegionPlan, list[ChunkCut]]]:
        """Yield each home with its chunks."""
        for plan, cuts in zip(self.plans, self.cuts, strict=True):
            for home in plan.regions:
                yield home, [c for c in cuts if home.region.span.holds(c.span)]


def _sizes(reading: Reading) -> dict[str, Any]:
    tokens = [chunk.tokens for cuts in reading.cuts for chunk in cuts]
    least = ChunkLimits().least
    small = sum(
        chunk.tokens < least
        for _, cuts in reading.homes()
        if len(cuts) > 1
        for chunk in cuts
    )
    return {
        "chunks": len(tokens),
        "tokens": dict(zip(QUANTILES, _quantiles(tokens, *QUANTILES), strict=True)),
        "smaller_than_least_beside_others": small,
    }


def _exchanges(reading: Reading) -> dict[str, int]:
    """Return how many exchanges there are, how many fit a chunk, and were cut."""
    found = {"exchanges": 0, "that_fit": 0, "cut": 0, "cut_that_fit": 0}
    for home, cuts in reading.homes():
        begins = {chunk.span.start for chunk in cuts}
        for start, end in _runs(home):
            units = home.units[start:end]
            fits = sum(unit.weight for unit in units) <= ChunkLimits().most
            firsts = {home.sentences[unit.first].span.start for unit in units[1:]}
            torn = bool(firsts & begins)
            found["exchanges"] += 1
            found["that_fit"] += fits
            found["cut"] += torn
            found["cut_that_fit"] += torn and fits
    return found


def _runs(home: RegionPlan) -> Iterator[tuple[int, int]]:
    starts = [n for n, u in enumerate(home.units) if u.bond is not UnitBond.EXCHANGE]
    for start, end in pairwise([*starts, len(home.units)]):
        if end - start > 1:
            yield start, end


def _ends(reading: Reading, distances: Mapping[SeamKey, float]) -> dict[str, Any]:
    """Return where chunks end, and the mean distance there and of all seams."""
    bonds: dict[str, int] = {}
    ended: list[float] = []
    for home, cuts in reading.homes():
        begins = {chunk.span.start for chunk in cuts[1:]}
        for unit, seam in zip(home.units, home.seams, strict=True):
            if home.sentences[unit.first].span.start in begins:
                bonds[unit.bond] = bonds.get(unit.bond, 0) + 1
                ended += [distances[seam.key]] if seam else []
    everywhere = [distances[s.key] for plan in reading.plans for s in plan.seams]
    return {
        "ends": bonds,
        "distance_at_ends": round(float(np.mean(ended)), 3),
        "distance_everywhere": round(float(np.mean(everywhere)), 3),
    }


def _quantiles(numbers: list[int], *shares: float) -> list[int]:
    return [int(n) for n in np.quantile(numbers, shares)]


async def _edited(desk: Desk, texts: dict[str, str]) -> dict[str, Any]:
    random, rows = Random(SEED), []
    for number in range(EDITS):
        name, edit = next_edit(texts, number, random)
        texts[name] = edit.text
        reading = await desk.read([_document(name, edit.text)])
        rows.append(desk.fresh(reading) | {"sentences": reading.embedded})
    names = {"cores": "changed_cores", "led": "changed_with_lead"}
    return {
        names.get(key, key): {
            "mean": sum(row[key] for row in rows) / len(rows),
            "median": _quantiles([row[key] for row in rows], 0.5)[0],
            "p90": _quantiles([row[key] for row in rows], 0.9)[0],
            "most": max(row[key] for row in rows),
        }
        for key in rows[0]
    }


def _document(name: str, text: str) -> Document:
    return parse_document(DocumentId(name), text.encode())


async def _measured(folder: Path, embedder: LocalEmbedder) -> dict[str, Any]:
    paths = sorted((folder / "chapters").glob("*.md"))
    texts = {path.name: path.read_text(encoding="utf-8") for path in paths}
    desk = Desk(embedder)
    reading = await desk.read(_document(name, text) for name, text in texts.items())
    desk.fresh(reading)
    took = {name: round(spent, 3) for name, spent in desk.took.items()}
    sentences = sum(len(h.sentences) for plan in reading.plans for h in plan.regions)
    desk.took.clear()
    edits = await _edited(desk, texts)
    per_edit = {name: round(spent / EDITS, 4) for name, spent in desk.took.items()}
    return {
        "novel": folder.name,
        "words": sum(d.words for d in reading.documents),
        **_sizes(reading),
        **_exchanges(reading),
        **_ends(reading, desk.distances),
        "sentences": sentences,
        "embedded": reading.embedded,
        **took,
        "after_an_edit": edits | per_edit,
    }


async def _main() -> None:
    data = DataFolder(Path(sys.argv[1]))
    wanted = sys.argv[2:] or NOVELS
    threads = min(os.cpu_count() or 1, MAX_THREADS)
    embedder = LocalEmbedder(None, threads=threads)
    await embedder.embed(["warm"])
    embedder.count_tokens(["warm"])
    find_sentence_spans("Warm. Too.")
    for folder in data.novels():
        if folder.name in wanted:
            print(json.dumps(await _measured(folder, embedder)), flush=True)
    embedder.close()


if __name__ == "__main__":
    asyncio.run(_main())
