from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import keyring
import pytest

from lrwr.core.adapters.storage.sqlite.database import SqliteDatabase
from tests.fakes.keyrings import MemoryKeyring
from tests.fakes.libraries import over
from tests.fakes.records import ONE, Clock


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A writer's own folders and keyring, for one test."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    kept = keyring.get_keyring()
    keyring.set_keyring(MemoryKeyring())
    yield
    keyring.set_keyring(kept)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "novel"
    made.mkdir()
    return made


@pytest.fixture
async def library(folder: Path) -> AsyncIterator[SqliteDatabase]:
    database = SqliteDatabase(folder / ".lrwr" / "library.db")
    await over(database, Clock()).keep_texts(ONE, ["The frog sat."])
    yield database
    await database.aclose()
