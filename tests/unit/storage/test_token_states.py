"""Token states are stored, found, and deleted with the vector of their text."""

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from lrwr.core.adapters.storage.sqlite.database import SqliteDatabase
from lrwr.core.adapters.storage.sqlite.passage_store import SqliteTokenStates
from lrwr.core.model.documents import DocumentId
from tests.fakes.libraries import Library, over
from tests.fakes.records import ONE, SPACE, Clock, hash_of, some_chunks, some_knowledge

TEXTS = ["The frog is shy.", "The toad is not."]
HASHES = [hash_of(text) for text in TEXTS]
STATES = {text: text[:8].encode() for text in HASHES}


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[SqliteDatabase]:
    opened = SqliteDatabase(tmp_path / "lrwr.db")
    yield opened
    await opened.aclose()


@pytest.fixture
async def library(database: SqliteDatabase) -> Library:
    library = over(database, Clock())
    await library.keep(replace(some_knowledge(some_chunks(TEXTS)), states=STATES))
    return library


async def change(database: SqliteDatabase, sql: str) -> None:
    """Change the file behind the store's back."""
    await database.write(lambda connection: bool(connection.execute(sql)))


async def test_states_are_read_by_space_and_text(
    database: SqliteDatabase, library: Library
) -> None:
    del library
    read = SqliteTokenStates(database).read
    assert await read(SPACE, HASHES) == STATES
    assert await read(SPACE, [HASHES[1], hash_of("never said")]) == {
        HASHES[1]: STATES[HASHES[1]]
    }
    assert await read("another", HASHES) == {}


async def test_damaged_and_outdated_states_are_left_out(
    database: SqliteDatabase, library: Library
) -> None:
    first, second = (f"where text_hash = '{text}'" for text in HASHES)
    await change(database, f"update token_state set states = x'00' {first}")
    await change(database, f"update token_state set version = 0, crc = null {second}")
    assert await SqliteTokenStates(database).read(SPACE, HASHES) == {}
    known = library.knowledge.known_vectors
    assert await known(SPACE, HASHES, with_states=True) == {HASHES[0]}


async def test_a_text_without_states_is_known_only_by_its_vector(
    library: Library,
) -> None:
    await library.keep_texts(DocumentId("2.md"), ["Elsewhere."])
    asked = [*HASHES, hash_of("Elsewhere.")]
    known = library.knowledge.known_vectors
    assert await known(SPACE, asked) == set(asked)
    assert await known(SPACE, asked, with_states=True) == set(HASHES)


async def test_states_are_deleted_with_the_vector(
    database: SqliteDatabase, library: Library
) -> None:
    await library.remove(ONE)
    read = SqliteTokenStates(database).read
    assert await read(SPACE, HASHES) == STATES
    library.clock.time += 26 * 3600
    await library.keep_texts(DocumentId("2.md"), ["Elsewhere."])
    assert await read(SPACE, HASHES) == {}
