"""A book that is read at a control plane, and how its library is told from another."""

import shutil
import sqlite3
import time
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from lrwr.core.adapters.modal.wire import decode_message
from tests.fakes.invented import write_book
from tests.fakes.modal_server import TOKEN_ID, TOKEN_SECRET, ModalServer
from tests.fakes.model_server import KEY
from tests.fakes.terminal import Ran, Terminal

OF_THE_RUN = {
    "n", "seq", "revision", "created", "created_at", "updated_at", "made", "lease_until",
    "worker", "attempts", "crc", "outline",
}  # fmt: skip
"""Columns that tell of a run and not of the book: when, by whom, in which order.

The checksums `crc` and `outline` cover times.
"""

APART = ("library", "sent", "sqlite_", "orphan", "job", "attribution")
"""How the names of tables begin that tell of a run, too.

`attribution` holds checksums of rows with the times of a run.
"""

PLANTED = ("lamp room", "the long frost", "Tallow", "estuary", "Gannet")


def dumped(book: Path) -> dict[str, Counter[tuple[object, ...]]]:
    """Return all that a library holds of its book, table by table."""
    with closing(sqlite3.connect(book / ".lrwr/library.db")) as connection:
        sql = "select name from sqlite_master where type = 'table'"
        names = [row[0] for row in connection.execute(sql)]
        tables = {}
        for name in names:
            if name.startswith(APART) or "_fts" in name:
                continue
            columns = [
                row[1] for row in connection.execute(f"pragma table_info({name})")
            ]
            kept = ", ".join(f'"{one}"' for one in columns if one not in OF_THE_RUN)
            tables[name] = Counter(connection.execute(f"select {kept} from {name}"))
        return tables


def until(true: Callable[[], bool]) -> None:
    """Wait until something is so."""
    end = time.monotonic() + 50
    while not true():
        assert time.monotonic() < end
        time.sleep(0.02)


class Desk:
    """A book, and a terminal that reads it at a control plane.

    `apart` has each command run in a process. Modal's client leaves a task behind where
    nobody listens, which is heard of later, by whoever runs then.
    """

    def __init__(
        self, place: Path, server: ModalServer, chapters: int = 4, model: str = "local"
    ) -> None:
        place.mkdir(exist_ok=True)
        self.server = server
        self.apart = False
        self.book = place / "book"
        self.files = write_book(self.book, chapters)
        env = {**server.env, "LRWR_EMBEDDING_MODEL": model}
        self.terminal = Terminal(self.book, home=place / "home", **env)

    def run(self, *words: str, **env: str) -> Ran:
        """Run a command; neither a token nor a word of the book may be in its story."""
        run = self.terminal.process if self.apart else self.terminal.run
        ran = run(*words, **env)
        state = self.book / ".lrwr"
        kept = [one.read_bytes() for one in state.rglob("*") if one.is_file()]
        for secret in (TOKEN_ID, TOKEN_SECRET, KEY):
            assert secret not in ran.out + ran.err
            assert not any(secret.encode() in content for content in kept)
        for words_ in PLANTED:
            assert words_ not in ran.err
        return ran

    def ingest(self, *words: str, **env: str) -> Ran:
        """Read the book in containers."""
        return self.run("ingest", ".", "--remote", "--json", *words, **env)

    @property
    def noted(self) -> int:
        """How many calls are kept that are not used yet."""
        return len(list((self.book / ".lrwr").glob("calls/*.json")))


def read_here(place: Path, book: Path, **env: str) -> Path:
    """Read the same files on this machine, and return their folder."""
    place.mkdir()
    shutil.copytree(book, place / "book", ignore=shutil.ignore_patterns(".lrwr*"))
    terminal = Terminal(place / "book", home=place / "home")
    assert terminal.run("ingest", ".", **env).code == 0
    return place / "book"


def inflated(body: bytes) -> bytes:

    return decode_message(body, dict[str, object])[1]
