"""Forgetting what a Supabase project keeps: only with leave, and noted."""

import sqlite3
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest

from lrwr.app.maintenance.deletion import (
    DeletionPlan,
    DeletionResult,
    delete_local_library,
    plan_deletion,
)
from lrwr.app.maintenance.remote_data import HostedLocation, delete_from_project
from lrwr.core.adapters.auth.project import SupabaseConnection
from lrwr.core.adapters.auth.sessions import KeyringSessionStore
from lrwr.core.adapters.auth.supabase import SupabaseAuth, SupabaseSignIn
from lrwr.core.adapters.http.egress_log import EgressLogger
from lrwr.core.adapters.storage.sqlite.database import SqliteDatabase
from lrwr.core.adapters.storage.sqlite.egress_log import SqliteEgressLog
from lrwr.core.model.egress import RequestOutcome, RequestPurpose
from lrwr.core.model.language_model import compute_price
from lrwr.core.settings.consent import ConsentStore
from lrwr.core.settings.library import (
    get_consent_folder,
    get_session_path,
    resolve_library,
)
from lrwr.core.settings.loader import load_settings
from tests.fakes.hosted_server import Asked, Say, Turn
from tests.unit.maintenance import test_supabase as doctors
from tests.unit.maintenance.test_supabase import (
    KEY,
    LIBRARY,
    NELL,
    ProjectServer,
    binds,
    bound_to,
    env_of,
    sign_in,
)

pytestmark = pytest.mark.usefixtures("home")


@dataclass
class Keeping(ProjectServer):
    """A project that keeps a library of Nell's, without files, until it is deleted."""

    def __post_init__(self) -> None:
        self.told["delete_library"] = True

    def answer(self, asked: Asked) -> Turn:
        """List no file, or answer as any project."""
        if asked.place == "/storage/v1/object/list/lrwr":
            return Say([])
        return super().answer(asked)

    @property
    def deleted(self) -> list[str]:
        """The libraries that were deleted, as they were asked for."""
        place = f"{doctors.RPC}delete_library"
        return [one.body["p_library"] for one in self.asked if one.place == place]


@pytest.fixture
def project() -> Iterator[Keeping]:
    with Keeping() as opened:
        yield opened


@pytest.fixture
async def pushed(
    project: Keeping, folder: Path, library: SqliteDatabase
) -> AsyncIterator[Path]:
    """A folder whose library was taken to the project."""
    sign_in(project.origin)
    await binds(library, bound_to(project.origin))
    await library.aclose()
    yield folder


def planned(folder: Path, env: Mapping[str, str]) -> DeletionPlan:
    return plan_deletion(load_settings(folder, env, {}), everywhere=True)


async def forgotten(folder: Path, env: Mapping[str, str]) -> DeletionResult:
    settings = load_settings(folder, env, {})
    plan = plan_deletion(settings, everywhere=True)
    said = list[str]()
    return await delete_local_library(plan, settings, env, said.append)


def allow(folder: Path, *, allowed: bool) -> None:
    settings = load_settings(folder, {}, {})
    ConsentStore(get_consent_folder()).store_answer(
        resolve_library(settings), "supabase", allowed=allowed
    )


@pytest.mark.parametrize("kept", [True, False])
async def test_a_project_that_was_denied_is_not_asked_and_not_forgotten(
    pushed: Path, project: Keeping, kept: bool
) -> None:
    env = env_of(project.origin, kept=kept)
    allow(pushed, allowed=False)
    plan = planned(pushed, env)
    assert plan.server_data == ()
    (refused,) = plan.refusals
    assert "novel stays" in refused
    assert "You denied Supabase for this folder" in refused

    (left,) = (await forgotten(pushed, env)).failures
    assert project.asked == []
    assert (left.where, left.what) == ("Supabase", ("novel",))
    assert "You denied Supabase for this folder" in left.why
    assert left.remedy == (
        "To allow it, run `lrwr privacy allow supabase`. Run `lrwr forget` again."
    )

    allow(pushed, allowed=True)
    done = await forgotten(pushed, env)
    assert done.failures == ()
    assert project.deleted == [LIBRARY]
    assert not (pushed / ".lrwr").exists()


async def test_a_project_that_only_the_folder_turned_on_is_not_asked(
    pushed: Path, project: Keeping
) -> None:
    (pushed / "lrwr.toml").write_text('[records]\nkeeper = "supabase"\n')
    env = env_of("https://abc.supabase.co")
    del env["LRWR_RECORDS_KEEPER"]
    (left,) = (await forgotten(pushed, env)).failures
    assert "you have not allowed it" in left.why
    assert "lrwr privacy allow supabase" in left.remedy


async def test_a_project_that_may_be_asked_is_planned_and_asked(
    pushed: Path, project: Keeping
) -> None:
    env = env_of(project.origin, kept=False)
    plan = planned(pushed, env)
    assert plan.refusals == ()
    (asked,) = plan.server_data
    assert "the library novel" in asked
    done = await forgotten(pushed, env)
    assert "novel: Supabase at 127.0.0.1" in done.deleted
    assert project.deleted == [LIBRARY]


async def test_what_leaves_to_have_a_library_deleted_is_noted(
    project: Keeping, library: SqliteDatabase
) -> None:
    sign_in(project.origin)
    afar = SupabaseConnection(project.origin, KEY)
    sessions = KeyringSessionStore(get_session_path())
    way = SupabaseSignIn(
        SupabaseAuth(afar, sessions), afar, sessions, get_session_path()
    )
    log = SqliteEgressLog(library)
    request_logger = EgressLogger(log, lambda: 1.0, partial(compute_price, table={}))
    home = HostedLocation(project.origin, NELL, LIBRARY, "novel")
    assert (await delete_from_project(way, home, request_logger)).deleted == ("novel",)
    newest = (await log.report()).newest
    assert [one.purpose for one in newest] == [
        RequestPurpose.RECORDS,
        RequestPurpose.FILES,
    ]
    assert {one.service for one in newest} == {"supabase"}
    assert {one.outcome for one in newest} == {RequestOutcome.ANSWERED}


@pytest.mark.parametrize("damage", [b"no database at all" * 99, None])
async def test_what_cannot_be_read_may_be_kept_there_and_is_not_called_forgotten(
    pushed: Path, project: Keeping, damage: bytes | None
) -> None:
    env = env_of(project.origin)
    database = resolve_library(load_settings(pushed, env, {})).database
    if damage is None:
        damage = spoilt(database, "hosted")
    database.write_bytes(damage)
    done = await forgotten(pushed, env)
    assert [one.where for one in done.failures] == ["Supabase at 127.0.0.1"]
    assert "lrwr pull" in done.failures[0].remedy
    assert not database.exists()
    assert not project.deleted


def spoilt(database: Path, table: str) -> bytes:
    """Return a library's file with the page of a table overwritten."""
    with closing(sqlite3.connect(database)) as connection:
        asked = "select rootpage from sqlite_master where name = ?"
        (page,) = connection.execute(asked, (table,)).fetchone()
        (size,) = connection.execute("pragma page_size").fetchone()
    content = bytearray(database.read_bytes())
    content[(page - 1) * size : page * size] = b"\xff" * size
    return bytes(content)
