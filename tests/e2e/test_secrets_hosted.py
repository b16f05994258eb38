"""Keys and texts are planted and hunted on the ways to a library in a project."""

import json
import os
import re
import shutil
import sqlite3
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AsyncExitStack, ExitStack, closing, contextmanager
from pathlib import Path

import pytest

from lrwr.core.adapters.auth.project import SupabaseConnection
from lrwr.core.adapters.files.supabase import SupabaseFileStore
from lrwr.core.adapters.http.egress_log import EgressLogger
from lrwr.core.adapters.storage.sqlite.database import SqliteDatabase
from lrwr.core.adapters.storage.sqlite.egress_log import SqliteEgressLog
from lrwr.core.adapters.storage.supabase.library_link import (
    create_library_link,
    store_library_link,
)
from lrwr.core.adapters.storage.supabase.rpc import SupabaseRpc
from lrwr.core.model.errors import ExitCode, LrwrError
from tests.fakes import planted_secrets
from tests.fakes.hosted import PASSWORD, sign_up
from tests.fakes.hostile_gate import Came, SigningInServer
from tests.fakes.hostile_project import WORST, HostileProject, Worst
from tests.fakes.leak_checks import ASKED, NOSY, Desk, wrongly_sent
from tests.fakes.planted_secrets import (
    KEYS,
    MANUSCRIPT,
    NOTES,
    SESSION,
    TEXTS,
    leaking_files,
    leaks,
)
from tests.fakes.supabase_server import KEY, SupabaseServer
from tests.fakes.terminal import Ran

if os.name == "nt":
    pytest.skip("rights of files are other ones", allow_module_level=True)

pytestmark = pytest.mark.timeout(180)

EMAIL = "nell@example.org"
LIBRARY = "1d2c3b4a-0000-4000-8000-000000000002"
STORED = re.compile(r"/storage/v1/object/lrwr/[0-9a-f-]{36}/[0-9a-f-]{36}/[0-9a-f]{64}")
HASTY = {"LRWR_SUPABASE_TIMEOUT": "1"}
"""What is set where a project may say nothing."""

HARD = tuple(one for one in WORST if one not in ("odd", "silent"))
"""What no function that says nothing could answer, and is soon over."""

Ways = tuple[HostileProject, HostileProject]
"""A project before what is behind, and where its redirects lead."""


@contextmanager
def before(behind: str) -> Iterator[Ways]:
    """Lend out a project before what is at an address."""
    with ExitStack() as stack:
        elsewhere = stack.enter_context(HostileProject(""))
        project = HostileProject(behind, elsewhere.origin)
        yield stack.enter_context(project), elsewhere


def check(desk: Desk, ways: Ways) -> None:
    """Search what was sent since the last time, and all that is kept."""
    project, elsewhere = ways
    assert project.asked
    for came in project.asked:
        assert wrongly_sent(came, desk.secrets) == [], came
    project.asked.clear()
    assert elsewhere.asked == []
    desk.hunt()


@pytest.fixture(scope="module")
def hostile() -> Iterator[Ways]:
    with ExitStack() as stack:
        signing_in = stack.enter_context(SigningInServer(**SESSION))
        yield stack.enter_context(before(signing_in.origin))


@pytest.fixture(scope="module")
def desk(hostile: Ways, tmp_path_factory: pytest.TempPathFactory) -> Desk:
    """A desk whose book was read and asked about, and where Nell is signed in."""
    secrets = {**planted_secrets.SECRETS, "key": KEYS["SUPABASE_KEY"]}
    del secrets["SUPABASE_KEY"]
    url = hostile[0].origin
    place = tmp_path_factory.mktemp("hosted")
    made = Desk(place, secrets, **KEYS, LRWR_SUPABASE_URL=url)
    made.write()
    for words in (("ingest", "."), ("ask", ASKED)):
        assert made.run(*words).code == 0
    signed_in = made.run("login", EMAIL, given=f"{planted_secrets.PASSWORD}\n")
    assert signed_in.code == 0, signed_in.err
    return made


@pytest.fixture(scope="module")
def bound(desk: Desk, hostile: Ways) -> Desk:
    """A desk whose library is kept in the hostile project."""
    place = desk.place.with_name("bound")
    made = Desk(place, desk.secrets, **desk.env)
    shutil.copytree(desk.book, made.book, dirs_exist_ok=True)
    made.keep_there()
    signed_in = made.run("login", EMAIL, given=f"{planted_secrets.PASSWORD}\n")
    assert signed_in.code == 0, signed_in.err
    with closing(sqlite3.connect(made.book / ".lrwr/library.db")) as library, library:
        store_library_link(
            library, create_library_link(hostile[0].origin, EMAIL, LIBRARY, "book")
        )
    return made


