"""What is kept in memory of a library that others write, too."""

from pathlib import Path

import pytest

from lrwr.core.adapters.storage.sqlite.database import (
    SqliteDatabase,
    read_library_generation,
)
from lrwr.core.adapters.storage.sqlite.passage_store import SqlitePassageStore
from lrwr.core.model.cast import Alias, Cast, Character, Gender
from lrwr.core.model.choices import Pipeline
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.facts import Certainty
from tests.fakes.libraries import Library, sqlite_library

ONE, TWO, THREE = (DocumentId(f"{number}.md") for number in (1, 2, 3))


async def outlined(library: Library) -> list[str]:
    return [outline.id for outline in await library.passages.outlines()]


def a_cast(*names: str) -> Cast:
    sure = Certainty.VERIFIED
    return Cast(
        tuple(
            Character(name, (Alias(name, 1, sure),), Gender.UNKNOWN, sure, sure)
            for name in names
        )
    )


async def test_outlines_are_those_of_the_moment_whoever_wrote(tmp_path: Path) -> None:
    async with sqlite_library(tmp_path) as here, sqlite_library(tmp_path) as there:
        assert await outlined(here) == []
        await here.keep_texts(ONE, ["The lamp burned."])
        assert await outlined(here) == await outlined(there) == [ONE]
        await there.keep_texts(TWO, ["Fog came in."])
        assert await outlined(here) == await outlined(there) == [ONE, TWO]
        await here.remove(ONE)
        await there.keep_texts(THREE, ["Fog went out."])
        assert await outlined(here) == await outlined(there) == [TWO, THREE]


async def test_chunks_and_counts_are_those_of_the_moment_whoever_wrote(
    tmp_path: Path,
) -> None:
    async with sqlite_library(tmp_path) as here, sqlite_library(tmp_path) as there:
        for text in ("The lamp burned.", "The lamp went out.", "Fog came in."):
            await there.keep_texts(ONE, [text])
            (chunk,) = await there.passages.chunks_of(ONE, Pipeline.NAIVE)
            for _ in range(2):
                assert await here.passages.chunks([chunk.id]) == [chunk]
                assert (await here.passages.counts(Pipeline.NAIVE)).chunks == 1
        await there.remove(ONE)
        assert await here.passages.chunks([chunk.id]) == []
        assert (await here.passages.counts(Pipeline.NAIVE)).chunks == 0


async def test_outlines_that_a_reader_changes_are_his_own(tmp_path: Path) -> None:
    async with sqlite_library(tmp_path) as library:
        await library.keep_texts(ONE, ["The lamp burned."])
        (await library.passages.outlines()).clear()
        assert await outlined(library) == [ONE]


async def test_the_cast_is_that_of_the_moment_whoever_wrote(tmp_path: Path) -> None:
    async with sqlite_library(tmp_path) as here, sqlite_library(tmp_path) as there:
        assert await here.story.cast() == Cast()
        for names in (("Nell",), ("Nell", "Corin Vale"), ()):
            await there.casts.save_cast(a_cast(*names))
            assert await here.story.cast() == await there.story.cast() == a_cast(*names)


async def test_a_write_that_failed_leaves_what_is_kept_true(tmp_path: Path) -> None:
    database = SqliteDatabase(tmp_path / "lrwr.db")
    store = SqlitePassageStore(database)
    try:
        assert await store.outlines() == []
        before = await database.read(read_library_generation)
        with pytest.raises(ZeroDivisionError):
            await database.write(
                lambda connection: (
                    connection.execute(
                        "insert into document (id, format, type, title, words,"
                        " updated_at, warnings, chapters, paragraphs, text) values"
                        " ('1.md', 'md', 'scene', '', 0, 0, '[]', '[]', '', '')"
                    ).rowcount
                    / 0
                )
            )
        assert await store.outlines() == []
        assert await database.read(read_library_generation) != before
    finally:
        await database.aclose()


async def test_a_library_that_nobody_writes_is_of_one_generation(
    tmp_path: Path,
) -> None:
    async with sqlite_library(tmp_path) as library:
        await library.keep_texts(ONE, ["The lamp burned."])
    database = SqliteDatabase(tmp_path / "lrwr.db")
    try:
        seen = {await database.read(read_library_generation) for _ in range(3)}
        assert len(seen) == 1
    finally:
        await database.aclose()
