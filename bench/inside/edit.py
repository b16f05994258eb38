"""Edit a library's manuscript again and again, ingesting after each edit.

Argument: the number of edits. Works in the working directory; prints JSON, a row an
edit.
"""

import asyncio
import json
import os
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

from bench.edits import Edit, next_edit, one_line
from bench.greedy import Greedy
from bench.library import open_database
from lrwr.app.container import Workspace, open_workspace
from lrwr.app.ingestion import create_processing_service
from lrwr.core.adapters.embed.local import LocalEmbedder
from lrwr.core.retrieval.search_model import SearchRequest
from lrwr.core.settings.loader import load_settings
from lrwr.pipeline.report import IngestReport

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SEED = 20_260
TOP = 3


@dataclass(slots=True)
class Reference:
    """Counts the chunks that a greedy splitter would have to embed again.

    It has a cache: `known` are all chunks so far, which need no embedding.
    """

    greedy: Greedy
    known: set[str] = field(default_factory=set)

    def fresh(self, text: str) -> int:
        """Return how many chunks of `text` are in none of the earlier texts."""
        new = set(self.greedy.split(text)) - self.known
        self.known |= new
        return len(new)


@dataclass(slots=True)
class EmbeddingCounter:
    """Counts the texts that `embedder` embeds in `texts`, once `watch` was called."""

    embedder: LocalEmbedder
    texts: int = 0

    def watch(self) -> None:
        """Start counting, by replacing the embedder's method."""
        embed = self.embedder._embed

        def counted(texts: Sequence[str]) -> "NDArray[np.float32]":
            self.texts += len(texts)
            return embed(texts)

        self.embedder._embed = counted  # type: ignore[method-assign]


async def edit_all(workspace: Workspace, number: int) -> list[dict[str, Any]]:
    """Make `number` random edits, ingest after each, and return a row for each.

    Rows have figures by name, and are in the order of the edits; times (`_cpu`,
    `_wall`) are in seconds.
    """
    root = workspace.library.root
    targets = workspace.manuscript()
    paths = {str(p): p for t in targets for p in sorted(t.rglob("*.md"))}
    texts = {name: _read(path) for name, path in paths.items()}
    reference = Reference(Greedy(workspace.embedders.local.count_tokens))
    for text in texts.values():
        reference.fresh(text)
    await create_processing_service(workspace, targets).process(_unseen)
    counted = EmbeddingCounter(workspace.embedders.local)
    counted.watch()
    random, rows = Random(SEED), []
    for n in range(number):
        name, edit = next_edit(texts, n, random)
        texts[name] = edit.text
        _write(paths[name], edit.text)
        row: dict[str, Any] = {"kind": edit.kind, "file": Path(name).name}
        counted.texts = 0
        with _timed(row, "ingest"):
            report = await create_processing_service(workspace, targets).process(
                _unseen
            )
        row |= _told(report)
        row["sentences"] = counted.texts - report.embedded
        row["greedy"] = reference.fresh(edit.text)
        with _timed(row, "search"):
            row["found"] = await _found(workspace, edit)
        row["stale"] = _stale(root, paths[name], edit)
        rows.append(row)
    return rows


def _told(report: IngestReport) -> dict[str, int]:
    return {
        "embedded": report.embedded,
        "chunks": report.chunks,
        "processed": report.processed,
        "woven": report.attribution.documents if report.attribution else 0,
        "calls": report.usage.calls,
        "prompt_tokens": report.usage.prompt_tokens,
    }


def _unseen(event: object) -> None:
    del event


async def _found(workspace: Workspace, edit: Edit) -> bool | None:
    """Say whether what is new is among the first three; None: nothing is new."""
    if not edit.sought:
        return None
    sought = one_line(edit.sought)
    request = SearchRequest(sought, workspace.settings.pipeline, TOP)
    result = await workspace.finder().find(request)
    return any(sought in one_line(passage.chunk.text) for passage in result.passages)


def _stale(root: Path, path: Path, edit: Edit) -> bool:
    """Say whether a chunk still has words that the file has not."""
    gone = one_line(edit.gone)
    if not gone or gone in one_line(edit.text):
        return False
    document = path.relative_to(root).as_posix()
    with open_database(root / ".lrwr" / "library.db") as connection:
        sql = "select text from chunk where document_id = ?"
        rows = connection.execute(sql, (document,)).fetchall()
    return any(gone in one_line(text) for (text,) in rows)


@contextmanager
def _timed(row: dict[str, Any], name: str) -> Iterator[None]:
    cpu, wall = time.process_time(), time.monotonic()
    yield
    row[f"{name}_cpu"] = time.process_time() - cpu
    row[f"{name}_wall"] = time.monotonic() - wall


def _read(path: Path) -> str:
    return path.read_bytes().decode("utf-8")


def _write(path: Path, text: str) -> None:
    path.write_bytes(text.encode("utf-8"))


async def _main() -> None:
    settings = load_settings(Path.cwd(), os.environ, {})
    async with open_workspace(settings) as workspace:
        print(json.dumps(await edit_all(workspace, int(sys.argv[1]))))


if __name__ == "__main__":
    asyncio.run(_main())
