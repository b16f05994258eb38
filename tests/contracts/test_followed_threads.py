from collections.abc import Awaitable, Callable

import pytest

from lrwr.core.adapters.storage.sqlite.thread_store import SqliteThreadStore
from lrwr.core.adapters.storage.supabase.library_link import (
    LibraryLink,
    read_library_link,
)
from lrwr.core.adapters.storage.supabase.library_transfer import (
    LibraryPush,
    pull_remote_changes,
)
from lrwr.core.adapters.storage.supabase.replica import SupabaseReplica
from lrwr.core.adapters.storage.supabase.thread_api import SupabaseThreadApi
from lrwr.core.model.errors import NotFound, ServiceUnavailable
from lrwr.core.model.turns import NarrativeState, ThreadId
from tests.fakes.conversations import OTHER, THREAD, a_turn
from tests.fakes.followed import asked, check_same, keep, titles
from tests.fakes.hosted import Machine
from tests.fakes.records import Clock
from tests.fakes.supabase_gate import SupabaseGate

pytestmark = pytest.mark.supabase


async def test_what_is_asked_on_two_machines_without_the_project_is_put_together(
    desk: Machine, train: Machine, there: SupabaseThreadApi
) -> None:
    await keep(desk.threads, a_turn("Who?", asked_at=1.0))
    assert await asked(train.threads) == ["Who?"]
    desk.away.set()
    train.away.set()
    late = NarrativeState(character="Nell Tallow")
    await keep(train.threads, a_turn("Why?", asked_at=5.0, state=late))
    await keep(train.threads, a_turn("Where?"), thread=OTHER, title="Places")
    await keep(desk.threads, *(a_turn(f"{n}?", asked_at=n) for n in (2.0, 3.0)))
    assert await asked(desk.threads) == ["Who?", "2.0?", "3.0?"]
    assert await asked(train.threads) == ["Who?", "Why?"]
    assert [len(one.said) for one in (desk, train)] == [1, 1]
    train.away.clear()
    assert await titles(train.threads) == ["Places", "Tides"]
    desk.away.clear()
    assert await asked(desk.threads) == ["Who?", "Why?", "2.0?", "3.0?"]
    await check_same(there, desk, train)
    (found,) = [one for one in await desk.threads.threads() if one.id == THREAD]
    assert (found.state, found.updated_at, found.turns) == (late, 5.0, 4)


async def test_what_nobody_has_changed_is_not_asked_for(
    desk: Machine, train: Machine, gate: SupabaseGate
) -> None:
    await keep(train.threads, a_turn())
    await titles(desk.threads)
    gate.asked.clear()
    await keep(desk.threads, a_turn())
    await asked(desk.threads)
    await titles(desk.threads)
    functions = [one.rpartition("/")[2] for one in gate.asked]
    assert functions == ["lrwr_keep_turn", "lrwr_changes", "lrwr_changes"]


async def test_a_turn_that_does_not_arrive_is_kept_here_and_the_writer_is_told_once(
    desk: Machine, gate: SupabaseGate, there: SupabaseThreadApi
) -> None:
    gate.refusals.append(503)
    await keep(desk.threads, a_turn("Who?"))
    desk.away.set()
    await keep(desk.threads, a_turn("Why?"))
    (said,) = desk.said
    assert said.startswith("This thread is stored on this machine only")
    assert "(503)" in said
    assert await there.digests() == {}
    desk.away.clear()
    await keep(desk.threads, a_turn("When?"))
    assert await asked(desk.threads) == ["Who?", "Why?", "When?"]
    await check_same(there, desk)
    desk.away.set()
    await keep(desk.threads, a_turn("Where?"))
    assert len(desk.said) == 2


