import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
import textual._wait

from lrwr.app.books import BookRecord, Bookshelf, add_book, open_bookshelf
from lrwr.core.settings.loader import load_settings
from tests.fakes.book_screen import BODIES, NAV
from tests.fakes.model_server import ModelServer
from tests.fakes.read_books import BY_WORDS, ReadBooks, copy_sample
from tests.fakes.room import look_again
from tests.unit.source.epub_files import build_epub

LOOK = 1 / 125
"""Seconds between two looks at whether a screen is still busy, instead of 1/50."""


@pytest.fixture(scope="session", autouse=True)
def short_waits() -> Iterator[None]:
    """Let a pilot wait no longer than it must."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(textual._wait, "SLEEP_GRANULARITY", LOOK)
        yield


@pytest.fixture(scope="session")
def books(tmp_path_factory: pytest.TempPathFactory) -> ReadBooks:
    """Books that are read once, to be copied."""
    return ReadBooks(tmp_path_factory)


@pytest.fixture(scope="session")
def read_sample(books: ReadBooks, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample's folder, read by words alone. To use it, copy it."""
    place = tmp_path_factory.mktemp("read")
    return books.copy("sample", copy_sample, place, **BY_WORDS).folder


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home of the test's own, and a plain environment."""
    folder = tmp_path / "home"
    folder.mkdir()
    for name in ("HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"):
        monkeypatch.setenv(name, str(folder))
    for name in ("NO_COLOR", "COLORFGBG", "VISUAL", "EDITOR"):
        monkeypatch.delenv(name, raising=False)
    return folder


@pytest.fixture
def book(read_sample: Path, home: Path, tmp_path: Path) -> Path:
    """The sample's folder, read by words alone, for this test."""
    shutil.copytree(read_sample, tmp_path / "book")
    look_again(tmp_path / "book")
    return tmp_path / "book"


@pytest.fixture
def unread(home: Path, tmp_path: Path) -> Path:
    """The sample's folder, not read yet."""
    copy_sample(tmp_path / "book")
    return tmp_path / "book"


@pytest.fixture
def shelf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bookshelf:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("LRWR_EMBEDDING_MODEL", "off")
    return open_bookshelf()


@pytest.fixture
async def lanterns(shelf: Bookshelf, tmp_path: Path) -> BookRecord:
    file = tmp_path / "lanterns.epub"
    file.write_bytes(build_epub(BODIES, nav=NAV))
    env = {"LRWR_EMBEDDING_MODEL": "off"}
    settings = load_settings(tmp_path, env, {}, user=tmp_path / "nobody.toml")
    return await add_book(shelf, settings, file, now=0.0, say=lambda _: None)


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer(key="") as opened:
        yield opened
