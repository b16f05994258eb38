import shutil
from pathlib import Path

import pytest

from tests.fakes.terminal import Terminal

EXAMPLE = Path(__file__).parents[2] / "examples/marsh-lantern"


@pytest.fixture(scope="session")
def read_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample, read by words alone. To use it, copy it: see `book`."""
    place = tmp_path_factory.mktemp("room")
    leave_out = shutil.ignore_patterns(".lrwr*")
    shutil.copytree(EXAMPLE, place / "book", ignore=leave_out)
    terminal = Terminal(place / "book", home=place / "home", LRWR_EMBEDDING_MODEL="off")
    assert terminal.run("ingest", ".").code == 0
    return place / "book"


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
def book(read_once: Path, home: Path, tmp_path: Path) -> Path:
    """The sample's folder, read, for this test alone."""
    return shutil.copytree(read_once, tmp_path / "book")


@pytest.fixture
def unread(home: Path, tmp_path: Path) -> Path:
    """The sample's folder, not read yet."""
    leave_out = shutil.ignore_patterns(".lrwr*")
    return shutil.copytree(EXAMPLE, tmp_path / "book", ignore=leave_out)
