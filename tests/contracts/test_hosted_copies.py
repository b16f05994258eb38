import json
from dataclasses import replace
from uuid import uuid4

import pytest

from lrwr.core.adapters.storage.sqlite.thread_store import state_to_json
from lrwr.core.adapters.storage.supabase.records import (
    SupabaseRecords,
    create_remote_library,
    delete_remote_library,
    list_remote_libraries,
)
from lrwr.core.adapters.storage.supabase.rpc import SupabaseRpc
from lrwr.core.adapters.storage.supabase.thread_api import (
    ModelReplyRow,
    SupabaseThreadApi,
    ThreadRecord,
    TurnReceipt,
    TurnRecord,
)
from lrwr.core.model.errors import NotFound
from lrwr.core.model.turns import NarrativeState
from tests.fakes.conversations import THREAD
from tests.fakes.hosted import asking, open_library, sign_up
from tests.fakes.hosted_records import (
    HASH,
    NOWHERE,
    ODD,
    SPACE,
    VECTOR,
    a_record,
    gone,
    speak,
    told_whole,
)
from tests.fakes.supabase_server import SupabaseServer

pytestmark = pytest.mark.supabase

ODD_TEXT = "".join(ODD).encode("utf-8", "replace").decode()


@pytest.fixture
async def library(hosted: SupabaseRpc) -> str:
    return await open_library(hosted, uuid4().hex)


@pytest.fixture
def threads(hosted: SupabaseRpc, library: str) -> SupabaseThreadApi:
    return SupabaseThreadApi(hosted, library)


def whole_turn(id_: str, number: int) -> TurnRecord:
    return TurnRecord(
        id=id_,
        number=number,
        asked_at=1_000.0 + number,
        state="complete",
        price=0.25,
        usage='{"prompt_tokens":3}',
        question=f"Question {ODD_TEXT}?",
        answer=ODD_TEXT,
        output=json.dumps({"gap_flags": [], "citations": [], "remarks": [ODD_TEXT]}),
    )


def whole_thread(*turns: TurnRecord, title: str = "Tides") -> ThreadRecord:
    return ThreadRecord(
        id=THREAD,
        title=title,
        created_at=1_000.0,
        updated_at=1_001.5,
        deleted_at=None,
        state=json.dumps({"character": ODD_TEXT}),
        turns=turns,
    )


def numbers(thread: ThreadRecord | None) -> list[tuple[str, int]]:
    assert thread is not None
    return [(turn.id, turn.number) for turn in thread.turns]


async def test_a_library_of_one_name_is_made_once(hosted: SupabaseRpc) -> None:
    name = uuid4().hex
    made = await create_remote_library(hosted, name)
    assert made is not None
    assert await create_remote_library(hosted, name) is None
    assert [
        one.id for one in await list_remote_libraries(hosted) if one.name == name
    ] == [made]


async def test_libraries_are_listed_with_what_they_hold_and_deleted_with_all_of_it(
    supabase: SupabaseServer,
) -> None:
    async with asking(supabase, sign_up(supabase)) as hosted:
        assert await list_remote_libraries(hosted) == []
        assert await create_remote_library(hosted, "Tides") is not None
        library = await open_library(hosted, "The marsh")
        records = SupabaseRecords(hosted, library, "here")
        await records.put_vectors(SPACE, {HASH: VECTOR})
        for key in ("a/x.md", "b/x.md", "b/y.md"):
            await records.put(a_record(key, texts=(HASH,)))
        await records.put(gone("b/y.md"))
        await records.put(a_record("b/x.md", kind="woven"))
        await speak(records.threads)
        marsh, tides = await list_remote_libraries(hosted)
        assert (marsh.id, marsh.name) == (library, "The marsh")
        assert (marsh.version, marsh.documents, marsh.threads) == (5, 1, 1)
        assert (tides.version, tides.documents, tides.threads) == (0, 0, 0)
        assert marsh.created_at >= tides.created_at > 1.7e9
        assert await delete_remote_library(hosted, library)
        assert not await delete_remote_library(hosted, library)
        assert await list_remote_libraries(hosted) == [tides]
    for table in ("lrwr_record", "lrwr_vector", "lrwr_thread"):
        left = f"select count(*) from {table} where library = '{library}'"
        assert supabase.postgres.run(left) == "0"


async def test_replies_come_back_as_they_were_kept_and_in_order(
    records: SupabaseRecords,
) -> None:
    texts = [odd.encode("utf-8", "replace").decode() for odd in ODD]
    kept = [ModelReplyRow(f"k{n}", 1.5, n, 2 * n, text) for n, text in enumerate(texts)]
    await records.put_replies(kept[::-1])
    await records.put_replies([])
    assert await records.replies(["k3", "k1", "none"]) == [kept[1], kept[3]]
    assert await records.replies([]) == []
    read: list[ModelReplyRow] = []
    while some := await records.replies_after(read[-1].key if read else "", 3):
        read += some
    assert read == kept


