"""What the doctor says of a Supabase project, where one is set."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import keyring
import pytest

from lrwr.app.maintenance.check_result import HealthFinding, HealthState
from lrwr.app.maintenance.doctor import DoctorContext, run_doctor
from lrwr.core.adapters.auth.sessions import KeyringSessionStore
from lrwr.core.adapters.storage.sqlite.database import SqliteDatabase
from lrwr.core.adapters.storage.supabase.library_link import (
    LibraryLink,
    store_library_link,
)
from lrwr.core.adapters.storage.supabase.records import list_supabase_migrations
from lrwr.core.settings.consent import ConsentStore
from lrwr.core.settings.library import (
    get_consent_folder,
    get_session_path,
    resolve_library,
)
from lrwr.core.settings.loader import load_settings
from tests.fakes.hosted_server import (
    Asked,
    HostedServer,
    Json,
    Nonsense,
    Refuse,
    Say,
    Turn,
)
from tests.fakes.keyrings import LockedKeyring

pytestmark = pytest.mark.usefixtures("home")

NELL, CORIN = "11111111-1111-4111-8111-111111111111", "somebody else"
LIBRARY = "22222222-2222-4222-8222-222222222222"
KEY = "sb_publishable_planted"
TOKEN = "planted-session"
ALL = [one.number for one in list_supabase_migrations()]
LAST = list_supabase_migrations()[-1].name
RPC = "/rest/v1/rpc/lrwr_"
FAR = 4_000_000_000.0
"""When a session ends: long after any test."""

Bound = Callable[..., None]


@dataclass
class ProjectServer(HostedServer):
    """A project that Nell is signed in to; `told` is what its functions return."""

    told: dict[str, Json] = field(
        default_factory=lambda: {
            "migrations": ALL,
            "state": {"version": 7, "others": False},
        }
    )

    def answer(self, asked: Asked) -> Turn:
        """Say who is signed in, or what a function returns."""
        if asked.place == "/auth/v1/user":
            return Say({"id": NELL, "email": "nell@example.org", **_USER})
        function = asked.place.removeprefix(RPC)
        if function in self.told:
            return Say(self.told[function])
        return Refuse(404, f"no function lrwr_{function}", code="PGRST202")

    def error(self, refuse: Refuse) -> Json:
        """Write it as PostgREST does."""
        return {"message": refuse.message, "code": refuse.code, "details": None}


_USER: Mapping[str, Json] = {
    "app_metadata": {},
    "user_metadata": {},
    "aud": "authenticated",
    "created_at": "2026-11-01T10:00:00Z",
}


@pytest.fixture
def project() -> Iterator[ProjectServer]:
    with ProjectServer() as opened:
        yield opened


def env_of(url: str, *, kept: bool = True) -> dict[str, str]:
    """Set a project; `kept` says that it keeps the records."""
    return {
        "LRWR_EMBEDDING_MODEL": "off",
        "LRWR_RECORDS_KEEPER": "supabase" if kept else "embedded",
        "LRWR_SUPABASE_URL": url,
        "SUPABASE_KEY": KEY,
    }


def sign_in(url: str) -> None:
    session = {"access_token": TOKEN, "refresh_token": "r", "expires_at": FAR}
    KeyringSessionStore(get_session_path()).write(url, json.dumps(session))


def bound_to(url: str) -> LibraryLink:
    return LibraryLink(url, NELL, LIBRARY, "novel", writer="w", cursor=7)


async def binds(database: SqliteDatabase, binding: LibraryLink) -> None:
    await database.write(lambda connection: store_library_link(connection, binding))


async def rows(folder: Path, env: Mapping[str, str]) -> list[HealthFinding]:
    found = await run_doctor(DoctorContext(folder, env, {}, now=1_000_000.0))
    for one in found:
        assert KEY not in one.detail + one.remedy
        assert TOKEN not in one.detail + one.remedy
    return [one for one in found if one.part == "records"]


async def row(folder: Path, env: Mapping[str, str]) -> HealthFinding:
    (one,) = await rows(folder, env)
    return one


async def test_where_no_project_is_set_there_is_no_row(folder: Path) -> None:
    assert await rows(folder, {"SUPABASE_KEY": KEY}) == []


async def test_settings_that_are_missing_are_named_each_with_its_remedy(
    folder: Path,
) -> None:
    no_project = await row(folder, {"LRWR_RECORDS_KEEPER": "supabase"})
    assert no_project.state is HealthState.BROKEN
    assert "[supabase] url" in no_project.remedy
    without = {**env_of("https://abc.supabase.co"), "SUPABASE_KEY": ""}
    no_key = await row(folder, without)
    assert no_key.state is HealthState.BROKEN
    assert "lrwr config set-key supabase" in no_key.remedy
    secret = {**without, "SUPABASE_KEY": "sb_secret_planted"}
    opens_all = await row(folder, secret)
    assert "secret key" in opens_all.detail
    assert "sb_secret" not in opens_all.detail + opens_all.remedy


async def test_a_project_that_keeps_nothing_yet_makes_nothing_broken(
    folder: Path, project: ProjectServer
) -> None:
    env = env_of(project.origin, kept=False)
    no_key = await row(folder, {**env, "SUPABASE_KEY": ""})
    assert no_key.state is HealthState.WARNING
    nobody = await row(folder, env)
    assert (nobody.state, nobody.remedy) == (
        HealthState.OFF,
        "Sign in with `lrwr login`.",
    )
    assert project.asked == []
    sign_in(project.origin)
    found = await row(folder, env)
    assert (found.state, found.remedy) == (HealthState.OK, "")
    assert found.detail.startswith("nell@example.org at 127.0.0.1. ")
    assert "lrwr push" in found.detail


async def test_nobody_who_is_signed_in_is_broken_where_the_project_keeps_the_records(
    folder: Path, project: ProjectServer
) -> None:
    found = await row(folder, env_of(project.origin))
    assert (found.state, found.remedy) == (
        HealthState.BROKEN,
        "Sign in with `lrwr login`.",
    )
    assert "You are not signed in at 127.0.0.1" in found.detail
    assert project.asked == []


async def test_a_locked_keyring_is_told(folder: Path, project: ProjectServer) -> None:
    keyring.set_keyring(LockedKeyring())
    found = await row(folder, env_of(project.origin))
    assert found.state is HealthState.BROKEN
    assert "keyring" in found.detail


async def test_a_project_that_cannot_be_reached_is_a_warning(folder: Path) -> None:
    nowhere = "http://127.0.0.1:9"
    sign_in(nowhere)
    kept = await row(folder, env_of(nowhere))
    assert kept.state is HealthState.WARNING
    assert "cannot be reached" in kept.detail
    assert "can be read but not changed" in kept.detail
    assert "supabase.url" in kept.remedy
    copied = await row(folder, env_of(nowhere, kept=False))
    assert copied.state is HealthState.WARNING
    assert "meanwhile" not in copied.detail


@pytest.mark.parametrize(
    ("turn", "state", "words"),
    [
        (Refuse(401), HealthState.BROKEN, "rejected the session or the key"),
        (Refuse(404), HealthState.BROKEN, "is not a Supabase project"),
        (Refuse(429), HealthState.WARNING, "received too many requests"),
        (Refuse(503), HealthState.WARNING, "failed (503)"),
        (Nonsense(), HealthState.BROKEN, "is not a Supabase project"),
    ],
    ids=str,
)
async def test_a_project_that_refuses_is_told_in_words(
    folder: Path, project: ProjectServer, turn: Turn, state: HealthState, words: str
) -> None:
    sign_in(project.origin)
    project.will(turn)
    found = await row(folder, env_of(project.origin))
    assert found.state is state
    assert words in found.detail
    assert found.remedy


async def test_scripts_that_were_not_run_are_named(
    folder: Path, project: ProjectServer
) -> None:
    sign_in(project.origin)
    project.told["migrations"] = ALL[1:]
    some = await row(folder, env_of(project.origin))
    assert some.state is HealthState.BROKEN
    assert "001_libraries.sql" in some.detail
    assert "SQL editor" in some.remedy
    del project.told["migrations"]
    none = await row(folder, env_of(project.origin))
    assert "no tables for lrwr" in none.detail
    assert f"001_libraries.sql to {LAST}" in none.detail


async def test_a_project_without_a_script_that_only_withdraws_rights_is_warned(
    folder: Path, project: ProjectServer
) -> None:
    sign_in(project.origin)
    project.told["migrations"] = ALL[:-1]
    some = await row(folder, env_of(project.origin, kept=False))
    assert some.state is HealthState.WARNING
    assert LAST in some.detail
    assert "SQL editor" in some.remedy


async def test_a_newer_project_than_lrwr_knows_lacks_nothing(
    folder: Path, project: ProjectServer
) -> None:
    sign_in(project.origin)
    project.told["migrations"] = [*ALL, 99]
    assert (
        await row(folder, env_of(project.origin, kept=False))
    ).state is HealthState.OK


async def test_a_library_that_is_not_there_yet_is_told_how_to_go_there(
    folder: Path, project: ProjectServer, library: SqliteDatabase
) -> None:
    sign_in(project.origin)
    found = await row(folder, env_of(project.origin))
    assert found.state is HealthState.BROKEN
    assert "not been uploaded to the project yet" in found.detail
    assert "lrwr push" in found.remedy
    assert "lrwr pull" in found.remedy


async def test_a_copy_that_has_everything_and_one_that_is_behind(
    folder: Path, project: ProjectServer, library: SqliteDatabase
) -> None:
    sign_in(project.origin)
    await binds(library, bound_to(project.origin))
    whole = await row(folder, env_of(project.origin))
    assert (whole.state, whole.remedy) == (HealthState.OK, "")
    assert whole.detail == (
        "nell@example.org at 127.0.0.1. The project has the library novel, which is up to date."
    )
    project.told["state"] = {"version": 10, "others": True}
    behind = await row(folder, env_of(project.origin))
    assert behind.state is HealthState.OK
    assert "3 changes behind" in behind.detail
    copied = await row(folder, env_of(project.origin, kept=False))
    assert "`lrwr pull` downloads them" in copied.detail


async def test_what_was_read_apart_is_broken_only_where_the_project_keeps_the_records(
    folder: Path, project: ProjectServer, library: SqliteDatabase
) -> None:
    sign_in(project.origin)
    await binds(library, replace(bound_to(project.origin), apart=True))
    kept = await row(folder, env_of(project.origin))
    assert (kept.state, kept.remedy) == (
        HealthState.BROKEN,
        "Upload them with `lrwr push`.",
    )
    project.told["state"] = {"version": 10, "others": True}
    copied = await row(folder, env_of(project.origin, kept=False))
    assert copied.state is HealthState.OK
    assert "another machine has changed the library" in copied.detail


async def test_a_library_of_another_project_or_account_or_none_is_broken(
    folder: Path, project: ProjectServer, library: SqliteDatabase
) -> None:
    sign_in(project.origin)
    here = bound_to(project.origin)
    await binds(library, replace(here, project="https://old.supabase.co"))
    moved = await row(folder, env_of(project.origin))
    assert "is at https://old.supabase.co" in moved.detail
    await binds(library, replace(here, account=CORIN))
    other = await row(folder, env_of(project.origin))
    assert "belongs to a different account" in other.detail
    assert "lrwr login" in other.remedy
    await binds(library, here)
    project.told["state"] = None
    gone = await row(folder, env_of(project.origin))
    assert "was deleted from the project" in gone.detail
    assert "lrwr push --new" in gone.remedy
    for one in (moved, other, gone):
        assert one.state is HealthState.BROKEN


@pytest.mark.parametrize(
    "told", [{}, [], {"version": "many", "others": False}, "<html>"], ids=str
)
async def test_nonsense_is_told_and_never_an_exception(
    folder: Path, project: ProjectServer, library: SqliteDatabase, told: Json
) -> None:
    sign_in(project.origin)
    await binds(library, bound_to(project.origin))
    project.told["state"] = told
    assert (await row(folder, env_of(project.origin))).state is HealthState.BROKEN
    project.told["migrations"] = told or {}
    assert (await row(folder, env_of(project.origin))).state is HealthState.BROKEN


async def test_without_leave_nothing_is_asked(
    folder: Path, library: SqliteDatabase
) -> None:
    (folder / "lrwr.toml").write_text('[records]\nkeeper = "supabase"\n')
    env = env_of("https://abc.supabase.co")
    del env["LRWR_RECORDS_KEEPER"]
    sign_in("https://abc.supabase.co")
    found = await row(folder, env)
    assert found.state is HealthState.OFF
    assert "lrwr privacy allow supabase" in found.remedy


async def test_a_denial_holds_for_a_project_that_is_only_set(
    folder: Path, project: ProjectServer, library: SqliteDatabase
) -> None:
    sign_in(project.origin)
    settings = load_settings(folder, {}, {})
    ConsentStore(get_consent_folder()).store_answer(
        resolve_library(settings), "supabase", allowed=False
    )
    found = await row(folder, env_of(project.origin, kept=False))
    assert found.state is HealthState.OFF
    assert "You denied Supabase" in found.detail
    assert project.asked == []


async def test_a_folder_from_elsewhere_leads_nobody_to_its_own_project(
    folder: Path, project: ProjectServer
) -> None:
    theirs = '[supabase]\nurl = "https://theirs.example.org"\n'
    (folder / "lrwr.toml").write_text(theirs, encoding="utf-8")
    found = await row(folder, {"LRWR_EMBEDDING_MODEL": "off", "SUPABASE_KEY": KEY})
    assert found.state is HealthState.WARNING
    assert "theirs.example.org" in found.detail
