import asyncio
import json
from dataclasses import replace
from uuid import uuid4

import pytest

from lrwr.core.adapters.storage.supabase.job_queue import SupabaseJobQueue
from lrwr.core.adapters.storage.supabase.records import (
    PutResult,
    RecordEntry,
    RecordPage,
    RemoteLibraryState,
    SupabaseRecord,
    SupabaseRecords,
)
from lrwr.core.adapters.storage.supabase.rpc import SupabaseRpc
from lrwr.core.model.choices import Pipeline
from lrwr.core.model.errors import NotFound, StoreProblem
from lrwr.core.model.jobs import JobClaim, JobKind, JobOrder, JobState
from tests.fakes.hosted import ServerClock, Writer, asking, open_library
from tests.fakes.hosted_records import (
    HASH,
    NOWHERE,
    ODD,
    SPACE,
    VECTOR,
    a_record,
    begun,
    gone,
    somebody_waits,
)
from tests.fakes.records import ONE
from tests.fakes.supabase_server import SupabaseServer

pytestmark = pytest.mark.supabase

DAY = 86_400.0
WRITERS, RECORDS = 4, 8


@pytest.fixture
async def library(hosted: SupabaseRpc) -> str:
    return await open_library(hosted, uuid4().hex)


@pytest.fixture
def elsewhere(hosted: SupabaseRpc, library: str) -> SupabaseRecords:
    return SupabaseRecords(hosted, library, "elsewhere")


@pytest.fixture
def queue(hosted: SupabaseRpc, library: str) -> SupabaseJobQueue:
    return SupabaseJobQueue(hosted, library)


async def claimed(queue: SupabaseJobQueue) -> JobClaim:
    await queue.enqueue([JobOrder(JobKind.PROCESS, ONE, Pipeline.NAIVE)])
    claim = await queue.claim("w", lease=60.0)
    assert claim is not None
    return claim


async def state_of_last(queue: SupabaseJobQueue) -> JobState:
    (job,) = await queue.jobs(limit=1)
    return job.state


async def test_a_record_comes_back_as_it_was_written(records: SupabaseRecords) -> None:
    await records.put_vectors(SPACE, {HASH: VECTOR})
    written = a_record("b/notes/x.md", texts=(HASH,))
    assert await records.put(written) == PutResult(done=True, lost=False, version=1)
    assert await records.changes(0) == RecordPage((written,), 1, 1)
    assert await records.changes(1) == RecordPage((), 1, 1)


@pytest.mark.parametrize("odd", ODD)
async def test_odd_characters_survive_byte_for_byte(
    records: SupabaseRecords, odd: str
) -> None:
    unicode = odd.encode("utf-8", "replace").decode()
    written = replace(a_record(f"b/{unicode}.md", {"told": odd}), content=unicode)
    await records.put(written)
    (read,) = (await records.changes(0)).records
    assert read == written
    assert json.loads(read.body or "") == {"told": odd}
    (entry,) = (await records.manifest()).entries
    assert entry == RecordEntry("document", written.key, unicode, written.digest)


async def test_each_change_counts_the_version_up_by_one(
    records: SupabaseRecords,
) -> None:
    for n, record in enumerate(
        (a_record("a/x.md"), a_record("b/x.md"), a_record("a/x.md", "Else.")), start=1
    ):
        assert (await records.put(record)).version == n
    page = await records.changes(0)
    assert [record.key for record in page.records] == ["b/x.md", "a/x.md"]
    assert (page.upto, page.version) == (3, 3)
    manifest = await records.manifest()
    assert manifest.version == 3
    assert [entry.key for entry in manifest.entries] == ["a/x.md", "b/x.md"]


async def test_what_is_there_already_is_not_written_again(
    records: SupabaseRecords, elsewhere: SupabaseRecords, queue: SupabaseJobQueue
) -> None:
    await records.put(a_record("b/x.md"))
    claim = await claimed(queue)
    assert await elsewhere.put(a_record("b/x.md"), claim=claim) == PutResult(
        done=True, lost=False, version=1, before=1
    )
    assert await state_of_last(queue) is JobState.COMPLETE
    assert await records.state(0) == RemoteLibraryState(1, others=False)
    other = replace(a_record("b/x.md"), content="c2")
    assert (await records.put(other)).version == 2