async def test_another_title_given_elsewhere_stays_when_turns_are_sent_later(
    desk: Machine, train: Machine, there: SupabaseThreadApi
) -> None:
    await keep(desk.threads, a_turn("Who?", asked_at=1.0))
    await titles(train.threads)
    train.away.set()
    await keep(train.threads, a_turn("Why?", asked_at=9.0))
    await desk.threads.rename(THREAD, "Fog")
    assert await titles(desk.threads) == ["Fog"]
    train.away.clear()
    assert await titles(train.threads) == ["Fog"]
    assert await asked(train.threads) == ["Who?", "Why?"]
    await check_same(there, desk, train)


@pytest.mark.parametrize(("at", "left"), [(9.0, []), (2.0, ["Who?", "Why?"])])
async def test_a_deletion_elsewhere_stays_if_it_is_later_than_what_was_asked(
    desk: Machine, train: Machine, there: SupabaseThreadApi, at: float, left: list[str]
) -> None:
    await keep(desk.threads, a_turn("Who?", asked_at=1.0))
    await titles(train.threads)
    train.away.set()
    await keep(train.threads, a_turn("Why?", asked_at=5.0))
    await desk.threads.delete(THREAD, at)
    assert await titles(desk.threads) == []
    train.away.clear()
    assert await asked(train.threads) == left
    await check_same(there, desk, train)
    await train.threads.restore()
    assert await asked(desk.threads) == ["Who?", "Why?"]


async def test_what_is_forgotten_elsewhere_goes_here_but_for_what_is_not_sent_yet(
    desk: Machine, train: Machine, there: SupabaseThreadApi
) -> None:
    await keep(desk.threads, a_turn("Who?", asked_at=1.0))
    await keep(desk.threads, a_turn("Where?", asked_at=1.0), thread=OTHER)
    assert len(await titles(train.threads)) == 2
    train.away.set()
    await keep(train.threads, a_turn("Why?", asked_at=5.0))
    for thread in (THREAD, OTHER):
        await desk.threads.delete(thread, 9.0)
    assert await desk.threads.purge(10.0) == 2
    train.away.clear()
    assert await asked(train.threads) == ["Why?"]
    assert await asked(train.threads, OTHER) == []
    await check_same(there, desk, train)
    assert list(await there.digests()) == [THREAD]


async def test_what_another_machine_renamed_deleted_and_brought_back_is_seen_here(
    desk: Machine, train: Machine, there: SupabaseThreadApi
) -> None:
    await keep(desk.threads, a_turn())
    await desk.threads.rename(THREAD, "Fog")
    assert await titles(train.threads) == ["Fog"]
    await train.threads.delete(THREAD, 2_000.0)
    assert await titles(desk.threads) == []
    with pytest.raises(NotFound):
        await desk.threads.rename(THREAD, "Tides")
    back = await desk.threads.restore()
    assert back is not None
    assert await train.threads.threads() == [back]
    await check_same(there, desk, train)


@pytest.mark.parametrize("what", ["rename", "delete", "restore", "purge"])
async def test_what_needs_the_project_is_not_done_without_it(
    desk: Machine, gate: SupabaseGate, there: SupabaseThreadApi, what: str
) -> None:
    for thread in (THREAD, OTHER):
        await keep(desk.threads, a_turn(), thread=thread)
    await desk.threads.delete(OTHER, 2.0)
    store = desk.threads
    calls: dict[str, Callable[[], Awaitable[object]]] = {
        "rename": lambda: store.rename(THREAD, "Fog"),
        "delete": lambda: store.delete(THREAD, 3.0),
        "restore": store.restore,
        "purge": lambda: store.purge(9.0),
    }
    gate.refusals.append(503)
    with pytest.raises(ServiceUnavailable):
        await calls[what]()
    assert await titles(store) == ["Tides"]
    await check_same(there, desk)
    await calls[what]()
    await check_same(there, desk)


async def test_a_conversation_that_was_begun_without_the_project_can_be_renamed_after(
    desk: Machine, there: SupabaseThreadApi
) -> None:
    desk.away.set()
    await keep(desk.threads, a_turn())
    await desk.threads.rename(THREAD, "Fog")
    assert await titles(desk.threads) == ["Fog"]
    desk.away.clear()
    await check_same(there, desk)


