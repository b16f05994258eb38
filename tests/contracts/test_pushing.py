from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from uuid import uuid4

import pytest

from lrwr.core.adapters.auth.project import SupabaseConnection
from lrwr.core.adapters.storage.sqlite.document_rows import load_document_rows
from lrwr.core.adapters.storage.supabase.knowledge_store import put_record_with_vectors
from lrwr.core.adapters.storage.supabase.library_link import read_library_link
from lrwr.core.adapters.storage.supabase.library_transfer import LibraryPush, PushResult
from lrwr.core.adapters.storage.supabase.records import (
    create_remote_library,
    list_supabase_migrations,
)
from lrwr.core.adapters.storage.supabase.rpc import RpcJson, SupabaseRpc
from lrwr.core.model.cast import Cast
from lrwr.core.model.choices import Pipeline
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.errors import StoreProblem
from lrwr.core.ports.story_stores import AttributionResult
from tests.fakes.hosted import Machine, Writer, machine
from tests.fakes.libraries import over
from tests.fakes.records import ONE, TWO, Clock, some_chunks, some_knowledge
from tests.fakes.supabase_server import SupabaseServer

pytestmark = pytest.mark.supabase

NEW = DocumentId("notes/new.md")

DURING = ["manifest", "state", "put_record"]
"""What a push has just asked for when others come in between."""


class Crowded(SupabaseRpc):
    """A project where somebody may come in right after a request was answered."""

    after = ""
    meanwhile: Callable[[], Awaitable[object]] | None = None

    async def call(self, function: str, **arguments: RpcJson) -> RpcJson:
        told = await super().call(function, **arguments)
        work = self.meanwhile
        if function == self.after and work is not None:
            self.meanwhile = None
            await work()
        return told

    def once(self, after: str, meanwhile: Callable[[], Awaitable[object]]) -> None:
        self.after, self.meanwhile = after, meanwhile


@pytest.fixture
async def project(supabase: SupabaseServer, writer: Writer) -> AsyncIterator[Crowded]:
    async def token() -> str:
        return writer.token

    crowded = Crowded(SupabaseConnection(supabase.url, supabase.key, own=True), token)
    yield crowded
    await crowded.aclose()


@pytest.fixture
async def kept(project: Crowded) -> str:
    made = await create_remote_library(project, uuid4().hex)
    assert made is not None
    return made


@pytest.fixture
async def other(project: Crowded, kept: str, tmp_path: Path) -> AsyncIterator[Machine]:
    async with machine(tmp_path / "other.db", project, kept, Clock()) as opened:
        yield opened


@pytest.fixture
async def desk(
    project: Crowded, kept: str, tmp_path: Path, other: Machine
) -> AsyncIterator[Machine]:
    """A machine with two documents, which the project has, and so has the other."""
    async with machine(tmp_path / "desk.db", project, kept, Clock()) as opened:
        for document in (ONE, TWO):
            await read(opened, document, "The sluice was shut.", "r1")
        await push(opened)
        await other.copy.catch_up()
        yield opened


async def read(
    place: Machine,
    document: DocumentId,
    text: str,
    revision: str = "r2",
    pipeline: Pipeline = Pipeline.NAIVE,
) -> None:
    """Read a document where its machine alone knows of it."""
    chunks = some_chunks([text], document=document, pipeline=pipeline)
    knowledge = some_knowledge(chunks, pipeline=pipeline)
    await over(place.plain, Clock()).keep(knowledge, revision)


async def push(place: Machine, *, over: bool = False) -> PushResult:
    bound = await place.plain.read(read_library_link)
    assert bound is not None
    pushing = LibraryPush(place.plain, place.records, bound, lambda *_: None)
    return await pushing.run(over=over)


async def changed(place: Machine, document: DocumentId, text: str) -> None:
    """Have a machine bring what is new, read a document, and push that."""
    await place.copy.catch_up()
    await read(place, document, text, "r3")
    await push(place)


async def texts(place: Machine) -> dict[str, str]:
    """Every document that a machine has, once it has all that is there."""
    await place.copy.catch_up()
    return await place.plain.read(
        lambda connection: dict(connection.execute("select id, text from document"))
    )


async def refused(place: Machine) -> None:
    with pytest.raises(StoreProblem, match="Another machine has changed") as caught:
        await push(place)
    assert "lrwr push --over" in caught.value.hint


@pytest.mark.parametrize("after", DURING)
async def test_what_others_change_during_a_push_is_not_overwritten(
    project: Crowded, desk: Machine, other: Machine, after: str
) -> None:
    await read(desk, ONE, "A bell lay there.")
    await read(desk, TWO, "A bell lay there.")
    project.once(after, partial(changed, other, TWO, "A whistle lay there."))
    await refused(desk)
    assert (await texts(desk))[TWO] == "A whistle lay there."
    assert (await texts(other))[TWO] == "A whistle lay there."


@pytest.mark.parametrize("after", DURING)
async def test_what_others_add_during_a_push_is_not_taken_away(
    project: Crowded, desk: Machine, other: Machine, after: str
) -> None:
    await read(desk, ONE, "A bell lay there.")
    project.once(after, partial(changed, other, NEW, "Who shut it?"))
    with suppress(StoreProblem):
        await push(desk)
    assert NEW in await texts(other)
    assert (await texts(desk))[NEW] == "Who shut it?"


