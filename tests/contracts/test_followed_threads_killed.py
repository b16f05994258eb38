import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial

import pytest

from lrwr.core.adapters.storage.sqlite.thread_store import SqliteThreadStore
from lrwr.core.adapters.storage.supabase.library_transfer import pull_remote_changes
from lrwr.core.adapters.storage.supabase.replica import SupabaseReplica
from lrwr.core.adapters.storage.supabase.thread_api import (
    SupabaseThreadApi,
    ThreadRecord,
)
from lrwr.core.adapters.storage.supabase.thread_store import ThreadReplica
from tests.fakes.conversations import OTHER, THREAD, a_turn
from tests.fakes.followed import Desks, asked, check_same, keep, titles
from tests.fakes.hosted import Machine
from tests.fakes.records import Clock
from tests.fakes.supabase_gate import SupabaseGate

pytestmark = pytest.mark.supabase

PATIENCE = 60.0


class Meanwhile(SupabaseThreadApi):
    """Lets something happen after an answer has come."""

    marks_came: Callable[[], Awaitable[object]] | None = None
    whole_came: Callable[[], Awaitable[object]] | None = None

    async def digests(self) -> dict[str, str]:
        found = await super().digests()
        if self.marks_came is not None:
            await self.marks_came()
        return found

    async def load(self, thread: str) -> ThreadRecord | None:
        found = await super().load(thread)
        if self.whole_came is not None:
            await self.whole_came()
        return found


@pytest.fixture
def meanwhile(desks: Desks) -> Meanwhile:
    return Meanwhile(desks.hosted, desks.library)


def untold(what: str, done: int, of: int) -> None:
    del what, done, of


async def killed_at(
    gate: SupabaseGate,
    words: str,
    work: Awaitable[object],
    *,
    done: bool,
    times: int = 1,
) -> None:
    """Stop at a request, as if this were the end of the process."""
    with gate.stopping(words, times=times, done=done) as reached:
        working = asyncio.ensure_future(work)
        assert await asyncio.to_thread(reached.wait, PATIENCE)
        working.cancel()
        with suppress(asyncio.CancelledError):
            await working


@pytest.mark.parametrize("done", [False, True], ids=["before", "after"])
async def test_a_turn_is_kept_once_wherever_lrwr_is_killed_while_it_keeps_it(
    desks: Desks,
    desk: Machine,
    gate: SupabaseGate,
    there: SupabaseThreadApi,
    *,
    done: bool,
) -> None:
    await keep(desk.threads, a_turn("Who?"))
    work = keep(desk.threads, a_turn("Why?"))
    await killed_at(gate, "lrwr_keep_turn", work, done=done)
    again, train = await desks("desk"), await desks("train")
    assert await asked(again.threads) == ["Who?", "Why?"]
    assert await asked(train.threads) == ["Who?", "Why?"]
    await check_same(there, again, train)


@pytest.mark.parametrize("done", [False, True], ids=["before", "after"])
@pytest.mark.parametrize(
    ("words", "times"),
    [
        ("lrwr_keep_turn", 1),
        ("lrwr_keep_turn", 2),
        ("lrwr_thread_marks", 1),
        ("lrwr_thread_whole", 1),
        ("lrwr_thread_whole", 2),
    ],
)
async def test_nothing_is_lost_wherever_lrwr_is_killed_while_it_catches_up(
    desks: Desks,
    desk: Machine,
    train: Machine,
    gate: SupabaseGate,
    there: SupabaseThreadApi,
    words: str,
    times: int,
    *,
    done: bool,
) -> None:
    await keep(desk.threads, a_turn("Who?"))
    await titles(train.threads)
    train.away.set()
    await keep(train.threads, a_turn("Why?"), a_turn("Where?"))
    for thread in (THREAD, OTHER):
        await keep(desk.threads, a_turn("When?"), thread=thread)
    train.away.clear()
    work = train.copy.catch_up()
    await killed_at(gate, words, work, done=done, times=times)
    again = await desks("train")
    assert await asked(again.threads) == ["Who?", "When?", "Why?", "Where?"]
    await check_same(there, desk, again)


async def test_what_two_processes_of_one_machine_keep_at_once_is_all_there(
    desks: Desks, desk: Machine, train: Machine, there: SupabaseThreadApi
) -> None:
    second = await desks("desk")
    questions = [f"{n}?" for n in range(6)]
    await asyncio.gather(
        *(
            keep(one.threads, a_turn(f"{name} {question}"))
            for name, one in (("a", desk), ("b", second), ("c", train))
            for question in questions
        ),
        *(one.copy.catch_up() for one in (desk, second, train) for _ in range(3)),
    )
    await check_same(there, desk, second, train)
    expected = sorted(f"{name} {one}" for name in "abc" for one in questions)
    assert sorted(await asked(desk.threads)) == expected


async def test_what_is_asked_here_while_others_changes_come_is_not_written_over(
    desk: Machine, train: Machine, meanwhile: Meanwhile, there: SupabaseThreadApi
) -> None:
    await keep(desk.threads, a_turn("Who?"))
    await titles(train.threads)
    await keep(desk.threads, a_turn("Why?"))
    turn = a_turn("Where?")
    here = SqliteThreadStore(train.plain)
    meanwhile.whole_came = partial(keep, here, turn)
    await ThreadReplica(train.plain, meanwhile).catch_up(2)
    assert await asked(here) == ["Who?", "Where?"]
    await ThreadReplica(train.plain, there).send(at_once=turn.id)
    assert await asked(train.threads) == ["Who?", "Why?", "Where?"]
    await check_same(there, desk, train)


async def test_what_another_process_has_brought_is_not_written_over_by_older(
    desk: Machine, train: Machine, meanwhile: Meanwhile, there: SupabaseThreadApi
) -> None:
    await keep(desk.threads, a_turn("Who?"))

    async def another() -> None:
        await train.copy.catch_up()
        await keep(train.threads, a_turn("Why?"))

    meanwhile.whole_came = another
    await ThreadReplica(train.plain, meanwhile).catch_up(1)
    assert await asked(SqliteThreadStore(train.plain)) == ["Who?", "Why?"]
    await check_same(there, desk, train)


async def test_a_pull_does_not_write_older_over_what_another_process_has_brought(
    desk: Machine, train: Machine, meanwhile: Meanwhile, there: SupabaseThreadApi
) -> None:
    await keep(desk.threads, a_turn("Who?"))

    async def another() -> None:
        await train.copy.catch_up()
        await keep(train.threads, a_turn("Why?"))

    meanwhile.whole_came = another
    train.records.threads = meanwhile
    copy = SupabaseReplica(train.plain, train.records, Clock())
    assert (
        await pull_remote_changes(train.plain, copy, train.records, untold)
    ).conversations == 0
    assert await asked(SqliteThreadStore(train.plain)) == ["Who?", "Why?"]
    await check_same(there, desk, train)


async def test_what_is_asked_here_while_its_conversation_is_forgotten_is_not_lost(
    desk: Machine, train: Machine, meanwhile: Meanwhile, there: SupabaseThreadApi
) -> None:
    await keep(desk.threads, a_turn("Who?", asked_at=1.0))
    await titles(train.threads)
    await desk.threads.delete(THREAD, 2.0)
    await desk.threads.purge(3.0)
    here = SqliteThreadStore(train.plain)
    meanwhile.marks_came = partial(keep, here, a_turn("Why?", asked_at=5.0))
    await ThreadReplica(train.plain, meanwhile).catch_up(3)
    assert "Why?" in await asked(here)
    assert await asked(train.threads) == ["Why?"]
    await check_same(there, desk, train)
