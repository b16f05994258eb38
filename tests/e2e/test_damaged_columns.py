"""A value of the wrong kind in any column of any table ends no command with an internal
error; every run of a terminal checks that.
"""

import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path

import pytest

from lrwr.core.adapters.storage.sqlite.database import open_sqlite_library
from tests.fakes.damaged_columns import damage_columns, list_tables
from tests.fakes.read_books import BY_WORDS, ReadBooks, copy_sample
from tests.fakes.suite import sampled
from tests.fakes.terminal import Terminal

pytestmark = pytest.mark.timeout(300)

COMMANDS = (
    *("status", "jobs", "privacy", "threads search lamps", "characters Nell", "recap"),
    *("quotes", "gaps", "diff", "search lamps", "ask Lamps?", "doctor --verify"),
    *("ingest", "repair", "ingest --verify"),
)
"""Commands that read the library, then those that mend it."""
FILLED = (
    "insert into sent (at, service, host, purpose, model, sent_bytes, outcome)"
    " values (1e6, 'openai', 'api.openai.com', 'answering', 'm', 99, 'answered')",
    "insert into reply (key, made, prompt_tokens, completion_tokens, finding)"
    " values (?1, 1e6, 9, 3, '[\"x\"]')",
    "insert into orphan values ('s', ?1, 1e6)",
    """insert into turn (id, thread_id, number, asked_at, state, price, usage, question,
      answer, output) select ?1, thread_id, 9 + ?1, asked_at, state, price, usage,
      question, answer, output from turn where number = 1""",
)


def tables() -> list[str]:
    """Return the tables of the newest schema."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "library.db"
        opened = open_sqlite_library(path, patience=1.0, say=lambda _: None)
        opened.connection.close()
        return list_tables(path)


@pytest.fixture
def book(books: ReadBooks, tmp_path: Path) -> Terminal:
    """A copy of the ingested sample with rows in every table of a local library."""
    terminal = books.copy("marsh-words", copy_sample, tmp_path, **BY_WORDS)
    assert terminal.run("ask", "Who lights the lamps?").code == 0
    database = terminal.folder / ".lrwr" / "library.db"
    with closing(sqlite3.connect(database)) as connection, connection:
        for number in range(24):
            for sql in FILLED:
                parameters = (str(number),) if "?1" in sql else ()
                connection.execute(sql, parameters)
    return terminal


@pytest.mark.parametrize(("seed", "table"), sampled(enumerate(tables())))
def test_no_value_ends_a_command_with_an_internal_error(
    book: Terminal, seed: int, table: str
) -> None:
    damage_columns(book.folder / ".lrwr" / "library.db", table, seed)
    for words in COMMANDS:
        book.run(*words.split())
