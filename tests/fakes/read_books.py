"""Books that are read once for all workers of a run; a test gets a copy."""

import os
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.fakes.terminal import Terminal

EXAMPLE = Path(__file__).parents[2] / "examples/marsh-lantern"
BY_WORDS = {"LRWR_EMBEDDING_MODEL": "off"}


def copy_sample(to: Path) -> None:
    """Copy the sample manuscript, without what may have been made of it."""
    shutil.copytree(EXAMPLE, to, ignore=shutil.ignore_patterns(".lrwr*"))


def write_files(files: Mapping[str, str]) -> Callable[[Path], None]:
    """Return what writes these files into a new folder."""

    def write(folder: Path) -> None:
        for name, text in files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")

    return write


class ReadBooks:
    """The books of one run, under a folder that all its workers share."""

    def __init__(self, factory: pytest.TempPathFactory) -> None:
        base = factory.getbasetemp()
        self._base = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base

    def copy(
        self, name: str, write: Callable[[Path], None], to: Path, **env: str
    ) -> Terminal:
        """Return a terminal at a copy of a book that was read with `env`.

        `write` makes the book, once for each `name`; the copy is `to`/book.
        """
        place = self._base / f"read-{name}"
        with _alone(place.with_suffix(".lock")):
            if not (place / "whole").exists():
                shutil.rmtree(place, ignore_errors=True)
                place.mkdir()
                write(place / "book")
                read = Terminal(place / "book", home=place / "home", **env)
                assert read.run("ingest", ".").code == 0
                (place / "whole").touch()
        shutil.copytree(place / "book", to / "book")
        copied = Terminal(to / "book", home=to / "home", **env)
        assert (
            copied.run("ingest").code == 0
        )  # a copied file is another until looked at
        return copied


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    """Wait for the other workers that are here."""
    with path.open("w") as lock:
        if sys.platform != "win32":
            import fcntl

            fcntl.flock(lock, fcntl.LOCK_EX)
        yield