async def test_the_state_after_a_newer_turn_stays_though_another_is_sent_after_it(
    desk: Machine, there: SupabaseThreadApi
) -> None:
    late = NarrativeState(character="Nell Tallow")
    await keep(desk.threads, a_turn(asked_at=9.0, state=late))
    desk.away.set()
    await keep(desk.threads, a_turn(asked_at=5.0))
    desk.away.clear()
    await check_same(there, desk)
    assert (await desk.threads.thread(THREAD)).state == late


async def test_what_was_said_while_the_library_was_kept_here_goes_there_afterwards(
    desk: Machine, train: Machine, there: SupabaseThreadApi
) -> None:
    for thread in (THREAD, OTHER):
        await keep(desk.threads, a_turn("Who?", asked_at=1.0), thread=thread)
    here = SqliteThreadStore(desk.plain)
    third = ThreadId("7f3c0000000040008000000000000003")
    await keep(here, a_turn("Why?", asked_at=2.0))
    await keep(here, a_turn("Where?", asked_at=2.0), thread=third, title="Places")
    await here.rename(THREAD, "Fog")
    await here.delete(OTHER, 3.0)
    assert sorted(await titles(desk.threads)) == ["Fog", "Places"]
    assert sorted(await titles(train.threads)) == ["Fog", "Places"]
    assert await asked(train.threads) == ["Who?", "Why?"]
    await check_same(there, desk, train)


async def bound(one: Machine) -> LibraryLink:
    found = await one.plain.read(read_library_link)
    assert found is not None
    return found


def untold(what: str, done: int, of: int) -> None:
    del what, done, of


async def test_a_push_sends_what_is_unsent_and_undoes_nothing_that_others_did(
    desk: Machine, train: Machine, there: SupabaseThreadApi
) -> None:
    await keep(desk.threads, a_turn("Who?"))
    await titles(train.threads)
    train.away.set()
    await keep(train.threads, a_turn("Why?"))
    await keep(train.threads, a_turn("Where?"), thread=OTHER, title="Places")
    await desk.threads.rename(THREAD, "Fog")
    for sent in (2, 0):
        push = LibraryPush(train.plain, train.records, await bound(train), untold)
        assert (await push.run()).conversations == sent
    assert sorted(await titles(desk.threads)) == ["Fog", "Places"]
    assert await asked(desk.threads) == ["Who?", "Why?"]
    await check_same(there, desk)


async def test_a_pull_brings_what_changed_and_keeps_what_is_here_alone(
    desk: Machine, train: Machine, there: SupabaseThreadApi
) -> None:
    await keep(desk.threads, a_turn("Who?"))
    copy = SupabaseReplica(train.plain, train.records, Clock())
    here = SqliteThreadStore(train.plain)
    for brought in (1, 0):
        pulled = await pull_remote_changes(train.plain, copy, train.records, untold)
        assert pulled.conversations == brought
    await keep(here, a_turn("Why?"))
    await here.rename(THREAD, "Marsh")
    await keep(here, a_turn("Where?"), thread=OTHER, title="Places")
    await keep(desk.threads, a_turn("When?"))
    await pull_remote_changes(train.plain, copy, train.records, untold)
    assert await asked(here) == ["Who?", "Why?", "When?"]
    assert sorted(await titles(here)) == ["Marsh", "Places"]
    push = LibraryPush(train.plain, train.records, await bound(train), untold)
    assert (await push.run()).conversations == 2
    assert sorted(await titles(desk.threads)) == ["Marsh", "Places"]
    await pull_remote_changes(train.plain, copy, train.records, untold)
    assert await asked(here) == await asked(desk.threads) == ["Who?", "When?", "Why?"]
    await check_same(there, desk, train)
