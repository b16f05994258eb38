import json

import pytest

from lrwr.core.adapters.storage.supabase.job_queue import SupabaseJobQueue
from lrwr.core.adapters.storage.supabase.records import (
    SupabaseRecords,
    create_remote_library,
    list_remote_libraries,
    list_supabase_migrations,
)
from lrwr.core.adapters.storage.supabase.thread_api import SupabaseThreadApi
from lrwr.core.model.choices import Pipeline
from lrwr.core.model.errors import LrwrError, NotFound, StoreProblem
from lrwr.core.model.jobs import JobKind, JobOrder, JobStage
from tests.fakes.conversations import THREAD
from tests.fakes.hosted import Writer, asking
from tests.fakes.hosted_project import OWNED, Answer, GuardedProject, guarded_project
from tests.fakes.hosted_records import HASH, SPACE, VECTOR, speak
from tests.fakes.records import ONE
from tests.fakes.supabase_server import SupabaseServer

pytestmark = pytest.mark.supabase

NO_REPLY = {"Prefer": "return=minimal"}
"""Then rows need not be seen to be changed."""

VERBS = ("SELECT", "INSERT", "UPDATE", "DELETE")
LEASE = 60.0


@pytest.fixture
async def project(supabase: SupabaseServer) -> GuardedProject:
    made = await guarded_project(supabase)
    path = f"/storage/v1/object/lrwr/{made.file}"
    assert made.ask("POST", path, made.owner, b"The sluice was shut.").status == 200
    return made


def test_every_table_is_guarded_for_every_verb_even_from_its_own_role(
    supabase: SupabaseServer,
) -> None:
    tables = supabase.postgres.run(
        "select relname from pg_class where relkind in ('r', 'p', 'v', 'm')"
        " and relnamespace = 'public'::regnamespace and relname like 'lrwr%'"
        " order by 1"
    )
    assert tables.split() == sorted([*OWNED, "lrwr_migration"])
    open_ones = supabase.postgres.run(
        "select relname from pg_class where relkind = 'r' and relname like 'lrwr%'"
        " and not (relrowsecurity and relforcerowsecurity)"
    )
    assert open_ones == ""
    guards = supabase.postgres.run(
        "select tablename || ' ' || cmd || ' ' || roles::text from pg_policies"
        " where schemaname = 'public'"
    )
    owned = {f"{table} {verb} {{authenticated}}" for table in OWNED for verb in VERBS}
    assert set(guards.splitlines()) == {
        *owned,
        "lrwr_migration SELECT {authenticated}",
    }


def as_the_scripts_leave_it(server: SupabaseServer, query: str) -> str:
    """What a project answers to a query when lrwr's scripts were just run.

    `@supabase/lite` grants everything to everybody at the first request, so that row
    by row the policies alone stand against the other tests of this file.
    """
    scripts = "".join(migration.sql for migration in list_supabase_migrations())
    return server.postgres.run(f"{scripts}\n{query};\nrollback;")


def test_nobody_without_an_account_may_call_a_function_or_touch_a_table(
    supabase: SupabaseServer,
) -> None:
    free = as_the_scripts_leave_it(
        supabase,
        "select oid::regprocedure from pg_proc where proname like 'lrwr\\_%'"
        " and has_function_privilege('anon', oid, 'execute')",
    )
    assert free == ""
    granted = as_the_scripts_leave_it(
        supabase,
        "select table_name from information_schema.role_table_grants"
        " where grantee in ('anon', 'PUBLIC') and table_name like 'lrwr\\_%'",
    )
    assert granted == ""


def test_functions_do_no_more_than_who_calls_them_may(
    supabase: SupabaseServer,
) -> None:
    daring = as_the_scripts_leave_it(
        supabase,
        "select oid::regprocedure from pg_proc where proname like 'lrwr\\_%'"
        " and (prosecdef or proconfig is null)",
    )
    assert daring == ""


def test_every_function_is_for_whoever_is_signed_in(supabase: SupabaseServer) -> None:
    refused = as_the_scripts_leave_it(
        supabase,
        "select oid::regprocedure from pg_proc where proname like 'lrwr\\_%'"
        " and not has_function_privilege('authenticated', oid, 'execute')",
    )
    assert refused == ""


