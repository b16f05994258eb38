import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import keyring
import pytest
from keyring.backends import fail

from lrwr.app.container import Workspace, open_workspace
from lrwr.core.adapters.auth.project import SupabaseConnection
from lrwr.core.adapters.auth.sessions import KeyringSessionStore
from lrwr.core.adapters.auth.supabase import SupabaseAuth
from lrwr.core.adapters.storage.sqlite.database import SqliteDatabase
from lrwr.core.adapters.storage.supabase.knowledge_store import SupabaseCastStore
from lrwr.core.adapters.storage.supabase.library_link import (
    create_library_link,
    store_library_link,
)
from lrwr.core.adapters.storage.supabase.records import (
    create_remote_library,
    list_supabase_migrations,
)
from lrwr.core.adapters.storage.supabase.rpc import SupabaseRpc
from lrwr.core.adapters.storage.supabase.thread_api import SupabaseThreadApi
from lrwr.core.model.cast import Alias, Cast, Character, Gender
from lrwr.core.model.facts import Certainty
from lrwr.core.settings.library import (
    get_session_path,
    prepare_state_dir,
    resolve_library,
)
from lrwr.core.settings.loader import load_settings
from tests.fakes.conversations import THREAD
from tests.fakes.hosted import PASSWORD, Writer, asking, machine, sign_up
from tests.fakes.hosted_records import speak
from tests.fakes.records import Clock
from tests.fakes.supabase_server import SupabaseServer

pytestmark = pytest.mark.supabase

PUBLICATION = """
select string_agg(tablename, ',' order by tablename) from pg_publication_tables
where pubname = 'supabase_realtime'
"""


@pytest.fixture(autouse=True)
def no_keyring() -> Iterator[None]:
    before = keyring.get_keyring()
    keyring.set_keyring(fail.Keyring())  # type: ignore[no-untyped-call]
    yield
    keyring.set_keyring(before)


@pytest.fixture
def nell(supabase: SupabaseServer) -> Writer:
    return sign_up(supabase)


@pytest.fixture
async def hosted(supabase: SupabaseServer, nell: Writer) -> AsyncIterator[SupabaseRpc]:
    async with asking(supabase, nell) as opened:
        yield opened


@pytest.fixture
async def library(hosted: SupabaseRpc) -> str:
    made = await create_remote_library(hosted, uuid4().hex)
    assert made is not None
    return made


@pytest.fixture
async def elsewhere(
    hosted: SupabaseRpc, library: str, tmp_path: Path
) -> AsyncIterator[SupabaseCastStore]:
    """Another machine of the writer's, which writes the same library."""
    async with machine(tmp_path / "other.db", hosted, library, Clock()) as other:
        yield SupabaseCastStore(other.database, other.copy, other.records)


@dataclass(frozen=True, slots=True)
class Desk:
    """A writer at a machine, on which a library of a project is copied."""

    folder: Path
    writer: Writer
    library: str

    @asynccontextmanager
    async def at(self, url: str, key: str) -> AsyncIterator[Workspace]:
        settings = load_settings(
            self.folder,
            {"LRWR_SUPABASE_URL": url, "LRWR_RECORDS_KEEPER": "supabase"},
            {},
            user=self.folder / "none.toml",
        )
        auth = SupabaseAuth(
            SupabaseConnection(url, key, own=True),
            KeyringSessionStore(get_session_path()),
        )
        await auth.sign_in(self.writer.email, PASSWORD)
        prepare_state_dir(resolve_library(settings))
        plain = SqliteDatabase(resolve_library(settings).database)
        bound = create_library_link(url, self.writer.id, self.library, "book")
        await plain.write(lambda connection: store_library_link(connection, bound))
        await plain.aclose()
        async with open_workspace(settings) as workspace:
            yield workspace


@pytest.fixture
def desk(
    nell: Writer, library: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Desk:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    folder = tmp_path / "book"
    folder.mkdir()
    return Desk(folder, nell, library)


def a_cast(name: str) -> Cast:
    sure = Certainty.VERIFIED
    alias = Alias(name, 3, sure)
    return Cast((Character(name, (alias,), Gender.UNKNOWN, sure, sure),))


async def seen(workspace: Workspace, cast: Cast) -> None:
    """Read until another machine's cast is here."""
    pause = workspace.stores.pause
    assert pause is not None
    while await workspace.stories.cast() != cast:
        await pause()


async def test_what_another_machine_changes_is_seen_after_some_seconds(
    supabase: SupabaseServer,
    desk: Desk,
    elsewhere: SupabaseCastStore,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("SUPABASE_KEY", supabase.key)
    async with desk.at(supabase.url, supabase.key) as workspace:
        await workspace.stories.cast()
        await elsewhere.save_cast(a_cast("Mrs. Gannet"))
        await seen(workspace, a_cast("Mrs. Gannet"))
    assert capfd.readouterr() == ("", "")


def test_the_script_does_nothing_where_nothing_is_published(
    supabase: SupabaseServer,
) -> None:
    (script,) = [one for one in list_supabase_migrations() if one.number == 6]
    supabase.postgres.run(script.sql * 2)
    assert supabase.postgres.run("select count(*) from pg_publication") == "0"
    told = "select count(*) from lrwr_migration where number = 6"
    assert supabase.postgres.run(told) == "1"


@pytest.mark.parametrize("what", ["", "for table lrwr_turn", "for all tables"])
def test_the_script_publishes_the_libraries_once_and_nothing_else(
    supabase: SupabaseServer, what: str
) -> None:
    (script,) = [one for one in list_supabase_migrations() if one.number == 6]
    make = f"create publication supabase_realtime {what};\n"
    forget = "\ndrop publication supabase_realtime;"
    before = supabase.postgres.run(make + PUBLICATION + ";" + forget).split(",")
    after = supabase.postgres.run(make + script.sql * 2 + PUBLICATION + ";" + forget)
    assert set(after.split(",")) == {*filter(None, before), "lrwr_library"}


@pytest.mark.parametrize("what", ["", "for table lrwr_turn", "for table lrwr_library"])
def test_no_library_is_published_in_the_end(
    supabase: SupabaseServer, what: str
) -> None:
    scripts = "".join(one.sql for one in list_supabase_migrations() if one.number > 5)
    make = f"create publication supabase_realtime {what};\n"
    forget = "\ndrop publication supabase_realtime;"
    after = supabase.postgres.run(make + scripts * 2 + PUBLICATION + ";" + forget)
    assert "lrwr_library" not in after.split(",")


def test_a_publication_of_all_tables_stays_the_project_s_choice(
    supabase: SupabaseServer,
) -> None:
    scripts = "".join(one.sql for one in list_supabase_migrations() if one.number > 5)
    make = "create publication supabase_realtime for all tables;\n"
    forget = "\ndrop publication supabase_realtime;"
    after = supabase.postgres.run(make + scripts + PUBLICATION + ";" + forget)
    assert "lrwr_library" in after.split(",")


async def test_keeping_and_deleting_one_conversation_at_once_never_lock_each_other_out(
    hosted: SupabaseRpc, library: str
) -> None:
    threads = SupabaseThreadApi(hosted, library)

    async def keep() -> None:
        for _ in range(15):
            await speak(threads)

    async def delete() -> None:
        for number in range(15):
            await threads.delete(THREAD, float(number))
            await threads.restore()

    await asyncio.gather(keep(), keep(), keep(), delete(), delete(), delete())
    await speak(threads)
    whole = await threads.load(THREAD)
    assert whole is not None
    assert [turn.number for turn in whole.turns] == list(range(1, 47))
