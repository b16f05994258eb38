import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable

import pytest

from lrwr.core.adapters.storage.sqlite.document_rows import DocumentRows
from lrwr.core.adapters.storage.sqlite.thread_store import SqliteThreadStore
from lrwr.core.adapters.storage.supabase.codecs import encode_record
from lrwr.core.adapters.storage.supabase.job_queue import SupabaseJobQueue
from lrwr.core.adapters.storage.supabase.knowledge_store import (
    SupabaseCastStore,
    SupabaseKnowledgeStore,
)
from lrwr.core.adapters.storage.supabase.library_link import (
    LibraryLink,
    read_library_link,
)
from lrwr.core.adapters.storage.supabase.library_transfer import (
    LibraryPush,
    pull_remote_changes,
)
from lrwr.core.adapters.storage.supabase.replica import (
    ReplicaRefresher,
    SupabaseReplica,
)
from lrwr.core.adapters.storage.supabase.thread_api import SupabaseThreadApi
from lrwr.core.model.cast import Cast
from lrwr.core.model.choices import Pipeline
from lrwr.core.model.errors import StoreProblem
from lrwr.core.model.jobs import JobKind, JobOrder
from lrwr.core.ports.stores import DocumentVersion
from tests.fakes.conversations import THREAD, a_turn
from tests.fakes.followed import Desks, asked, check_same, keep, titles
from tests.fakes.hosted import Machine
from tests.fakes.hosted_backup import backup
from tests.fakes.records import ONE, Clock
from tests.fakes.supabase_server import SupabaseServer

pytestmark = pytest.mark.supabase

Restore = Callable[[], None]


@pytest.fixture
async def restore(
    supabase: SupabaseServer, desks: Desks, desk: Machine, train: Machine
) -> AsyncIterator[Restore]:
    """Puts back what was there after two documents and two questions."""
    for name in ("one", "two"):
        await train.records.put(encode_record(a_draft(name)))
        await keep(train.threads, a_turn(f"{name}?"))
    await desk.copy.catch_up()
    with backup(supabase.postgres, desks.library) as put_back:
        yield put_back


def a_draft(name: str, content: str = "c1") -> DocumentRows:
    document = (f"{name}.md", "md", "scene", name, None, 3, 1.0, "[]", "[]", "", "x")
    return DocumentRows(document, Pipeline.NAIVE, content, "r", "", (), None)


def contents(connection: sqlite3.Connection) -> dict[str, str]:
    return dict(connection.execute("select document_id, content from processed"))


async def known(one: Machine) -> dict[str, str]:
    return await one.plain.read(contents)


async def bound(one: Machine) -> LibraryLink:
    found = await one.plain.read(read_library_link)
    assert found is not None
    return found


def untold(what: str, done: int, of: int) -> None:
    del what, done, of


async def test_a_project_that_was_restored_is_noticed_and_nothing_here_goes(
    desk: Machine, train: Machine, restore: Restore
) -> None:
    await train.records.put(encode_record(a_draft("three")))
    await train.records.put(encode_record(a_draft("one", "c2")))
    await desk.copy.catch_up()
    before = await known(desk)
    assert before == {"one.md": "c2", "two.md": "c1", "three.md": "c1"}
    restore()
    await train.records.put(encode_record(a_draft("four")))
    for _ in range(2):
        with pytest.raises(StoreProblem, match="is older than this copy") as caught:
            await desk.copy.catch_up()
        assert "restored from a backup" in str(caught.value)
        assert "lrwr push --over" in caught.value.hint
    copy = SupabaseReplica(desk.plain, desk.records, Clock())
    with pytest.raises(StoreProblem, match="is older than this copy"):
        await pull_remote_changes(desk.plain, copy, desk.records, untold)
    assert await known(desk) == before


async def test_what_was_said_stays_here_though_the_project_has_lost_it(
    desk: Machine, train: Machine, restore: Restore
) -> None:
    await keep(desk.threads, a_turn("three?"))
    await titles(train.threads)
    restore()
    for one in (desk, train):
        with pytest.raises(StoreProblem, match="is older than this copy"):
            await one.copy.catch_up()
        here = SqliteThreadStore(one.plain)
        assert await asked(here) == ["one?", "two?", "three?"]


async def test_what_is_here_is_read_on_and_the_writer_is_told_once(
    desk: Machine, restore: Restore
) -> None:
    await keep(desk.threads, a_turn("three?"))
    restore()
    said, clock = list[str](), Clock()
    fresh = ReplicaRefresher(desk.copy.catch_up, said.append, clock=clock)
    for _ in range(3):
        await fresh()
        clock.time += 1_000
    assert fresh.away
    (told,) = said
    assert "is older than this copy" in told
    assert told.endswith("Run `lrwr push --over` to upload the local library again.")