def test_the_scripts_change_no_right_to_a_function_of_the_project(
    supabase: SupabaseServer,
) -> None:
    scripts = "".join(migration.sql for migration in list_supabase_migrations())
    theirs = (
        "create function public.lrwr_theirs() returns integer language sql as 'select 1';\n"
        "revoke all on function public.lrwr_theirs() from public, anon, authenticated;\n"
    )
    granted = supabase.postgres.run(
        f"begin;\n{theirs}{scripts}\nselect"
        " has_function_privilege('authenticated', 'public.lrwr_theirs()', 'execute');\n"
        "rollback;"
    )
    assert granted == "f"


KEYS = {
    "lrwr_thread": "id",
    "lrwr_turn": "id",
    "lrwr_job": "document",
    "lrwr_record": "key",
    "lrwr_vector": "text_hash",
    "lrwr_reply": "key",
}


@pytest.mark.parametrize("table", KEYS)
@pytest.mark.parametrize("method", ["POST", "PATCH"])
def test_another_account_cannot_tell_whether_a_name_exists(
    project: GuardedProject, table: str, method: str
) -> None:
    (row,) = json.loads(project.rows(table))
    stolen = {**row, "owner": project.other.id}
    stolen.pop("id" if table == "lrwr_job" else "", None)
    invented = {**stolen, KEYS[table]: "no such name"}
    answers = [
        project.ask(method, f"/rest/v1/{table}", project.other, attempt)
        for attempt in (stolen, invented)
    ]
    if method == "POST":
        assert answers[0].status == 403
        assert answers[0].body["code"] == "42501"
    assert answers[0] == answers[1]


async def test_a_function_tells_another_account_nothing_of_a_name(
    project: GuardedProject,
) -> None:
    said = set()
    for hash_ in (HASH, "0" * 64):
        async with asking(project.server, project.other) as hosted:
            records = SupabaseRecords(hosted, project.library, "there")
            with pytest.raises(NotFound) as caught:
                await records.put_vectors(SPACE, {hash_: VECTOR})
            said.add(caught.value.full_text)
    assert len(said) == 1


def test_the_bucket_takes_bytes_of_at_most_50_mb(project: GuardedProject) -> None:
    limits = "select file_size_limit, allowed_mime_types from storage.buckets"
    said = project.server.postgres.run(f"{limits} where id = 'lrwr'")
    assert said == "52428800|{application/octet-stream}"


@pytest.mark.parametrize("table", OWNED)
def test_the_owner_sees_what_is_theirs(project: GuardedProject, table: str) -> None:
    seen = project.ask("GET", f"/rest/v1/{table}", project.owner)
    assert len(seen.body) == 1


@pytest.mark.parametrize("table", OWNED)
def test_another_account_sees_and_changes_nothing(
    project: GuardedProject, table: str
) -> None:
    before = project.rows(table)
    path, whose = f"/rest/v1/{table}", f"owner=eq.{project.owner.id}"
    for query in ("", f"?{whose}"):
        assert project.ask("GET", f"{path}{query}", project.other) == Answer(200, [])
    change = {"owner": project.other.id}
    assert project.ask("PATCH", f"{path}?{whose}", project.other, change).body == []
    assert project.ask("DELETE", f"{path}?{whose}", project.other).body == []
    blind = {OWNED[table]: "Mine."}
    project.ask("PATCH", path, project.other, blind, NO_REPLY)
    project.ask("DELETE", path, project.other, None, NO_REPLY)
    assert project.rows(table) == before != "[]"


@pytest.mark.parametrize("table", OWNED)
def test_no_account_foists_a_row_on_another(
    project: GuardedProject, table: str
) -> None:
    before = project.rows(table)
    whose = f"owner=eq.{project.owner.id}"
    change = {"owner": project.other.id}
    given = project.ask("PATCH", f"/rest/v1/{table}?{whose}", project.owner, change)
    assert given.refused
    assert project.rows(table) == before