MOVING = (
    (("login", EMAIL), "/auth/"),
    (("push", "--name", MANUSCRIPT), "/rest/"),
    (("whoami", "--json"), "/auth/"),
    (("push",), "/auth/"),
    (("pull",), "/rest/"),
)


@pytest.mark.parametrize("worst", WORST)
def test_nothing_is_told_of_what_a_hostile_project_says_back(
    desk: Desk, hostile: Ways, worst: Worst
) -> None:
    for words, at in MOVING[:2] if worst == "silent" else MOVING:
        given = f"{planted_secrets.PASSWORD}\n" if words[0] == "login" else ""
        with hostile[0].doing(worst, at=at):
            assert desk.run(*words, given=given, **HASTY).code != 0, words
    check(desk, hostile)


@pytest.mark.parametrize("worst", WORST)
def test_a_library_that_is_kept_in_a_hostile_project_tells_it_alone(
    bound: Desk, hostile: Ways, worst: Worst
) -> None:
    bound.add(str(worst))
    with hostile[0].doing(worst, at="/rest/"):
        for words in (("ask", ASKED), ("threads",), ("ingest",)):
            ran = bound.run(*words, **HASTY)
            assert ran.code != ExitCode.INTERNAL, (words, ran.err)
    check(bound, hostile)


async def refused(way: Awaitable[object]) -> None:
    with pytest.raises(LrwrError) as caught:
        await way
    error = caught.value
    told = f"{error} {error.hint} {error!r}"
    assert leaks(told, {**planted_secrets.SECRETS, **TEXTS}) == []


async def test_the_log_of_what_was_sent_has_no_word_of_it(
    hostile: Ways, tmp_path: Path
) -> None:
    async def token() -> str:
        return planted_secrets.TOKEN

    away = SupabaseConnection(hostile[0].origin, KEYS["SUPABASE_KEY"])
    async with AsyncExitStack() as stack:
        database = SqliteDatabase(tmp_path / "library.db")
        stack.push_async_callback(database.aclose)
        request_logger = EgressLogger(
            SqliteEgressLog(database), lambda: 1.0, lambda *_: None
        )
        hosted = SupabaseRpc(away, token, request_logger)
        stack.push_async_callback(hosted.aclose)
        files = SupabaseFileStore(away, token, "an-account", LIBRARY, request_logger)
        stack.push_async_callback(files.aclose)
        for worst in HARD:
            with hostile[0].doing(worst):
                await refused(hosted.call("put_record", key=NOTES, body=MANUSCRIPT))
                await refused(files.put(MANUSCRIPT.encode()))
        report = await request_logger.log.report(limit=99)
        assert len(report.newest) == 2 * len(HARD)
    hostile[0].asked.clear()
    assert leaking_files(tmp_path, {**planted_secrets.SECRETS, **TEXTS}) == []


@pytest.fixture
def project(supabase: SupabaseServer) -> Iterator[Ways]:
    with before(supabase.url) as ways:
        yield ways


Machine = Callable[[str], Desk]


@pytest.fixture
def machine(supabase: SupabaseServer, project: Ways, tmp_path: Path) -> Machine:
    """Machines of Nell's, at each of which she is signed in."""
    nell = sign_up(supabase)

    def made(name: str) -> Desk:
        secrets = {"password": PASSWORD, "key": KEY}
        env = {"SUPABASE_KEY": KEY, "LRWR_SUPABASE_URL": project[0].origin}
        desk = Desk(tmp_path / name, secrets, **env)
        signed_in = desk.run("login", nell.email, given=f"{PASSWORD}\n")
        assert signed_in.code == 0, signed_in.err
        (file,) = desk.place.rglob("session.json")
        session = json.loads(json.loads(file.read_text(encoding="utf-8"))["session"])
        secrets["token"] = session["access_token"]
        secrets["renewing"] = session["refresh_token"]
        return desk

    return made


def well(desk: Desk, *words: str) -> Ran:
    ran = desk.run(*words)
    assert ran.code == 0, (words, ran.err)
    return ran


