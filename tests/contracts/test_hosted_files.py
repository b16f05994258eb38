import logging
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, replace

import pytest

from lrwr.core.adapters.auth.project import SupabaseConnection
from lrwr.core.adapters.files.folder import hash_file_content
from lrwr.core.adapters.files.supabase import SupabaseFileStore
from lrwr.core.model.errors import (
    LrwrError,
    NotFound,
    ServiceUnavailable,
    StoreProblem,
)
from tests.fakes.hosted_server import CutShort, Hang, Nonsense, Refuse, Say
from tests.fakes.storage_server import KEY, StorageServer, said

ACCOUNT = "7d3f0a52-8c1e-4b6a-9f27-1e5c3b8a4d60"
LIBRARY = "0b9e6f14-2a7d-4c83-8e51-6f4d2c9b7a38"
TOKEN = "eyJ0ZXN0.tide.c2lnbmF0dXJl"
TEXT = b"Mrs. Gannet shut the sluice before the tide."
NAME = hash_file_content(TEXT)
PATH = f"lrwr/{ACCOUNT}/{LIBRARY}/{NAME}"
SECRETS = (TOKEN, KEY, "Gannet", "sluice")

Ask = Callable[[SupabaseFileStore], Awaitable[object]]

ASKED: dict[str, Ask] = {
    "put": lambda store: store.put(TEXT),
    "get": lambda store: store.get(NAME),
    "held": lambda store: store.stored_names(),
    "remove": lambda store: store.remove([NAME]),
}
LISTING = {name: ASKED[name] for name in ("held", "remove")}
"""What is answered with a list."""


@dataclass(frozen=True, slots=True)
class Marsh:
    """A project, and the files of one library in it."""

    server: StorageServer
    project: SupabaseConnection

    async def ask(self, ask: Ask) -> object:
        """Ask once, in the account's name."""
        store = SupabaseFileStore(self.project, token, ACCOUNT, LIBRARY)
        try:
            return await ask(store)
        finally:
            await store.aclose()

    async def fails(self, ask: Ask) -> LrwrError:
        """Return the refusal, which gives nothing away that is secret."""
        with pytest.raises(LrwrError) as caught:
            await self.ask(ask)
        met: BaseException | None = caught.value
        while met is not None:
            assert not [one for one in SECRETS if one in f"{met} {met!r} {met.args}"]
            met = met.__cause__ or met.__context__
        assert caught.value.hint
        assert not [one for one in SECRETS if one in caught.value.full_text]
        return caught.value


async def token() -> str:
    return TOKEN


@pytest.fixture
def marsh() -> Iterator[Marsh]:
    with StorageServer(accounts={TOKEN: ACCOUNT}, files={PATH: TEXT}) as server:
        yield Marsh(server, SupabaseConnection(server.url, KEY, own=True))


async def test_a_file_is_sent_as_it_is_and_in_the_accounts_name(marsh: Marsh) -> None:
    marsh.server.files.clear()
    assert await marsh.ask(ASKED["put"]) == NAME
    (asked,) = marsh.server.asked
    assert (asked.method, asked.path) == ("POST", f"/storage/v1/object/{PATH}")
    assert asked.body == TEXT
    assert asked.headers["authorization"] == f"Bearer {TOKEN}"
    assert asked.headers["apikey"] == KEY
    assert asked.headers["content-type"] == "application/octet-stream"
    assert asked.headers["x-upsert"] == "true"
    assert marsh.server.files == {PATH: TEXT}


async def test_a_file_that_is_not_there_is_not_found(marsh: Marsh) -> None:
    marsh.server.files.clear()
    assert isinstance(await marsh.fails(ASKED["get"]), NotFound)


async def test_names_come_page_by_page_until_there_is_none(marsh: Marsh) -> None:
    marsh.server.most = 3
    folder = f"lrwr/{ACCOUNT}/{LIBRARY}"
    names = {hash_file_content(bytes([n])) for n in range(10)}
    marsh.server.files = {f"{folder}/{name}": b"" for name in names}
    marsh.server.files |= {f"{folder}/.emptyFolderPlaceholder": b""}
    marsh.server.files |= {f"{folder}/old/{NAME}": b"", f"{folder}x/{NAME}": b""}
    assert await marsh.ask(ASKED["held"]) == names
    assert len(marsh.server.asked) == 5