@pytest.mark.parametrize("what", ["rename", "delete", "restore", "purge"])
async def test_no_conversation_is_changed_in_a_project_that_was_restored(
    desk: Machine, restore: Restore, there: SupabaseThreadApi, what: str
) -> None:
    await keep(desk.threads, a_turn("three?"))
    restore()
    marks = await there.digests()
    calls: dict[str, Callable[[], Awaitable[object]]] = {
        "rename": lambda: desk.threads.rename(THREAD, "Fog"),
        "delete": lambda: desk.threads.delete(THREAD, 3.0),
        "restore": desk.threads.restore,
        "purge": lambda: desk.threads.purge(9.0),
    }
    with pytest.raises(StoreProblem, match="is older than this copy"):
        await desk.copy.catch_up()
    with pytest.raises(StoreProblem, match="is older than this copy"):
        await calls[what]()
    assert await there.digests() == marks
    assert await asked(SqliteThreadStore(desk.plain)) == ["one?", "two?", "three?"]


async def test_a_turn_is_kept_here_alone_while_the_project_has_less(
    desk: Machine, restore: Restore, there: SupabaseThreadApi
) -> None:
    await keep(desk.threads, a_turn("three?"))
    restore()
    marks = await there.digests()
    with pytest.raises(StoreProblem):
        await desk.copy.catch_up()
    await keep(desk.threads, a_turn("four?"))
    assert "is older than this copy" in desk.said[0]
    assert await there.digests() == marks
    here = SqliteThreadStore(desk.plain)
    assert await asked(here) == ["one?", "two?", "three?", "four?"]


async def test_a_conversation_that_is_renamed_before_anybody_looked_loses_no_turn(
    desk: Machine, restore: Restore
) -> None:
    await keep(desk.threads, a_turn("three?"))
    restore()
    await desk.threads.rename(THREAD, "Fog")
    here = SqliteThreadStore(desk.plain)
    assert await asked(here) == ["one?", "two?", "three?"]


async def test_no_record_is_written_to_a_project_that_was_restored(
    desks: Desks, desk: Machine, restore: Restore
) -> None:
    await desk.records.put(encode_record(a_draft("three")))
    await desk.copy.catch_up()
    restore()
    queue = SupabaseJobQueue(desks.hosted, desks.library)
    store = SupabaseKnowledgeStore(
        desk.plain, desk.copy, desk.records, queue, now=Clock()
    )
    casts = SupabaseCastStore(desk.plain, desk.copy, desk.records)
    await queue.enqueue([JobOrder(JobKind.PROCESS, ONE, Pipeline.NAIVE)])
    claim = await queue.claim("w", lease=60.0)
    assert claim is not None
    before = await desk.records.manifest()
    calls: list[Callable[[], Awaitable[object]]] = [
        lambda: store.touch(
            Pipeline.NAIVE, [DocumentVersion(ONE, "r", "c", "x")], claim
        ),
        lambda: store.forget(ONE, claim),
        lambda: casts.save_cast(Cast()),
    ]
    for call in calls:
        with pytest.raises(StoreProblem, match="is older than this copy"):
            await call()
    assert await desk.records.manifest() == before


async def test_a_push_refuses_it_unless_it_is_to_put_all_there_again(
    desk: Machine, train: Machine, restore: Restore, there: SupabaseThreadApi
) -> None:
    await train.records.put(encode_record(a_draft("one", "c2")))
    await train.records.put(encode_record(a_draft("three")))
    await keep(desk.threads, a_turn("three?"))
    await desk.threads.rename(THREAD, "Fog")
    await desk.copy.catch_up()
    restore()
    await train.records.put(encode_record(a_draft("four")))
    push = LibraryPush(desk.plain, desk.records, await bound(desk), untold)
    with pytest.raises(StoreProblem, match="is older than this copy"):
        await push.run()
    push = LibraryPush(desk.plain, desk.records, await bound(desk), untold)
    done = await push.run(over=True)
    assert (done.documents, done.removed, done.conversations) == (2, 1, 1)
    manifest = await desk.records.manifest()
    there_now = {one.key: one.content for one in manifest.entries}
    assert there_now == {"a/one.md": "c2", "a/two.md": "c1", "a/three.md": "c1"}
    await check_same(there, desk)
    assert await asked(desk.threads) == ["one?", "two?", "three?"]
    assert await titles(desk.threads) == ["Fog"]
    await train.records.put(encode_record(a_draft("five")))
    await desk.copy.catch_up()
    assert "five.md" in await known(desk)
