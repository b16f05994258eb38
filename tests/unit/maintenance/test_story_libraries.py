"""The doctor, repair and backups where the story is known: names, facts, replies."""

import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path

import pytest

from lrwr.app.maintenance.backup import backup_library
from lrwr.app.maintenance.check_result import HealthState
from lrwr.app.maintenance.checks.database import check_word_index
from lrwr.app.maintenance.repair import repair_library
from lrwr.app.maintenance.restore import restore_library
from lrwr.core.adapters.storage.sqlite.database import SqliteDatabase
from lrwr.core.adapters.storage.sqlite.maintenance import (
    copy_database,
    inspect_database,
)
from lrwr.core.canon.decision import NamesMerged
from lrwr.core.model.choices import Pipeline
from lrwr.core.model.chunks import SearchScope
from lrwr.core.model.facts import CharacterField, FactAbout
from lrwr.core.settings.library import Library
from tests.fakes.analysts import ScriptedAnalyst
from tests.fakes.libraries import over
from tests.fakes.records import Clock
from tests.fakes.story_desks import StoryDesk, a_story_desk

NOW = 1_000_000.0
SCRIPT = {"Is it late": (FactAbout.CHARACTER, CharacterField.TRAIT, "wary of the tide")}

STORY = ("fact", "story", "woven", "quotation", "appearance", "first_seen", "reply")
"""What pipeline b alone writes."""


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[StoryDesk]:
    async with a_story_desk(tmp_path) as opened:
        opened.analyst = ScriptedAnalyst(SCRIPT)
        opened.write(
            "1.md",
            "# One\n\n“Is it late?” said Nell Tallow.\n\n“Six strokes,” said Corin"
            " Vale. Nell’s eyes were grey.\n",
        )
        opened.write("2.md", "# Two\n\n“So late,” said Mrs. Gannet to Corin Vale.\n")
        await opened.ingest()
        yield opened


@pytest.fixture
def place(desk: StoryDesk, tmp_path: Path) -> Library:
    """The library's file where `lrwr` keeps it, beside the desk's own."""
    made = Library(desk.folder, tmp_path / "novel" / ".lrwr")
    made.state_dir.mkdir(parents=True)
    copy_database(tmp_path / "state" / "lrwr.db", made.database)
    return made


def state_of(path: Path) -> HealthState:
    return check_word_index(inspect_database(path, now=NOW)).state


def spoil(path: Path, sql: str) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(sql)


def rows(path: Path) -> list[str]:
    with closing(sqlite3.connect(path)) as connection:
        return list(connection.iterdump())


async def found(path: Path, word: str) -> tuple[int, int]:
    """Count passages and facts that hold a word."""
    database = SqliteDatabase(path)
    library = over(database, Clock())
    chunks = await library.words.search_words(
        [word], pipeline=Pipeline.AGENTIC, scope=SearchScope(), limit=9
    )
    facts = await library.story.search_facts([word], limit=9)
    await database.aclose()
    return len(chunks), len(facts)


async def test_the_word_indexes_fit_after_edits_decisions_and_removals(
    desk: StoryDesk, tmp_path: Path
) -> None:
    path = tmp_path / "state" / "lrwr.db"
    assert state_of(path) is HealthState.OK
    desk.write("1.md", "# One\n\n“Is it late?” said Nell Tallow to OchraMags.\n")
    await desk.ingest()
    assert state_of(path) is HealthState.OK
    desk.decide(NamesMerged(("Nell Tallow", "OchraMags")))
    assert (await desk.ingest()).attribution is not None
    assert state_of(path) is HealthState.OK
    (desk.folder / "2.md").unlink()
    assert (await desk.ingest()).forgotten == 1
    assert state_of(path) is HealthState.OK


@pytest.mark.parametrize(
    "harm",
    [
        "delete from chunk_fts_b_data where id > 10",
        "drop trigger chunk_fts_b_update; update chunk set names = 'Zebedee'",
        "insert into chunk_fts_b (rowid, text) values (999, 'nobody')",
        "delete from fact_fts_data where id > 10",
        "drop trigger fact_fts_delete; delete from fact where about = 'character'",
        "insert into fact_fts (rowid, subject, value) values (999, 'Nell', 'tall')",
    ],
)
async def test_a_word_index_of_the_story_that_does_not_fit_is_noticed_and_mended(
    place: Library, harm: str
) -> None:
    spoil(place.database, harm)
    assert state_of(place.database) is HealthState.BROKEN
    assert repair_library(place, now=NOW).moved is None
    assert state_of(place.database) is HealthState.OK


async def test_what_was_found_before_repair_is_found_after_it(place: Library) -> None:
    late = await found(place.database, "late")
    tide = await found(place.database, "tide")
    assert (late[0], tide[1]) == (2, 1)
    for index in ("chunk_fts_b", "fact_fts"):
        spoil(place.database, f"delete from {index}_data where id > 10")
    assert repair_library(place, now=NOW).moved is None
    assert await found(place.database, "late") == late
    assert await found(place.database, "tide") == tide


async def test_what_is_known_of_the_story_comes_back_from_a_backup(
    place: Library, tmp_path: Path
) -> None:
    archive = backup_library(place, tmp_path / "b.zip", now=NOW).file
    again = Library(tmp_path / "again", tmp_path / "again" / ".lrwr")
    again.root.mkdir()
    restore_library(again, archive, force=False, now=NOW)
    assert rows(again.database) == rows(place.database)
    written = "\n".join(rows(again.database))
    for table in STORY:
        assert f'INSERT INTO "{table}"' in written
    assert state_of(again.database) is HealthState.OK


async def test_after_a_restore_only_what_changed_is_read_and_paid_for(
    desk: StoryDesk, place: Library
) -> None:
    analyst = desk.analyst
    assert isinstance(analyst, ScriptedAnalyst)
    paid = analyst.calls
    database = SqliteDatabase(place.database)
    restored = StoryDesk(desk.folder, over(database, Clock()), analyst=analyst)
    assert (await restored.ingest()).processed == 0
    desk.write("2.md", "# Two\n\n“So late,” said Mrs. Gannet. The pony ate.\n")
    assert (await restored.ingest()).processed == 1
    assert analyst.calls == paid + 2
    await database.aclose()
