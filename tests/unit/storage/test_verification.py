"""Verification: every changed value is noticed, and what can be derived is deleted."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from lrwr.core.adapters.storage.sqlite.checksums import (
    CHECKED_COLUMNS,
    OUTLINE_COLUMNS,
    TEXT_COLUMNS,
)
from lrwr.core.adapters.storage.sqlite.verification import (
    discard_damaged_rows,
    load_indexed_chunks,
    mark_documents_without_states,
    verify_database,
)
from lrwr.core.model.choices import Pipeline
from tests.fakes.records import SPACE
from tests.fakes.terminal import Terminal

OF_DOCUMENTS = [("document", name) for name in (*OUTLINE_COLUMNS, *TEXT_COLUMNS[1:])]
VALUES = [
    *OF_DOCUMENTS,
    *((t, name) for t, names in CHECKED_COLUMNS.items() for name in names),
]
TEXT = """# One

Nell Tallow lit the lamp. She was twelve, and her eyes were grey.

“Nine,” said Nell to Corin Ash. Corin counted the lamps on the wall.

“I keep the lamps,” Nell said. “Who keeps you?” asked Corin.
"""


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The database of a small library with a conversation and a model's reply."""
    folder = tmp_path_factory.mktemp("whole")
    for name in ("1.md", "2.md"):
        (folder / name).write_text(TEXT, encoding="utf-8")
    terminal = Terminal(folder, home=folder / "home")
    assert terminal.run("ingest", ".").code == 0
    assert terminal.run("ask", "Who lit the lamp?").code == 0
    return folder / ".lrwr" / "library.db"


@pytest.fixture
def database(whole: Path, tmp_path: Path) -> Path:
    path = tmp_path / "library.db"
    with (
        closing(sqlite3.connect(whole)) as source,
        closing(sqlite3.connect(path)) as to,
    ):
        source.backup(to)
    return path


@pytest.fixture
def connection(database: Path) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(database, isolation_level=None)) as opened:
        opened.execute("PRAGMA ignore_check_constraints = ON")
        yield opened


def test_a_library_that_nothing_happened_to_is_sound(database: Path) -> None:
    report = verify_database(database)
    assert report.is_sound
    assert (report.unchecked, report.words_fit) == (0, True)
    assert discard_damaged_rows(database) == report


@pytest.mark.parametrize(("table", "column"), VALUES)
def test_a_changed_value_is_noticed_and_gone_when_it_is_discarded(
    database: Path, connection: sqlite3.Connection, table: str, column: str
) -> None:
    row = f"rowid = (select min(rowid) from {table})"
    if table in ("processed", "seam", "reading", "woven", "appearance", "first_seen"):
        key = CHECKED_COLUMNS[table][0]
        row = f"{key} = (select min({key}) from {table})"
    changed = f"""case typeof("{column}") when 'integer' then "{column}" + 1
      when 'real' then "{column}" + 0.5 when 'blob' then zeroblob(length("{column}") - 4)
      when 'null' then 1 else "{column}" || '\u00e9' end"""
    if connection.execute(f"select 1 from {table}").fetchone() is None:
        pytest.skip("the library has no such row")
    connection.execute(f'update {table} set "{column}" = {changed} where {row}')
    assert not verify_database(database).is_sound
    assert not discard_damaged_rows(database).is_sound
    left = verify_database(database)
    # The words of a thread cannot be derived again, so it stays marked as damaged.
    assert left.is_sound or (table in ("thread", "turn") and left.threads)


@pytest.mark.parametrize("table", ["chunk", "fact", "quotation", "appearance"])
def test_a_missing_row_is_noticed(
    database: Path, connection: sqlite3.Connection, table: str
) -> None:
    key = "chunk_id" if table == "appearance" else "n"
    connection.execute(
        f"delete from {table} where {key} = (select max({key}) from {table})"
    )
    assert len(verify_database(database).documents) == 1


def test_only_the_outline_of_a_damaged_document_stays(
    database: Path, connection: sqlite3.Connection
) -> None:
    connection.execute("update fact set value = 'blue' where document_id = '1.md'")
    report = discard_damaged_rows(database)
    assert dict(report.documents) == {"1.md": ("facts",)}
    stored = "select document_id from processed"
    assert connection.execute(stored).fetchall() == [("2.md",)]
    texts = "select id, text <> '' from document order by id"
    assert connection.execute(texts).fetchall() == [("1.md", 0), ("2.md", 1)]
    assert verify_database(database).is_sound
    assert connection.execute("select count(*) from thread").fetchone() == (1,)


def test_a_document_without_a_file_on_this_machine_is_not_deleted(
    database: Path, connection: sqlite3.Connection
) -> None:
    connection.execute("update processed set revision = '' where document_id = '1.md'")
    connection.execute("update fact set value = 'blue' where document_id = '1.md'")
    discard_damaged_rows(database)
    assert connection.execute("select count(*) from document").fetchone() == (2,)


def test_the_chunks_of_an_index_have_their_vectors(database: Path) -> None:
    with closing(sqlite3.connect(database)) as opened:
        (space,) = opened.execute("select space from chunk").fetchone()
    chunks = load_indexed_chunks(database, Pipeline.AGENTIC, space)
    assert [chunk.document for chunk in chunks if chunk.vector is None] == []
    assert load_indexed_chunks(database, Pipeline.NAIVE, SPACE) == []


def test_documents_of_an_earlier_version_get_states_when_they_are_verified(
    tmp_path: Path,
) -> None:
    (tmp_path / "1.md").write_text(TEXT, encoding="utf-8")
    terminal = Terminal(tmp_path, home=tmp_path / "home")
    terminal.run("ingest", ".")
    database = tmp_path / ".lrwr" / "library.db"
    with closing(sqlite3.connect(database, isolation_level=None)) as connection:
        states = connection.execute("select * from token_state").fetchall()
        connection.execute("delete from token_state")
        assert terminal.run("ingest", "--json").json["unchanged"] == 1
        ran = terminal.run("ingest", "--verify")
        assert "Storing what makes reranking fast, for 1 document." in ran.err
        assert connection.execute("select * from token_state").fetchall() == states
    assert verify_database(database).is_sound
    assert mark_documents_without_states(database, "all-minilm-l6-v2-int8") == 0
    assert "reranking" not in terminal.run("ingest", "--verify").err