async def test_only_what_others_changed_is_news(
    records: SupabaseRecords, elsewhere: SupabaseRecords
) -> None:
    await records.put(a_record("b/x.md"))
    assert await records.state(0) == RemoteLibraryState(1, others=False)
    assert await elsewhere.state(0) == RemoteLibraryState(1, others=True)
    assert await elsewhere.state(1) == RemoteLibraryState(1, others=False)
    await elsewhere.put(gone("b/x.md"))
    assert await records.state(1) == RemoteLibraryState(2, others=True)


async def test_a_document_that_is_taken_away_takes_what_was_woven_of_it_along(
    records: SupabaseRecords,
) -> None:
    for kind in ("document", "woven", "cast"):
        await records.put(a_record("b/x.md", kind=kind))
    await records.put(a_record("b/y.md", kind="woven"))
    assert await records.put(gone("b/x.md")) == PutResult(True, False, 6, before=4)
    taken = (gone("b/x.md"), gone("b/x.md", kind="woven"))
    assert await records.changes(4) == RecordPage(taken, 6, 6)
    kept = [(one.kind, one.key) for one in (await records.manifest()).entries]
    assert kept == [("cast", "b/x.md"), ("woven", "b/y.md")]
    assert await records.put(gone("b/x.md")) == PutResult(True, False, 6, before=6)
    assert (await records.put(a_record("b/x.md"))).version == 7


async def test_what_was_woven_of_a_document_goes_when_that_changes(
    records: SupabaseRecords,
) -> None:
    await records.put(a_record("b/x.md"))
    await records.put(a_record("b/x.md", kind="woven"), if_content="c1")
    assert (await records.put(a_record("b/x.md"))).version == 2
    changed = a_record("b/x.md", "Else.", content="c2")
    assert await records.put(changed) == PutResult(True, False, 4, before=2)
    taken = gone("b/x.md", kind="woven")
    assert (await records.changes(0)).records == (changed, taken)


async def test_a_claim_that_is_held_is_completed_with_the_record(
    records: SupabaseRecords, queue: SupabaseJobQueue
) -> None:
    claim = await claimed(queue)
    assert (await records.put(a_record("b/x.md"), claim=claim)).done
    assert await state_of_last(queue) is JobState.COMPLETE


async def test_a_claim_that_was_lost_writes_nothing(
    records: SupabaseRecords, queue: SupabaseJobQueue, hosted: SupabaseRpc
) -> None:
    await records.put(a_record("b/x.md"))
    claim = await claimed(queue)
    elsewhere = await open_library(hosted, uuid4().hex)
    its_own = await claimed(SupabaseJobQueue(hosted, elsewhere))
    lost = [replace(claim, worker="v"), replace(claim, attempt=2), its_own]
    for one in lost:
        for record in (a_record("b/x.md", "Else.", texts=("none",)), gone("b/x.md")):
            refused = PutResult(False, True, 1, before=1)
            assert await records.put(record, claim=one) == refused
    assert (await records.put(a_record("b/y.md"), claim=claim)).done
    assert (await records.put(gone("b/x.md"), claim=claim)).lost
    assert len((await records.manifest()).entries) == 2


async def test_what_builds_on_a_document_is_written_only_while_that_is_the_same(
    records: SupabaseRecords, queue: SupabaseJobQueue
) -> None:
    woven = a_record("b/x.md", kind="woven")
    claim = await claimed(queue)
    refused = PutResult(done=False, lost=False, version=0)
    assert await records.put(woven, claim=claim, if_content="c1") == refused
    await records.put(a_record("b/x.md"))
    refused = replace(refused, version=1, before=1)
    assert await records.put(woven, claim=claim, if_content="c2") == refused
    assert await state_of_last(queue) is JobState.RUNNING
    assert (await records.put(woven, claim=claim, if_content="c1")).done
    await records.put(gone("b/x.md"))
    assert not (await records.put(woven, if_content="c1")).done