async def test_files_are_removed_some_at_a_time(marsh: Marsh) -> None:
    names = [hash_file_content(str(n).encode()) for n in range(230)]
    folder = f"lrwr/{ACCOUNT}/{LIBRARY}"
    marsh.server.files |= {f"{folder}/{name}": b"" for name in names}
    assert await marsh.ask(lambda store: store.remove([*names, "../x"])) == 230
    assert len(marsh.server.asked) == 3
    assert marsh.server.files == {PATH: TEXT}


@pytest.mark.parametrize("ask", ASKED)
@pytest.mark.parametrize(
    "refusal",
    [
        Refuse(401, '{"message": "Invalid API key"}'),
        Refuse(403, "<html>"),
        said(403, "Unauthorized", "AccessDenied"),
        said(400, "InvalidJWT", "InvalidJWT"),
        said(400, "ExpiredToken", "ExpiredToken"),
        said(401, "Unauthorized", "", http=401),
    ],
    ids=str,
)
async def test_who_is_not_let_in_is_told_to_sign_in(
    marsh: Marsh, ask: str, refusal: Refuse
) -> None:
    marsh.server.will(refusal)
    error = await marsh.fails(ASKED[ask])
    assert type(error) is LrwrError
    assert "lrwr login" in error.hint
    assert len(marsh.server.asked) == 1


@pytest.mark.parametrize("ask", ASKED)
async def test_somebody_who_is_not_signed_in_asks_nothing(
    marsh: Marsh, ask: str
) -> None:
    async def nobody() -> str:
        raise LrwrError("Nobody is signed in to Supabase", hint="lrwr login")

    store = SupabaseFileStore(marsh.project, nobody, ACCOUNT, LIBRARY)
    with pytest.raises(LrwrError, match="Nobody is signed in"):
        await ASKED[ask](store)
    assert marsh.server.asked == []


@pytest.mark.parametrize("ask", ASKED)
async def test_a_project_without_the_bucket_lacks_lrwrs_scripts(
    marsh: Marsh, ask: str
) -> None:
    marsh.server.bucket = "photos"
    error = await marsh.fails(ASKED[ask])
    assert isinstance(error, StoreProblem)
    assert "lrwr doctor --sql" in error.hint


@pytest.mark.parametrize(
    "refusal",
    [None, Refuse(413, "<html>"), said(413, "Payload too large", "", http=413)],
    ids=str,
)
async def test_a_file_that_is_too_large_is_told_with_the_limit(
    marsh: Marsh, refusal: Refuse | None
) -> None:
    marsh.server.largest = 1_000_000
    marsh.server.will(*([refusal] if refusal else []))
    error = await marsh.fails(lambda store: store.put(b"x" * 1_512_000))
    assert isinstance(error, StoreProblem)
    assert "1.5 MB" in str(error)
    assert "50 MB" in error.hint
    assert list(marsh.server.files) == [PATH]


@pytest.mark.parametrize("ask", ASKED)
@pytest.mark.parametrize(
    "refusal",
    [
        Refuse(429, "slow down", headers={"retry-after": "7"}),
        said(429, "too_many_connections", "SlowDown", http=429),
        Refuse(500, "<html>"),
        said(500, "Internal", "InternalError", http=500),
        said(503, "acquiring_lock_timeout", "LockTimeout"),
        said(544, "DatabaseTimeout", "DatabaseTimeout", http=544),
        said(409, "Duplicate", "KeyAlreadyExists"),
        said(423, "ResourceLocked", "ResourceLocked"),
    ],
    ids=str,
)
async def test_a_project_that_cannot_now_is_asked_once_and_may_be_asked_again(
    marsh: Marsh, ask: str, refusal: Refuse
) -> None:
    marsh.server.will(refusal)
    error = await marsh.fails(ASKED[ask])
    assert isinstance(error, ServiceUnavailable)
    assert error.retryable
    assert len(marsh.server.asked) == 1
    assert await marsh.ask(ASKED[ask])


@pytest.mark.parametrize("ask", ASKED)
async def test_a_request_that_makes_no_sense_there_is_told(
    marsh: Marsh, ask: str
) -> None:
    marsh.server.will(said(400, "InvalidKey", "InvalidKey"))
    error = await marsh.fails(ASKED[ask])
    assert "rejected the request" in str(error)


@pytest.mark.parametrize("ask", ASKED)
async def test_a_project_that_does_not_answer_is_not_waited_for(
    marsh: Marsh, ask: str
) -> None:
    marsh.server.will(Hang())
    hasty = Marsh(marsh.server, replace(marsh.project, timeout=0.2))
    error = await hasty.fails(ASKED[ask])
    assert isinstance(error, ServiceUnavailable)
    assert "did not answer within 0.2 seconds" in str(error)


