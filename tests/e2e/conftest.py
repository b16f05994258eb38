import shutil
from pathlib import Path

import pytest

from tests.fakes.terminal import Terminal

EXAMPLE = Path(__file__).parents[2] / "examples/marsh-lantern"


@pytest.fixture(scope="session")
def marsh(tmp_path_factory: pytest.TempPathFactory) -> Terminal:
    """The sample, ingested once. Read it; to change it, copy it."""
    place = tmp_path_factory.mktemp("marsh")
    copy_sample(place / "book")
    terminal = Terminal(place / "book", home=place / "home")
    assert terminal.run("ingest", ".").code == 0
    return terminal


@pytest.fixture
def sample(tmp_path: Path) -> Terminal:
    """The sample, fresh, by words alone."""
    copy_sample(tmp_path / "book")
    return Terminal(
        tmp_path / "book", home=tmp_path / "home", LRWR_EMBEDDING_MODEL="off"
    )


@pytest.fixture
def empty(tmp_path: Path) -> Terminal:
    """An empty folder, by words alone."""
    (tmp_path / "book").mkdir()
    return Terminal(
        tmp_path / "book", home=tmp_path / "home", LRWR_EMBEDDING_MODEL="off"
    )


def copy_sample(to: Path) -> None:
    shutil.copytree(EXAMPLE, to, ignore=shutil.ignore_patterns(".lrwr*"))