async def test_a_record_takes_the_place_only_of_the_one_that_it_is_to_replace(
    records: SupabaseRecords, elsewhere: SupabaseRecords
) -> None:
    mine, theirs = a_record("b/x.md", "Mine."), a_record("b/x.md", "Theirs.")
    late = PutResult(False, False, 0, overtaken=True)
    assert await records.put(mine, if_digest="none") == late
    assert (await records.put(mine, if_digest="")).done
    assert (await elsewhere.put(theirs, if_digest=mine.digest)).done
    late = replace(late, version=2, before=2)
    for record in (a_record("b/x.md", "More."), gone("b/x.md")):
        for digest in ("", mine.digest):
            assert await records.put(record, if_digest=digest) == late
    assert await records.put(theirs, if_digest=mine.digest) == PutResult(
        True, False, 2, (), 2
    )
    assert (await records.put(gone("b/x.md"), if_digest=theirs.digest)).done
    assert (await records.put(gone("b/x.md"), if_digest=theirs.digest)).version == 3
    assert (await records.put(mine, if_digest="")).version == 4


async def test_a_record_without_its_vectors_is_not_written(
    records: SupabaseRecords, queue: SupabaseJobQueue
) -> None:
    claim = await claimed(queue)
    await records.put_vectors("other", {"h1": VECTOR})
    await records.put_vectors(SPACE, {"h2": VECTOR})
    record = a_record("b/x.md", texts=("h3", "h1", "h2", "h3"))
    assert await records.put(record, claim=claim) == PutResult(
        False, False, 0, ("h1", "h3")
    )
    assert await state_of_last(queue) is JobState.RUNNING
    assert (await records.manifest()).entries == ()
    await records.put_vectors(SPACE, {"h1": VECTOR, "h3": VECTOR})
    assert (await records.put(record, claim=claim)).done
    assert (await records.changes(0)).records == (record,)


async def test_vectors_come_back_byte_for_byte(records: SupabaseRecords) -> None:
    long = bytes(range(256)) * 16
    await records.put_vectors(SPACE, {"h1": long, "h2": VECTOR})
    await records.put_vectors(SPACE, {"h2": VECTOR})
    await records.put_vectors(SPACE, {})
    asked = ["h1", "h2", "h3"]
    assert await records.vectors(SPACE, asked) == {"h1": long, "h2": VECTOR}
    assert await records.vectors("other", asked) == {}
    assert await records.missing(SPACE, asked) == ["h3"]
    assert await records.missing("other", asked) == asked
    assert await records.missing(SPACE, []) == []


async def test_a_vector_that_nothing_lists_is_forgotten_after_a_day_in_which_none_asked(
    supabase: SupabaseServer, records: SupabaseRecords
) -> None:
    clock = ServerClock(supabase.postgres)
    hashes = ["asked", "idle", "listed", "replaced"]
    await records.put_vectors(SPACE, dict.fromkeys(hashes, VECTOR))
    await records.put_vectors("other", {"listed": VECTOR})
    await records.put(a_record("b/x.md", texts=("listed",)))
    await records.put(a_record("b/y.md", texts=("replaced",)))
    clock.time += DAY - 1
    assert await records.missing(SPACE, ["asked"]) == []
    await records.put(a_record("b/y.md", "Else."))
    assert len(await records.vectors(SPACE, hashes)) == len(hashes)
    clock.time += 1
    await records.put(gone("b/none.md"))
    assert sorted(await records.vectors(SPACE, hashes)) == ["asked", "listed"]
    assert await records.missing("other", ["listed"]) == ["listed"]
    clock.time += DAY - 1
    await records.put(a_record("b/z.md"))
    assert sorted(await records.vectors(SPACE, hashes)) == ["asked", "listed"]


async def test_a_page_holds_one_record_and_then_as_many_as_fit(
    records: SupabaseRecords,
) -> None:
    written = [a_record(f"b/{n}.md", "x" * 98) for n in range(4)]  # 100 with the quotes
    for record in written:
        await records.put(record)
    assert await records.changes(0, most=1) == RecordPage((written[0],), 1, 4)
    assert await records.changes(1, most=299) == RecordPage(tuple(written[1:3]), 3, 4)
    assert await records.changes(1, most=300) == RecordPage(tuple(written[1:]), 4, 4)
    assert await records.changes(9) == RecordPage((), 4, 4)


