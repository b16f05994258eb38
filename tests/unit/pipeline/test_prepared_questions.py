"""Ingestion prepares the first question of a large library."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from lrwr.app.container import open_workspace
from lrwr.app.ingestion import IngestLimits, ingest_manuscript
from lrwr.app.pending_changes import IngestTargets
from lrwr.core.settings.loader import load_settings

DOCUMENTS = 12
TEXT = "Nell Tallow lit the lamp. “It smokes,” said Nell.\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "book"
    folder.mkdir()
    for number in range(DOCUMENTS):
        name = f"{number:02}.md"
        (folder / name).write_text(f"# Chapter {number}\n\n{TEXT}", encoding="utf-8")
    return folder


async def ingest(folder: Path, *, prepared_from: int) -> int:
    """Ingest the folder; return how many indexes of names the library has stored."""
    env = {"LRWR_EMBEDDING_MODEL": "off", "HOME": str(folder.parent / "home")}
    async with open_workspace(load_settings(folder, env, {})) as workspace:
        await ingest_manuscript(
            workspace,
            IngestTargets((folder,)),
            lambda event: None,
            IngestLimits(prepared_from=prepared_from),
        )
        with closing(sqlite3.connect(workspace.library.database)) as connection:
            (count,) = connection.execute("select count(*) from bible_index").fetchone()
    return int(count)


async def test_the_first_ingestion_of_a_large_library_builds_the_index_of_names(
    folder: Path,
) -> None:
    assert await ingest(folder, prepared_from=DOCUMENTS) == 1


async def test_a_small_library_is_left_to_its_first_question(folder: Path) -> None:
    assert await ingest(folder, prepared_from=DOCUMENTS + 1) == 0


async def test_an_edit_of_a_large_library_is_left_to_the_next_question(
    folder: Path,
) -> None:
    await ingest(folder, prepared_from=DOCUMENTS + 1)
    edited = folder / "03.md"
    edited.write_text(edited.read_text("utf-8") + "\nCorin Vale left.\n", "utf-8")
    assert await ingest(folder, prepared_from=DOCUMENTS) == 0
