from pathlib import Path

import pytest

from tests.fakes.read_books import BY_WORDS, ReadBooks, copy_sample


@pytest.fixture(scope="session")
def books(tmp_path_factory: pytest.TempPathFactory) -> ReadBooks:
    """Books that are read once, to be copied."""
    return ReadBooks(tmp_path_factory)


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
def book(books: ReadBooks, home: Path, tmp_path: Path) -> Path:
    """The sample's folder, read by words alone, for this test."""
    return books.copy("sample", copy_sample, tmp_path, **BY_WORDS).folder


@pytest.fixture
def unread(home: Path, tmp_path: Path) -> Path:
    """The sample's folder, not read yet."""
    copy_sample(tmp_path / "book")
    return tmp_path / "book"