async def test_keys_of_replies_are_in_the_order_of_their_code_points(
    records: SupabaseRecords,
) -> None:
    keys = ["a", "B", "é", "_", "10", "9", "🐸", "b"]
    await records.put_replies([ModelReplyRow(key, 1.0, 0, 0, "{}") for key in keys])
    found = [reply.key for reply in await records.replies_after("", 99)]
    assert found == sorted(keys)
    assert await records.replies_after(max(keys), 99) == []


async def test_of_two_replies_the_one_that_was_made_later_stays(
    records: SupabaseRecords,
) -> None:
    old, new = (
        ModelReplyRow("k", 1.0, 1, 1, '"old"'),
        ModelReplyRow("k", 2.0, 2, 2, '"new"'),
    )
    await records.put_replies([old])
    for some in ([old, new, old], [old]):
        await records.put_replies(some)
        assert await records.replies(["k"]) == [new]


async def test_a_conversation_comes_back_whole(threads: SupabaseThreadApi) -> None:
    written = whole_thread(whole_turn("t1", 1), whole_turn("t3", 3), title=ODD_TEXT)
    await threads.put(written)
    await threads.put(written)
    assert told_whole(await threads.load(THREAD)) == told_whole(written)
    assert await threads.load("none") is None


async def test_what_was_asked_there_is_told_whole_and_can_be_put_elsewhere(
    hosted: SupabaseRpc, threads: SupabaseThreadApi
) -> None:
    for _ in range(2):
        await speak(threads)
    whole = await threads.load(THREAD)
    assert whole is not None
    copied = SupabaseThreadApi(hosted, await open_library(hosted, uuid4().hex))
    await copied.put(whole)
    assert await copied.load(THREAD) == whole
    assert await copied.digests() == await threads.digests()


async def test_turns_of_both_are_kept_and_a_number_that_is_taken_is_the_next_free_one(
    threads: SupabaseThreadApi,
) -> None:
    there = [whole_turn(name, n) for name, n in (("a", 1), ("b", 2), ("c", 4))]
    await threads.put(whole_thread(*there))
    new = [whole_turn(name, n) for name, n in (("z", 6), ("y", 2), ("x", 4), ("a", 9))]
    await threads.put(whole_thread(*new))
    expected = [("a", 1), ("b", 2), ("y", 3), ("c", 4), ("x", 5), ("z", 6)]
    assert numbers(await threads.load(THREAD)) == expected


@pytest.mark.parametrize(("later", "title"), [(-1, "Tides"), (0, "Fog"), (1, "Fog")])
async def test_of_two_versions_the_one_that_was_changed_later_stays(
    threads: SupabaseThreadApi, later: int, title: str
) -> None:
    first = whole_thread(whole_turn("a", 1))
    await threads.put(first)
    other = replace(
        whole_thread(whole_turn("b", 2), title="Fog"),
        created_at=2.0,
        updated_at=first.updated_at + later,
        deleted_at=3.0,
        state='{"character":null}',
    )
    await threads.put(other)
    stays = first if title == "Tides" else other
    expected = replace(
        stays, created_at=first.created_at, turns=first.turns + other.turns
    )
    assert told_whole(await threads.load(THREAD)) == told_whole(expected)


async def test_conversations_that_were_deleted_come_back_in_the_order_of_their_times(
    threads: SupabaseThreadApi,
) -> None:
    await speak(threads)
    await threads.delete(THREAD, 20.0)
    for name, deleted_at in (("late", 30.0), ("early", 10.0), ("late", 30.0)):
        turn = whole_turn(f"of {name}", 1)
        other = replace(whole_thread(turn), id=name, deleted_at=deleted_at)
        await threads.put(replace(other, state=state_to_json(NarrativeState())))
    back = [await threads.load(one) for one in await threads.digests()]
    assert [one.deleted_at for one in back if one] == [20.0, 10.0, 30.0]
    order = []
    while (one := await threads.restore()) is not None:
        order.append(one)
    assert order == ["late", THREAD, "early"]


async def test_a_mark_changes_with_whatever_changes_in_a_conversation(
    threads: SupabaseThreadApi,
) -> None:
    async def digest() -> str:
        (mark,) = (await threads.digests()).values()
        whole = await threads.load(THREAD)
        assert whole is not None
        assert whole.digest == mark
        return mark

    assert await threads.digests() == {}
    first = await speak(threads)
    seen = [await digest()]
    assert first == TurnReceipt(1, seen[0])
    await threads.rename(THREAD, "Fog")
    seen.append(await digest())
    second = await speak(threads)
    seen.append(await digest())
    assert second == TurnReceipt(3, seen[2])
    await threads.delete(THREAD, 9.0)
    seen.append(await digest())
    assert len(set(seen)) == len(seen)
    await threads.restore()
    assert await digest() == seen[2]


async def test_a_conversation_is_not_put_into_a_library_that_is_nobodys(
    hosted: SupabaseRpc,
) -> None:
    with pytest.raises(NotFound):
        await SupabaseThreadApi(hosted, NOWHERE).put(whole_thread())