@pytest.mark.parametrize("table", OWNED)
def test_the_owner_changes_and_takes_away_what_is_theirs(
    project: GuardedProject, table: str
) -> None:
    path = f"/rest/v1/{table}"
    others = project.server.postgres.run(
        f"select count(*) from {table} where owner <> '{project.owner.id}'"
    )
    changed = project.ask("PATCH", path, project.owner, {OWNED[table]: "Mine."})
    assert [row[OWNED[table]] for row in changed.body] == ["Mine."]
    assert len(project.ask("DELETE", path, project.owner).body) == 1
    assert project.rows(table) == "[]"
    assert others == project.server.postgres.run(f"select count(*) from {table}")


@pytest.mark.parametrize("table", OWNED)
def test_another_account_puts_nothing_among_what_is_not_its_own(
    project: GuardedProject, table: str
) -> None:
    before = project.rows(table)
    (row,) = json.loads(before)
    for name in ("words", "kept"):  # what the database makes itself
        row.pop(name, None)
    if table == "lrwr_job":
        del row["id"]
    path = f"/rest/v1/{table}"
    assert project.ask("POST", path, project.other, row).refused
    theirs = {**row, "owner": project.other.id}
    if table != "lrwr_library":  # their row, in a library that is not
        assert project.ask("POST", path, project.other, theirs).refused
    upsert = {"Prefer": "resolution=merge-duplicates"}
    assert project.ask("POST", path, project.other, row, upsert).refused
    assert project.rows(table) == before
    everybody = project.server.postgres.run(
        f"select count(*) from {table} where owner = '{project.other.id}'"
    )
    assert everybody == "0"


@pytest.mark.parametrize("table", [*OWNED, "lrwr_migration"])
def test_somebody_without_an_account_sees_and_changes_nothing(
    project: GuardedProject, table: str
) -> None:
    before = project.server.postgres.run(f"select * from {table} order by 1")
    path = f"/rest/v1/{table}"
    where = "number=gt.0" if table == "lrwr_migration" else "owner=not.is.null"
    assert project.ask("GET", path, None).gave_nothing
    assert project.ask("POST", path, None, {}).refused
    assert project.ask("DELETE", f"{path}?{where}", None).gave_nothing
    column = "number" if table == "lrwr_migration" else "owner"
    change = {column: 99 if column == "number" else project.other.id}
    assert project.ask("PATCH", f"{path}?{where}", None, change).gave_nothing
    if table in OWNED:
        project.ask("PATCH", path, None, {OWNED[table]: "Mine."}, NO_REPLY)
    project.ask("DELETE", path, None, None, NO_REPLY)
    assert project.server.postgres.run(f"select * from {table} order by 1") == before


def test_no_account_changes_which_scripts_were_run(project: GuardedProject) -> None:
    path = "/rest/v1/lrwr_migration"
    assert project.ask("POST", path, project.owner, {"number": 99}).refused
    change = {"number": 99}
    one = f"{path}?number=eq.1"
    assert project.ask("PATCH", one, project.owner, change).gave_nothing
    assert project.ask("DELETE", one, project.owner).gave_nothing
    seen = project.ask("GET", f"{path}?select=number&order=number", project.owner)
    assert [one["number"] for one in seen.body] == [
        migration.number for migration in list_supabase_migrations()
    ]


async def test_functions_give_another_account_nothing_of_a_library(
    project: GuardedProject,
) -> None:
    async with asking(project.server, project.other) as hosted:
        threads = SupabaseThreadApi(hosted, project.library)
        queue = SupabaseJobQueue(hosted, project.library)
        assert await threads.digests() == {}
        assert await threads.load(THREAD) is None
        assert await threads.purge(1e12) == 0
        assert await threads.restore() is None
        assert not await threads.delete(THREAD, 1.0)
        assert not await threads.rename(THREAD, "Mine")
        assert await queue.jobs(limit=9) == []
        assert await queue.claim("thief", lease=LEASE) is None


