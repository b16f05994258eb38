from collections.abc import Iterator
from pathlib import Path

import keyring
import pytest
from keyring.backends import fail

from lrwr.core.adapters.auth.project import SupabaseConnection
from lrwr.core.adapters.auth.sessions import KeyringSessionStore
from lrwr.core.adapters.auth.supabase import Account, AccountId, SupabaseAuth
from lrwr.core.adapters.storage.supabase.records import create_remote_library
from lrwr.core.adapters.storage.supabase.rpc import SupabaseRpc
from lrwr.core.model.errors import LrwrError, ServiceUnavailable
from tests.fakes.hosted import PASSWORD, Writer, sign_up
from tests.fakes.records import Clock
from tests.fakes.supabase_server import SupabaseServer

pytestmark = pytest.mark.supabase

BEFORE_ITS_END = 1_000_000.0
"""A time at which no session is over: they are given for an hour from now."""


@pytest.fixture(autouse=True)
def no_keyring() -> Iterator[None]:
    before = keyring.get_keyring()
    keyring.set_keyring(fail.Keyring())  # type: ignore[no-untyped-call]
    yield
    keyring.set_keyring(before)


@pytest.fixture
def project(supabase: SupabaseServer) -> Iterator[SupabaseConnection]:
    yield SupabaseConnection(supabase.url, supabase.key, own=True)
    supabase.gate.held.clear()
    supabase.gate.refusals.clear()


@pytest.fixture
def sessions(tmp_path: Path) -> KeyringSessionStore:
    return KeyringSessionStore(tmp_path / "kept" / "session.json")


@pytest.fixture
def clock() -> Clock:
    return Clock(BEFORE_ITS_END)


@pytest.fixture
def auth(
    project: SupabaseConnection, sessions: KeyringSessionStore, clock: Clock
) -> SupabaseAuth:
    return SupabaseAuth(project, sessions, clock)


@pytest.fixture
def nell(supabase: SupabaseServer) -> Writer:
    return sign_up(supabase)


def asked_since(server: SupabaseServer, before: int) -> list[str]:
    return [one.partition("?")[0] for one in server.gate.asked[before:]]


async def test_who_signs_in_is_who_they_are(auth: SupabaseAuth, nell: Writer) -> None:
    assert await auth.account() is None
    known = Account(AccountId(nell.id), nell.email)
    assert await auth.sign_in(nell.email, PASSWORD) == known
    assert await auth.account() == known


async def test_what_is_handed_out_opens_the_library(
    auth: SupabaseAuth, project: SupabaseConnection, nell: Writer
) -> None:
    await auth.sign_in(nell.email, PASSWORD)
    hosted = SupabaseRpc(project, auth.token)
    assert await create_remote_library(hosted, "Tides") is not None
    assert await create_remote_library(hosted, "Tides") is None  # there is one now
    await hosted.aclose()


@pytest.mark.parametrize("password", ["wrong-horse-9", "", "\udcff", "a" * 5_000])
async def test_a_wrong_password_signs_nobody_in(
    auth: SupabaseAuth,
    project: SupabaseConnection,
    sessions: KeyringSessionStore,
    password: str,
    nell: Writer,
) -> None:
    with pytest.raises(LrwrError) as caught:
        await auth.sign_in(nell.email, password)
    assert "password" in str(caught.value)
    assert not isinstance(caught.value, ServiceUnavailable)
    assert sessions.read(project.url) is None


async def test_nobody_signed_in_is_told_how_to(auth: SupabaseAuth) -> None:
    with pytest.raises(LrwrError) as caught:
        await auth.token()
    assert "lrwr login" in caught.value.hint
    assert not await auth.sign_out()


async def test_a_session_outlives_the_process_and_is_not_asked_for_again(
    auth: SupabaseAuth,
    project: SupabaseConnection,
    sessions: KeyringSessionStore,
    nell: Writer,
    clock: Clock,
    supabase: SupabaseServer,
) -> None:
    await auth.sign_in(nell.email, PASSWORD)
    before = len(supabase.gate.asked)
    later = SupabaseAuth(project, sessions, clock)
    assert await later.token() == await auth.token()
    assert asked_since(supabase, before) == []


