import asyncio
import sqlite3
from contextlib import closing
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, get_args, get_type_hints

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lrwr.core.adapters.storage.sqlite.checksums import END_OF_TIMES
from lrwr.core.adapters.storage.sqlite.maintenance import (
    inspect_database,
    rebuild_database_indexes,
)
from lrwr.core.adapters.storage.sqlite.user_rows import list_expired_threads
from lrwr.core.model.turns import NarrativeState, Thread, Turn
from tests.fakes.conversations import OTHER, THREAD, a_turn, some_turns
from tests.fakes.libraries import sqlite_library
from tests.fakes.processes import workers
from tests.fakes.suite import examples
from tests.fakes.workers import FILE


def any_of_type(hint: Any) -> st.SearchStrategy[Any]:
    """Values with every field filled, those that a dataclass gets later too."""
    if is_dataclass(hint) and isinstance(hint, type):
        hints = get_type_hints(hint)
        parts = {one.name: any_of_type(hints[one.name]) for one in fields(hint)}
        return st.builds(hint, **parts)
    if get_args(hint)[1:] == (...,):
        return st.lists(any_of_type(get_args(hint)[0]), max_size=3).map(tuple)
    if hint is float:
        # Later times, and prices as high, count as damaged.
        return st.floats(0, END_OF_TIMES, exclude_max=True)
    if type(None) in get_args(hint):
        return st.none() | any_of_type(get_args(hint)[0])
    return st.from_type(hint)


@settings(max_examples=examples(60))
@given(any_of_type(Turn), any_of_type(NarrativeState), st.text())
def test_a_turn_comes_back_equal_with_the_state_after_it(
    turn: Turn, state: NarrativeState, title: str
) -> None:
    async def kept_and_read(folder: Path) -> tuple[Thread, list[Turn]]:
        async with sqlite_library(folder) as library:
            kept = await library.threads.save_turn(THREAD, title, turn, state)
            assert await library.threads.thread(THREAD) == kept
            return kept, await library.threads.turns(THREAD)

    with TemporaryDirectory() as folder:
        thread, turns = asyncio.run(kept_and_read(Path(folder)))
        assert inspect_database(Path(folder) / FILE, now=0.0).words_fit is True
    assert turns == [replace(turn, number=1, is_damaged=False)]
    assert (thread.title, thread.state) == (title, state)
    assert (thread.created_at, thread.updated_at) == (turn.asked_at, turn.asked_at)


async def test_four_processes_that_keep_turns_of_one_conversation_keep_them_all(
    tmp_path: Path,
) -> None:
    with workers("talk", tmp_path, 4) as started:
        assert [worker.hear() for worker in started] == ["ready"] * 4
        for worker in started:
            worker.go()
        said = [int(count) for worker in started for count in worker.rest()]
    assert sorted(said) == list(range(1, 81))
    async with sqlite_library(tmp_path) as library:
        turns = await library.threads.turns(THREAD)
    assert [turn.number for turn in turns] == list(range(1, 81))
    assert len({turn.id for turn in turns}) == 80
    assert inspect_database(tmp_path / FILE, now=0.0).words_fit is True


@pytest.mark.parametrize(
    "harm",
    [
        "delete from turn_fts_data where id > 10",
        "drop trigger turn_fts_update; update turn set answer = 'Nobody.'",
        "drop trigger turn_fts_delete; delete from turn where number = 2",
        "insert into turn_fts (rowid, question) values (999, 'nobody')",
        "drop table turn_fts",
    ],
)
async def test_an_index_of_turns_that_does_not_fit_is_noticed_and_mended(
    tmp_path: Path, harm: str
) -> None:
    async with sqlite_library(tmp_path) as library:
        for turn in some_turns(30):
            await library.threads.save_turn(THREAD, "Tides", turn, NarrativeState())
    path = tmp_path / FILE
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(harm)
        connection.commit()
    assert inspect_database(path, now=0.0).words_fit is False
    assert rebuild_database_indexes(path) == ()
    assert inspect_database(path, now=0.0).words_fit is True
    async with sqlite_library(tmp_path) as library:
        kept = await library.threads.turns(THREAD)
        found = await library.threads.search(["question"], limit=99)
        assert {turn.id for _, turn in found} == {turn.id for turn in kept}
        assert len(kept) >= 29


async def test_nothing_of_a_purged_conversation_is_left_in_any_row(
    tmp_path: Path,
) -> None:
    async with sqlite_library(tmp_path) as library:
        for thread in (THREAD, OTHER):
            await library.threads.save_turn(thread, "T", a_turn(), NarrativeState())
        await library.threads.delete(THREAD, 1.0)
        assert await library.threads.purge(2.0) == 1
    with closing(sqlite3.connect(tmp_path / FILE)) as connection:
        threads = connection.execute("select id from thread").fetchall()
        turns = connection.execute("select thread_id from turn").fetchall()
        words = connection.execute("select count(*) from turn_fts_docsize").fetchone()
    assert (threads, turns, words) == ([(OTHER,)], [(OTHER,)], (1,))
    assert inspect_database(tmp_path / FILE, now=0.0).words_fit is True


async def test_a_conversation_that_a_flipped_bit_dates_as_deleted_is_not_purged(
    tmp_path: Path,
) -> None:
    async with sqlite_library(tmp_path) as library:
        await library.threads.save_turn(THREAD, "T", a_turn(), NarrativeState())
        with closing(sqlite3.connect(tmp_path / FILE)) as connection:
            connection.execute("pragma ignore_check_constraints = on")
            connection.execute("update thread set deleted_at = 0.0")
            connection.commit()
        assert list_expired_threads(tmp_path / FILE, 2.0) == []
        assert await library.threads.purge(2.0) == 0