async def test_a_larger_file_is_waited_for_longer(marsh: Marsh) -> None:
    marsh.server.will(Hang())
    hasty = Marsh(marsh.server, replace(marsh.project, timeout=0.2))
    error = await hasty.fails(lambda store: store.put(b"x" * 50_000))
    assert "did not answer within 0.6 seconds" in str(error)


@pytest.mark.parametrize("ask", ASKED)
async def test_an_answer_that_is_cut_short_is_none(marsh: Marsh, ask: str) -> None:
    marsh.server.will(CutShort())
    error = await marsh.fails(ASKED[ask])
    assert isinstance(error, ServiceUnavailable)
    assert "closed the connection" in str(error)
    assert error.retryable


@pytest.mark.parametrize("ask", ["put", *LISTING])
@pytest.mark.parametrize(
    "body", ["", "<html>Sign in to this network</html>", "[" * 99_999, "7", '"x"']
)
async def test_what_is_no_answer_of_storage_is_told(
    marsh: Marsh, ask: str, body: str
) -> None:
    marsh.server.will(Nonsense(body))
    error = await marsh.fails(ASKED[ask])
    assert "not a Supabase project" in str(error)
    assert "supabase.url" in error.hint


@pytest.mark.parametrize("ask", LISTING)
@pytest.mark.parametrize("body", [{}, [7], [{"name": 7}], [{}], [[]]])
async def test_a_list_that_is_none_of_files_is_told(
    marsh: Marsh, ask: str, body: object
) -> None:
    marsh.server.will(Say(body))
    assert "not a Supabase project" in str(await marsh.fails(ASKED[ask]))


async def test_a_file_that_was_put_elsewhere_is_not_kept(marsh: Marsh) -> None:
    marsh.server.will(Say({"Key": f"lrwr/{NAME}"}))
    assert "not a Supabase project" in str(await marsh.fails(ASKED["put"]))


@pytest.mark.parametrize("body", ["", "<html>Sign in</html>", TEXT.decode()[1:]])
async def test_what_is_not_the_file_is_not_taken_for_it(
    marsh: Marsh, body: str
) -> None:
    marsh.server.will(Nonsense(body))
    error = await marsh.fails(ASKED["get"])
    assert isinstance(error, StoreProblem)
    assert "damaged" in str(error)


async def test_a_list_that_never_ends_is_not_read_for_ever(marsh: Marsh) -> None:
    marsh.server.will(*[Say([{"name": NAME}])] * 9)
    assert "not a Supabase project" in str(await marsh.fails(ASKED["held"]))
    assert len(marsh.server.asked) == 2


@pytest.mark.parametrize("ask", ASKED)
async def test_nothing_is_sent_where_a_redirect_leads(marsh: Marsh, ask: str) -> None:
    with StorageServer(accounts={TOKEN: ACCOUNT}) as elsewhere:
        marsh.server.will(Refuse(307, headers={"location": f"{elsewhere.url}/storage"}))
        error = await marsh.fails(ASKED[ask])
        assert "not a Supabase project" in str(error)
        assert elsewhere.asked == []


async def test_an_address_that_is_no_projects_is_told(marsh: Marsh) -> None:
    marsh.server.will(Refuse(404, "<html>"))
    error = await marsh.fails(ASKED["get"])
    assert not isinstance(error, NotFound)
    assert "not a Supabase project" in str(error)


@pytest.mark.parametrize("ask", ASKED)
async def test_a_project_that_is_not_there_cannot_be_reached(
    marsh: Marsh, ask: str
) -> None:
    nowhere = Marsh(marsh.server, replace(marsh.project, url="http://127.0.0.1:9"))
    error = await nowhere.fails(ASKED[ask])
    assert "cannot be reached" in str(error)


async def test_nothing_secret_is_logged(
    marsh: Marsh, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    for ask in ASKED.values():
        await marsh.ask(ask)
        marsh.server.files[PATH] = TEXT
        marsh.server.will(Refuse(500, "no"))
        await marsh.fails(ask)
    logged = "\n".join(
        f"{record.getMessage()} {record.args}" for record in caplog.records
    )
    assert not [one for one in SECRETS if one in logged]


async def test_a_store_lets_go_twice(marsh: Marsh) -> None:
    store = SupabaseFileStore(marsh.project, token, ACCOUNT, LIBRARY)
    assert await store.stored_names() == {NAME}
    await store.aclose()
    await store.aclose()