async def test_a_record_that_is_not_as_it_was_written_is_not_read(
    supabase: SupabaseServer, records: SupabaseRecords, library: str
) -> None:
    await records.put(a_record("b/notes/x.md"))
    supabase.postgres.run(
        f"update lrwr_record set body = body || ' ' where library = '{library}'"
    )
    with pytest.raises(StoreProblem, match=r"b/notes/x\.md") as caught:
        await records.changes(0)
    assert caught.value.hint


async def read_on(
    records: SupabaseRecords, writing: "asyncio.Future[None]"
) -> RecordPage:
    """Follow a library page by page until the writing is over and all is read."""
    read: list[SupabaseRecord] = []
    cursor, over = 0, False
    while not over:
        over = writing.done()
        page = await records.changes(cursor, most=100)
        read += page.records
        over = over and page.upto == page.version
        cursor = page.upto
    return RecordPage(tuple(read), cursor, page.version)


async def test_four_writers_leave_no_gap_and_whoever_follows_them_misses_nothing(
    supabase: SupabaseServer, writer: Writer, library: str, records: SupabaseRecords
) -> None:
    async def write(name: str) -> None:
        async with asking(supabase, writer) as hosted:
            own = SupabaseRecords(hosted, library, name)
            for n in range(RECORDS):
                assert (await own.put(a_record(f"b/{name}{n}.md"))).done

    writing = asyncio.gather(*(write(f"w{n}") for n in range(WRITERS)))
    done = asyncio.ensure_future(_over(writing))
    read = await read_on(records, done)
    await done
    assert read.upto == read.version == WRITERS * RECORDS
    keys = [record.key for record in read.records]
    assert len(keys) == len(set(keys)) == WRITERS * RECORDS
    versions = supabase.postgres.run(
        f"select version from lrwr_record where library = '{library}' order by version"
    )
    expected = list(range(1, WRITERS * RECORDS + 1))
    assert [int(version) for version in versions.split()] == expected


async def _over(writing: "asyncio.Future[list[None]]") -> None:
    await writing


async def until_over_or_kept_waiting(
    supabase: SupabaseServer, writing: "asyncio.Future[PutResult]"
) -> None:
    while not writing.done():
        if await asyncio.to_thread(somebody_waits, supabase.postgres):
            return


async def test_what_was_begun_first_and_is_over_last_is_not_missed(
    supabase: SupabaseServer, writer: Writer, library: str, records: SupabaseRecords
) -> None:
    first, second = a_record("b/first.md"), a_record("b/second.md")
    cursor = (await records.put(a_record("b/before.md"))).version
    with begun(supabase.postgres, writer, library, first) as end:
        later = asyncio.ensure_future(records.put(second))
        await until_over_or_kept_waiting(supabase, later)
        page = await records.changes(cursor)
        end()
        await later
    rest = await records.changes(page.upto)
    assert (*page.records, *rest.records) == (first, second)


async def test_what_changes_while_it_is_built_on_keeps_that_from_being_written(
    supabase: SupabaseServer, writer: Writer, library: str, records: SupabaseRecords
) -> None:
    await records.put(a_record("b/x.md"))
    changed = a_record("b/x.md", "Else.", content="c2")
    with begun(supabase.postgres, writer, library, changed) as end:
        woven = a_record("b/x.md", kind="woven")
        later = asyncio.ensure_future(records.put(woven, if_content="c1"))
        await until_over_or_kept_waiting(supabase, later)
        end()
        assert await later == PutResult(done=False, lost=False, version=2, before=2)


async def test_a_library_that_is_nobodys_is_not_there(hosted: SupabaseRpc) -> None:
    records = SupabaseRecords(hosted, NOWHERE, "here")
    for asked in (
        records.state(0),
        records.manifest(),
        records.changes(0),
        records.put(a_record("b/x.md")),
        records.put_vectors(SPACE, {HASH: VECTOR}),
    ):
        with pytest.raises(NotFound) as caught:
            await asked
        assert "lrwr login" in caught.value.hint