async def test_a_session_that_ends_soon_is_renewed_once_for_everybody(
    auth: SupabaseAuth,
    project: SupabaseConnection,
    sessions: KeyringSessionStore,
    nell: Writer,
    clock: Clock,
    supabase: SupabaseServer,
) -> None:
    await auth.sign_in(nell.email, PASSWORD)
    first, kept = await auth.token(), sessions.read(project.url)
    clock.time = 1e11
    before = len(supabase.gate.asked)
    await auth.token()
    assert asked_since(supabase, before) == ["POST /auth/v1/token"]
    assert sessions.read(project.url) != kept
    clock.time = BEFORE_ITS_END
    other = SupabaseAuth(project, sessions, clock)
    assert await other.token() == await auth.token()
    assert first


async def test_a_session_that_the_project_forgot_is_forgotten_here(
    auth: SupabaseAuth,
    project: SupabaseConnection,
    sessions: KeyringSessionStore,
    nell: Writer,
    clock: Clock,
    supabase: SupabaseServer,
) -> None:
    await auth.sign_in(nell.email, PASSWORD)
    supabase.postgres.run(f"delete from auth.sessions where user_id = '{nell.id}'")
    supabase.postgres.run(
        f"delete from auth.refresh_tokens where user_id::text = '{nell.id}'"
    )
    clock.time = 1e11
    with pytest.raises(LrwrError) as caught:
        await auth.token()
    assert "lrwr login" in caught.value.hint
    assert sessions.read(project.url) is None


async def test_signing_out_ends_the_session_there_and_here(
    auth: SupabaseAuth,
    project: SupabaseConnection,
    sessions: KeyringSessionStore,
    nell: Writer,
    clock: Clock,
) -> None:
    await auth.sign_in(nell.email, PASSWORD)
    kept = sessions.read(project.url)
    assert kept is not None
    assert await auth.sign_out()
    assert sessions.read(project.url) is None
    assert await auth.account() is None
    sessions.write(project.url, kept)
    clock.time = 1e11
    with pytest.raises(LrwrError):
        await SupabaseAuth(project, sessions, clock).token()


@pytest.mark.parametrize("status", [429, 500, 503])
async def test_a_project_that_fails_keeps_the_session_and_says_so(
    auth: SupabaseAuth,
    project: SupabaseConnection,
    sessions: KeyringSessionStore,
    nell: Writer,
    clock: Clock,
    supabase: SupabaseServer,
    status: int,
) -> None:
    await auth.sign_in(nell.email, PASSWORD)
    clock.time = 1e11
    before = len(supabase.gate.asked)
    supabase.gate.refusals.append(status)
    with pytest.raises(ServiceUnavailable) as caught:
        await auth.token()
    assert caught.value.retryable
    assert caught.value.hint
    assert len(asked_since(supabase, before)) == 1
    assert sessions.read(project.url) is not None
    assert await auth.token()


async def test_who_cannot_tell_the_project_is_signed_out_here(
    auth: SupabaseAuth,
    project: SupabaseConnection,
    sessions: KeyringSessionStore,
    nell: Writer,
    supabase: SupabaseServer,
) -> None:
    await auth.sign_in(nell.email, PASSWORD)
    supabase.gate.refusals.append(503)
    with pytest.raises(ServiceUnavailable):
        await auth.sign_out()
    assert sessions.read(project.url) is None


async def test_a_project_that_does_not_answer_is_not_waited_for(
    supabase: SupabaseServer, sessions: KeyringSessionStore, project: SupabaseConnection
) -> None:
    supabase.gate.held.set()
    impatient = SupabaseConnection(project.url, project.key, timeout=0.2, own=True)
    with pytest.raises(ServiceUnavailable, match="did not answer within"):
        await SupabaseAuth(impatient, sessions).sign_in("a@example.org", PASSWORD)


async def test_a_key_that_is_none_of_the_projects_is_said_to_be_so(
    project: SupabaseConnection, sessions: KeyringSessionStore, nell: Writer
) -> None:
    wrong = SupabaseConnection(project.url, "sb_publishable_other", own=True)
    with pytest.raises(LrwrError) as caught:
        await SupabaseAuth(wrong, sessions).sign_in(nell.email, PASSWORD)
    assert "set-key supabase" in caught.value.hint