@pytest.mark.supabase
def test_where_all_goes_well_a_project_is_told_each_thing_in_its_place(
    supabase: SupabaseServer, project: Ways, machine: Machine
) -> None:
    desk = machine("first")
    desk.write()
    well(desk, "ingest", ".")
    well(desk, "ask", ASKED)
    pushed = desk.start("push", **NOSY)
    assert pushed.code == 0, pushed.err
    desk.add("of late")
    desk.keep_there()
    for words in (
        ("ingest",),
        ("ask", ASKED),
        ("threads",),
        ("jobs",),
        ("search", NOTES),
    ):
        well(desk, *words)
    well(desk, "push")
    other = machine("second")
    well(other, "pull", "--into", "manuscript")
    other.keep_there()
    well(other, "ask", ASKED)
    asked = project[0].asked
    assert {*leaks("".join(one.headers for one in asked), desk.secrets)} == {
        "key", "token",
    }  # fmt: skip
    sent = "".join(one.body for one in asked)
    assert {*leaks(sent, TEXTS)} == {*TEXTS}
    files = [
        one.place for one in asked if one.method == "POST" and STORED.match(one.place)
    ]
    assert len(files) == 3
    assert all(STORED.fullmatch(place) for place in files)
    names = supabase.postgres.run("select name, metadata from storage.objects")
    assert leaks(names, {**TEXTS, **desk.secrets, "a file": "1.md"}) == []
    other.hunt()
    check(desk, project)


STOPS = (
    (("push",), "lrwr_put_record"),
    (("push",), "lrwr_put_thread"),
    (("push",), "/storage/"),
)
FETCHING = (
    (("pull",), "lrwr_changes"),
    (("pull",), "lrwr_thread_whole"),
    (("pull",), "/storage/"),
)


@pytest.mark.supabase
def test_a_project_that_turns_hostile_on_the_way_has_nothing_told_of_what_it_says(
    project: Ways, machine: Machine
) -> None:
    desk, other = machine("first"), machine("second")
    desk.write()
    well(desk, "ingest", ".")
    well(desk, "ask", ASKED)

    def fails(one: Desk, words: tuple[str, ...], at: str, *worst_: Worst) -> set[int]:
        codes = set()
        for worst in worst_ or HARD:
            with project[0].doing(worst, at=at):
                codes.add(one.run(*words, **HASTY).code)
        assert ExitCode.INTERNAL not in codes, (words, at)
        return codes

    for words, at in STOPS:
        assert 0 not in fails(desk, words, at)
    assert 0 not in fails(desk, ("push",), "/storage/", "silent")
    well(desk, "push")
    for words, at in FETCHING:
        assert 0 not in fails(other, words, at)
    well(other, "pull")
    desk.keep_there()
    assert fails(desk, ("ask", ASKED), "lrwr_keep_turn") == {0}
    desk.add("of late")
    assert 0 not in fails(desk, ("ingest",), "lrwr_put_record", 400, 500, "silent")
    well(desk, "ingest")
    assert {*leaks("".join(one.body for one in project[0].asked), TEXTS)} == {*TEXTS}
    other.hunt()
    check(desk, project)


def test_the_hunt_finds_what_is_planted(desk: Desk, hostile: Ways) -> None:
    key, token = KEYS["SUPABASE_KEY"], planted_secrets.TOKEN
    good = f"apikey: {key}\nauthorization: Bearer {token}"
    rpc = "/rest/v1/rpc/lrwr_put_record"
    assert (
        wrongly_sent(Came("POST", rpc, good, f"{MANUSCRIPT} {NOTES}"), desk.secrets)
        == []
    )
    for came, found in (
        (Came("GET", f"{rpc}?apikey={key}", good, ""), ["key"]),
        (Came("GET", f"/storage/v1/{MANUSCRIPT}.md", good, ""), ["manuscript"]),
        (Came("POST", rpc, f"{good}\nx-info: {token}", ""), ["token"]),
        (Came("POST", rpc, f"apikey: {token}", ""), ["token"]),
        (Came("POST", rpc, good, planted_secrets.PASSWORD), ["password"]),
        (Came("POST", rpc, good, token), ["token"]),
        (Came("POST", "/auth/v1/user", good, NOTES), ["notes"]),
    ):
        assert wrongly_sent(came, desk.secrets) == found
    log = desk.place / "home/state/log"
    for leak in (token[-9:], planted_secrets.PASSWORD, f"read {MANUSCRIPT}"):
        log.write_text(leak, encoding="utf-8")
        with pytest.raises(AssertionError):
            desk.hunt()
    log.unlink()
    with pytest.raises(AssertionError):
        desk.run("push", LRWR_SUPABASE_URL=f"ftp://{planted_secrets.TOKEN}")
    desk.hunt()
