"""A changed vector in the index of a large library, or in the database of a small one,
is noticed by `doctor --verify` and mended by `repair`.
"""

import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from lrwr.app import retrieval
from lrwr.app.maintenance import doctor
from lrwr.core.adapters.storage.sqlite.verification import load_indexed_chunks
from lrwr.core.adapters.vectors.base import build_shard_name
from lrwr.core.adapters.vectors.edge import EdgeShard
from lrwr.core.model.choices import Pipeline
from tests.fakes.read_books import ReadBooks, copy_sample
from tests.fakes.terminal import Terminal

pytestmark = pytest.mark.timeout(300)

SEARCH = ("search", "who lit the lamp", "--json")


@pytest.fixture
def book(books: ReadBooks, tmp_path: Path) -> Terminal:
    """A copy of the ingested sample with vectors."""
    return books.copy("marsh", copy_sample, tmp_path)


@pytest.fixture
def large(book: Terminal, monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """The same, with a vector index in files, as a large library has."""
    for module in (retrieval, doctor):
        monkeypatch.setattr(module, "EDGE_MIN_CHUNKS", 1)
    return book


def finding(terminal: Terminal, part: str) -> tuple[str, str]:
    findings = terminal.run("doctor", "--verify", "--json").json["findings"]
    (found,) = [found for found in findings if found["part"] == part]
    return found["state"], f"{found['detail']} {found['remedy']}"


def read_space(database: Path) -> str:
    with closing(sqlite3.connect(database)) as connection:
        (space,) = connection.execute("select max(space) from chunk").fetchone()
        return str(space)


def reverse_shard_vectors(folder: Path) -> None:
    """Reverse every vector in the shard, which still follows the library."""
    database = folder / ".lrwr" / "library.db"
    space = read_space(database)
    chunks = load_indexed_chunks(database, Pipeline.AGENTIC, space)
    vectors = [chunk.vector for chunk in chunks if chunk.vector is not None]
    name = build_shard_name(Pipeline.AGENTIC, space)
    shard = EdgeShard.load(folder / ".lrwr" / "index" / name, len(vectors[0]))
    shard.apply(
        [
            replace(chunk, seq=shard.cursor.seq, vector=np.negative(vector))
            for chunk, vector in zip(chunks, vectors, strict=True)
        ]
    )
    shard.close()


def test_a_changed_vector_in_the_shard_is_noticed_and_the_shard_rebuilt(
    large: Terminal,
) -> None:
    whole = large.run(*SEARCH).json
    assert finding(large, "vector index")[0] == "ok"
    reverse_shard_vectors(large.folder)
    state, words = finding(large, "vector index")
    assert (state, "lrwr repair" in words) == ("broken", True)
    large.run("repair")
    assert large.run(*SEARCH).json == whole
    assert finding(large, "vector index")[0] == "ok"


@pytest.mark.parametrize("mending", [("repair",), ("ingest", "--verify")], ids=" ".join)
def test_a_changed_vector_compared_in_memory_is_noticed_and_made_again(
    book: Terminal, mending: tuple[str, ...]
) -> None:
    whole = book.run(*SEARCH).json
    database = book.folder / ".lrwr" / "library.db"
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.execute(
            "update embedding set vector = (select vector from embedding order by rowid"
            " limit 1) where rowid = (select max(rowid) from embedding)"
        )
    state, words = finding(book, "stored data")
    assert (state, "1 embedding" in words) == ("broken", True)
    book.run(*mending)
    assert book.run("ingest").code == 0
    assert finding(book, "stored data")[0] == "ok"
    assert book.run(*SEARCH).json == whole