@pytest.mark.parametrize("after", DURING)
async def test_what_others_change_is_not_taken_away_either(
    project: Crowded, desk: Machine, other: Machine, after: str
) -> None:
    await read(desk, ONE, "A bell lay there.")
    await over(desk.plain, Clock()).remove(TWO)
    project.once(after, partial(changed, other, TWO, "A whistle lay there."))
    await refused(desk)
    assert (await texts(desk))[TWO] == "A whistle lay there."
    await over(desk.plain, Clock()).remove(TWO)
    assert (await push(desk)).removed == 1
    assert TWO not in await texts(other)


async def test_what_others_change_before_it_is_sent_is_replaced_if_that_is_asked_for(
    project: Crowded, desk: Machine, other: Machine
) -> None:
    await read(desk, ONE, "A bell lay there.")
    await read(desk, TWO, "A bell lay there.")
    project.once("put_record", partial(changed, other, TWO, "A whistle lay there."))
    await push(desk, over=True)
    assert (await texts(desk))[TWO] == "A bell lay there."
    assert await texts(desk) == await texts(other)


@pytest.mark.parametrize("over", [False, True])
async def test_what_others_change_after_it_was_sent_comes_here(
    project: Crowded, desk: Machine, other: Machine, *, over: bool
) -> None:
    await read(desk, ONE, "A bell lay there.")
    project.once("put_record", partial(changed, other, ONE, "A whistle lay there."))
    await push(desk, over=over)
    assert (await texts(other))[ONE] == "A whistle lay there."
    assert await texts(desk) == await texts(other)


async def test_what_is_replaced_on_purpose_is_not_brought_again(
    desk: Machine, other: Machine
) -> None:
    await changed(other, ONE, "A whistle lay there.")
    await read(desk, ONE, "A bell lay there.")
    await push(desk, over=True)
    assert await desk.copy.catch_up() == 0
    assert await texts(desk) == await texts(other)


async def test_what_another_process_of_this_machine_sends_meanwhile_comes_here(
    project: Crowded, desk: Machine, other: Machine
) -> None:
    await read(other, NEW, "Who shut it?")
    draft = await other.plain.read(
        partial(load_document_rows, document=NEW, pipeline=Pipeline.NAIVE)
    )
    assert draft is not None
    await read(desk, ONE, "A bell lay there.")
    project.once(
        "put_record", partial(put_record_with_vectors, other.plain, desk.records, draft)
    )
    await push(desk)
    assert (await texts(desk))[NEW] == "Who shut it?"


async def test_what_others_change_in_the_same_way_is_in_nobodys_way(
    project: Crowded, desk: Machine, other: Machine
) -> None:
    for document in (ONE, TWO):
        await read(desk, document, "A bell lay there.", "r3")
    project.once("put_record", partial(changed, other, TWO, "A bell lay there."))
    assert (await push(desk)).documents == 2
    assert await texts(desk) == await texts(other)


async def test_a_cast_that_others_made_during_a_push_is_not_overwritten(
    project: Crowded, desk: Machine, other: Machine
) -> None:
    async def cast(place: Machine, **members: tuple[str, ...]) -> None:
        await over(place.plain, Clock()).casts.save_cast(Cast((), members))

    async def theirs() -> None:
        await other.copy.catch_up()
        await cast(other, Nell=("Wren", "Corin"))
        await push(other)

    await cast(desk, Nell=("Wren", "Hob"))
    await read(desk, ONE, "A bell lay there.")
    project.once("put_record", theirs)
    await refused(desk)


async def test_what_was_woven_of_a_text_that_is_not_there_is_not_counted_as_sent(
    project: Crowded, desk: Machine
) -> None:
    async def weave(revision: str) -> None:
        await read(desk, NEW, revision, revision, Pipeline.AGENTIC)
        woven = AttributionResult(NEW, f"content-{revision}", "woven-1", (), (), {}, {})
        assert await over(desk.plain, Clock()).casts.save_attribution(woven)

    await weave("r2")
    project.once("put_record", partial(weave, "r3"))
    done = await push(desk)
    assert (done.documents, done.attributions, done.apart) == (1, 0, True)
    done = await push(desk)
    assert (done.documents, done.attributions, done.apart) == (1, 1, False)
    await weave("r4")
    done = await push(desk)
    assert (done.documents, done.attributions, done.apart) == (1, 1, False)


def test_an_older_project_that_runs_the_script_again_has_the_function_once(
    supabase: SupabaseServer,
) -> None:
    (script,) = [one.sql for one in list_supabase_migrations() if one.number == 5]
    told = ", ".join(["uuid", *["text"] * 7, "text[]", "bigint", "text", "int", "text"])
    older = (
        f"create function public.lrwr_put_record({told}) returns jsonb"
        " language sql as 'select null::jsonb';"
    )
    count = "select count(*) from pg_proc where proname = 'lrwr_put_record'"
    asked = f"{older}{count};{script}{script}{count};rollback;"
    assert supabase.postgres.run(asked).split() == ["2", "1"]
