import asyncio
import hashlib
import urllib.request
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lrwr.core.adapters.auth.project import SupabaseConnection
from lrwr.core.adapters.files.folder import FolderFileStore
from lrwr.core.adapters.files.supabase import SupabaseFileStore
from lrwr.core.model.errors import (
    LrwrError,
    NotFound,
    ServiceUnavailable,
    StoreProblem,
)
from lrwr.core.ports.stores import FileStore
from tests.fakes.hosted import Writer, sign_up
from tests.fakes.storage_server import KEY, StorageServer
from tests.fakes.suite import examples
from tests.fakes.supabase_server import SupabaseServer

TEXT = "Nell Tallow went down to the sluice. “Late,” said Corin Vale.\n".encode()
ODD = bytes(range(256)) + b"\r\n\x00\x1a--boundary\xff\xfe"
BIG = bytes(range(251)) * 12_000
"""About three megabytes."""

NO_NAMES = ("", ".", "..", "../../library.db", "a" * 63, "g" * 64, "a" * 65, "é" * 64)

Spoil = Callable[[str, bytes], None]


@dataclass(frozen=True, slots=True)
class Kept:
    """A store, the one of another library beside it, and a way to damage a file."""

    store: FileStore
    beside: FileStore
    spoil: Spoil


def sha(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


@asynccontextmanager
async def opened(
    server: SupabaseServer, token: str, account: str, library: str
) -> AsyncIterator[FileStore]:
    """Open a library of an account's with whatever token there is."""
    project = SupabaseConnection(server.url, server.key, own=True)
    store = SupabaseFileStore(project, giving(token), account, library)
    try:
        yield store
    finally:
        await store.aclose()


def giving(token: str) -> Callable[[], Awaitable[str]]:
    async def give() -> str:
        return token

    return give


@contextmanager
def in_a_folder(folder: Path) -> Iterator[Kept]:
    def spoil(name: str, content: bytes) -> None:
        (folder / "files" / name[:2] / name).write_bytes(content)

    store = FolderFileStore(folder / "files")
    yield Kept(store, FolderFileStore(folder / "filesx"), spoil)


@asynccontextmanager
async def at_a_project(url: str, key: str, who: Writer) -> AsyncIterator[Kept]:
    library = uuid4().hex
    project, token = SupabaseConnection(url, key, own=True), giving(who.token)

    def spoil(name: str, content: bytes) -> None:
        path = f"{url}/storage/v1/object/lrwr/{who.id}/{library}/{name}"
        headers = {"apikey": key, "Authorization": f"Bearer {who.token}"}
        kind = {"x-upsert": "true", "Content-Type": "application/octet-stream"}
        with urllib.request.urlopen(
            urllib.request.Request(path, content, {**headers, **kind})
        ) as came:
            assert came.status == 200

    store = SupabaseFileStore(project, token, who.id, library)
    beside = SupabaseFileStore(project, token, who.id, f"{library}x")
    try:
        yield Kept(store, beside, spoil)
    finally:
        await store.aclose()
        await beside.aclose()


@pytest.fixture(
    params=[
        "folder",
        "loopback",
        pytest.param("supabase", marks=pytest.mark.supabase),
    ]
)
async def kept(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Kept]:
    if request.param == "folder":
        with in_a_folder(tmp_path) as files:
            yield files
    elif request.param == "loopback":
        account = Writer(str(uuid4()), "", "a.b.c")
        with StorageServer(accounts={account.token: account.id}, most=3) as loopback:
            async with at_a_project(loopback.url, KEY, account) as files:
                yield files
    else:
        server = request.getfixturevalue("supabase")
        account = request.getfixturevalue("writer")
        async with at_a_project(server.url, server.key, account) as files:
            yield files


@pytest.mark.parametrize(
    "content", [b"", b"x", b"\n", b"{}", b"null", TEXT, ODD, BIG], ids=len
)
async def test_a_file_comes_back_byte_for_byte_under_its_hash(
    kept: Kept, content: bytes
) -> None:
    name = await kept.store.put(content)
    assert name == sha(content)
    assert await kept.store.get(name) == content
    assert await kept.store.stored_names() == {name}


async def test_a_file_that_is_kept_twice_is_there_once(kept: Kept) -> None:
    assert await kept.store.put(TEXT) == await kept.store.put(TEXT)
    assert await kept.store.stored_names() == {sha(TEXT)}
    assert await kept.store.remove([sha(TEXT)]) == 1
    assert await kept.store.stored_names() == set()


async def test_a_store_in_which_nothing_was_kept_holds_nothing(kept: Kept) -> None:
    assert await kept.store.stored_names() == set()
    assert await kept.store.remove([sha(TEXT)]) == 0
    assert await kept.store.remove([]) == 0
    with pytest.raises(NotFound) as caught:
        await kept.store.get(sha(TEXT))
    assert caught.value.hint


async def test_what_is_no_name_is_no_file_and_no_path(kept: Kept) -> None:
    name = await kept.store.put(TEXT)
    wrong = [*NO_NAMES, name.upper(), f"{name}\n", f"./{name}", f"../{name}"]
    for text in wrong:
        with pytest.raises(NotFound):
            await kept.store.get(text)
    assert await kept.store.remove(wrong) == 0
    assert await kept.store.get(name) == TEXT


@pytest.mark.parametrize("instead", [b"", TEXT[:-1], TEXT + b"x", BIG], ids=len)
async def test_a_damaged_file_is_told_and_keeping_it_again_mends_it(
    kept: Kept, instead: bytes
) -> None:
    name = await kept.store.put(TEXT)
    kept.spoil(name, instead)
    with pytest.raises(StoreProblem, match="damaged") as caught:
        await kept.store.get(name)
    assert "lrwr" in caught.value.hint
    assert "Tallow" not in caught.value.full_text
    assert await kept.store.stored_names() == {name}
    await kept.store.put(TEXT)
    assert await kept.store.get(name) == TEXT


async def test_removing_counts_what_was_there_and_lets_the_rest_be(kept: Kept) -> None:
    one, two, three = [await kept.store.put(bytes([n])) for n in range(3)]
    assert await kept.store.remove([one, two, two, sha(TEXT)]) == 2
    assert await kept.store.remove([one, two]) == 0
    assert await kept.store.stored_names() == {three}
    with pytest.raises(NotFound):
        await kept.store.get(one)
    assert await kept.store.get(three) == b"\x02"


async def test_a_library_has_its_own_files_though_its_name_begins_alike(
    kept: Kept,
) -> None:
    await kept.beside.put(TEXT)
    await kept.beside.put(ODD)
    await kept.store.put(ODD)
    assert await kept.store.stored_names() == {sha(ODD)}
    assert await kept.beside.stored_names() == {sha(ODD), sha(TEXT)}
    with pytest.raises(NotFound):
        await kept.store.get(sha(TEXT))
    assert await kept.store.remove([sha(TEXT), sha(ODD)]) == 1
    assert await kept.beside.get(sha(ODD)) == ODD


async def patiently(store: FileStore, content: bytes) -> str:
    """Keep a file, and try again where that may help, as who pushes a library does.

    `@supabase/lite` grants its rights anew for every connection that it opens to the
    database, and then fails requests that are made at once.
    """
    for _ in range(20):
        with suppress(ServiceUnavailable):
            return await store.put(content)
    raise AssertionError("it fails again and again")


async def test_files_that_are_kept_at_once_are_all_kept(kept: Kept) -> None:
    contents = [str(n % 8).encode() * 1000 for n in range(24)]
    names = await asyncio.gather(*(patiently(kept.store, one) for one in contents))
    assert names == [sha(content) for content in contents]
    assert await kept.store.stored_names() == set(names)
    for name, content in zip(names, contents, strict=True):
        assert await kept.store.get(name) == content


@given(
    steps=st.lists(st.tuples(st.booleans(), st.integers(0, 4)), max_size=12),
    contents=st.lists(st.binary(max_size=40), min_size=5, max_size=5),
)
@settings(
    max_examples=examples(12),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
async def test_whatever_is_kept_and_removed_the_rest_is_there(
    kept: Kept, steps: list[tuple[bool, int]], contents: list[bytes]
) -> None:
    await kept.store.remove(await kept.store.stored_names())
    expected: dict[str, bytes] = {}
    for keeping, which in steps:
        content = contents[which]
        if keeping:
            expected[await kept.store.put(content)] = content
        else:
            was = expected.pop(sha(content), None) is not None
            assert await kept.store.remove([sha(content)]) == was
    assert await kept.store.stored_names() == set(expected)
    for name, content in expected.items():
        assert await kept.store.get(name) == content


@pytest.mark.supabase
async def test_more_files_than_a_page_holds_are_all_listed_and_removed(
    supabase: SupabaseServer,
) -> None:
    account = sign_up(supabase)
    library = uuid4().hex
    path = f"'{account.id}/{library}/' || encode(sha256(n::text::bytea), 'hex')"
    supabase.postgres.run(
        "insert into storage.objects (bucket_id, name)"
        f" select 'lrwr', {path} from generate_series(1, 1203) n"
    )
    names = {sha(str(n).encode()) for n in range(1, 1204)}
    some = sorted(names)[:120]
    async with opened(supabase, account.token, account.id, library) as store:
        assert await store.stored_names() == names
        assert await store.remove(some) == 120
        assert await store.stored_names() == names - set(some)


async def gives_nothing(asked: Awaitable[object]) -> None:
    """Make sure that an answer is a refusal, or empty."""
    try:
        came = await asked
    except LrwrError:
        return
    assert came in (set(), 0)


@pytest.mark.supabase
@pytest.mark.parametrize("who", ["another account", "nobody", "a forger"])
async def test_files_are_their_accounts_alone(
    supabase: SupabaseServer, who: str
) -> None:
    owner, other = sign_up(supabase), sign_up(supabase)
    tokens = {
        "another account": other.token,
        "nobody": supabase.key,
        "a forger": "a.b.c",
    }
    library = uuid4().hex
    async with (
        opened(supabase, owner.token, owner.id, library) as own,
        opened(supabase, tokens[who], owner.id, library) as thief,
    ):
        name = await own.put(TEXT)
        with pytest.raises(LrwrError) as caught:
            await thief.get(name)
        assert "Tallow" not in caught.value.full_text
        await gives_nothing(thief.stored_names())
        await gives_nothing(thief.remove([name]))
        for content in (TEXT, ODD):  # over what is there, and beside it
            with pytest.raises(LrwrError):
                await thief.put(content)
        assert await own.get(name) == TEXT
        assert await own.stored_names() == {name}


@pytest.mark.supabase
async def test_a_forged_session_is_told_to_sign_in(supabase: SupabaseServer) -> None:
    account = sign_up(supabase)
    for token in ("a.b.c", supabase.key):
        async with opened(supabase, token, account.id, "marsh") as store:
            with pytest.raises(LrwrError) as caught:
                await store.put(TEXT)
        assert "lrwr login" in caught.value.hint
        assert token not in caught.value.full_text