async def test_functions_put_nothing_into_a_library_of_another_account(
    project: GuardedProject,
) -> None:
    before = [project.rows(table) for table in OWNED]
    async with asking(project.server, project.other) as hosted:
        threads = SupabaseThreadApi(hosted, project.library)
        queue = SupabaseJobQueue(hosted, project.library)
        with pytest.raises(LrwrError):
            await speak(threads)
        with pytest.raises(LrwrError):
            await queue.enqueue([JobOrder(JobKind.FORGET, ONE, Pipeline.AGENTIC)])
    assert [project.rows(table) for table in OWNED] == before


async def test_a_claim_is_of_no_use_to_another_account(project: GuardedProject) -> None:
    async with asking(project.server, project.owner) as hosted:
        claim = await SupabaseJobQueue(hosted, project.library).claim("w", lease=LEASE)
    assert claim is not None
    before = project.rows("lrwr_job")
    async with asking(project.server, project.other) as hosted:
        queue = SupabaseJobQueue(hosted, project.library)
        assert not await queue.renew(claim, JobStage.STORE, lease=LEASE)
        assert not await queue.complete(claim)
        await queue.fail(claim, "Mine.", "")
    assert project.rows("lrwr_job") == before


async def test_two_accounts_have_libraries_of_the_same_name(
    project: GuardedProject,
) -> None:
    async with asking(project.server, project.other) as hosted:
        theirs = await create_remote_library(hosted, "The marsh")
        assert [one.id for one in await list_remote_libraries(hosted)] == [theirs]
    async with asking(project.server, project.owner) as hosted:
        assert await create_remote_library(hosted, "The marsh") is None
        assert [one.id for one in await list_remote_libraries(hosted)] == [
            project.library
        ]
    assert theirs != project.library


async def test_functions_answer_nobody_without_an_account(
    project: GuardedProject,
) -> None:
    nobody = Writer("", "", project.server.key)
    for call in ("lrwr_thread_marks", "lrwr_speak", "lrwr_restore_thread"):
        asked = {"p_library": project.library}
        assert project.ask("POST", f"/rest/v1/rpc/{call}", None, asked).refused
    async with asking(project.server, nobody) as hosted:
        with pytest.raises(LrwrError) as caught:
            await create_remote_library(hosted, "Nobody's")
    assert not isinstance(caught.value, StoreProblem)
    assert "lrwr login" in caught.value.hint


@pytest.mark.parametrize("who", ["another", "nobody"])
def test_files_are_seen_and_changed_by_their_owner_alone(
    project: GuardedProject, who: str
) -> None:
    asker = project.other if who == "another" else None
    folder, path = "/storage/v1/object", f"lrwr/{project.file}"
    assert project.ask("GET", f"{folder}/{path}", asker).refused
    assert project.ask("GET", f"{folder}/public/{path}", asker).refused
    assert project.ask("POST", f"{folder}/{path}", asker, b"Mine.").refused
    assert project.ask("PUT", f"{folder}/{path}", asker, b"Mine.").refused
    upsert = {"x-upsert": "true"}
    assert project.ask("POST", f"{folder}/{path}", asker, b"Mine.", upsert).refused
    project.ask("DELETE", f"{folder}/lrwr", asker, {"prefixes": [project.file]})
    listed = project.ask(
        "POST", f"{folder}/list/lrwr", asker, {"prefix": project.owner.id}
    )
    assert listed.refused or listed.body == []
    signed = project.ask("POST", f"{folder}/sign/{path}", asker, {"expiresIn": 60})
    assert signed.refused
    kept = project.ask("GET", f"{folder}/{path}", project.owner)
    assert kept == Answer(200, b"The sluice was shut.")


def test_the_bucket_takes_only_what_lies_in_a_folder_of_the_account(
    project: GuardedProject,
) -> None:
    for name in ("loose", f"x{project.owner.id}/a", f"{project.other.id}/a"):
        path = f"/storage/v1/object/lrwr/{name}"
        assert project.ask("POST", path, project.owner, b"Text.").refused
    public = project.server.postgres.run(
        "select public from storage.buckets where id = 'lrwr'"
    )
    assert public == "f"
