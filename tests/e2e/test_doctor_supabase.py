"""The doctor's row of records, against a project with lrwr's tables."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from lrwr.core.adapters.storage.supabase.records import list_supabase_migrations
from lrwr.core.model.errors import ExitCode
from tests.fakes.hosted import PASSWORD, Writer, sign_up
from tests.fakes.moved import edit, write_manuscript
from tests.fakes.supabase_server import KEY, SupabaseServer
from tests.fakes.terminal import Terminal

pytestmark = pytest.mark.supabase

NO_KEYRING = {"PYTHON_KEYRING_BACKEND": "keyring.backends.fail.Keyring"}
KEPT_THERE = {"LRWR_RECORDS_KEEPER": "supabase"}
LAST = [one for one in list_supabase_migrations() if one.is_required][-1]

Desk = Callable[[str], Terminal]


@pytest.fixture
def nell(supabase: SupabaseServer) -> Writer:
    return sign_up(supabase)


@pytest.fixture
def desk(supabase: SupabaseServer, tmp_path: Path) -> Iterator[Desk]:
    def made(name: str) -> Terminal:
        """A folder on a machine of its own, where nobody is signed in."""
        folder = tmp_path / name / "book"
        folder.mkdir(parents=True)
        return Terminal(
            folder,
            home=tmp_path / name / "home",
            LRWR_EMBEDDING_MODEL="off",
            LRWR_SUPABASE_URL=supabase.url,
            SUPABASE_KEY=supabase.key,
            **NO_KEYRING,
        )

    yield made
    supabase.gate.refusals.clear()


def look(terminal: Terminal, **env: str) -> tuple[int, str, str, str]:
    """Return how the doctor ends, and the state, detail and remedy of the row."""
    ran = terminal.run("doctor", "--json", **env)
    assert KEY not in ran.out + ran.err
    (row,) = [one for one in ran.json["findings"] if one["part"] == "records"]
    return ran.code, row["state"], row["detail"], row["remedy"]


def login(terminal: Terminal, nell: Writer) -> None:
    assert terminal.run("login", nell.email, given=f"{PASSWORD}\n").code == 0


def pushed(terminal: Terminal, nell: Writer) -> Terminal:
    """Read a manuscript and take it to the project."""
    write_manuscript(terminal.folder)
    login(terminal, nell)
    assert terminal.run("ingest", ".").code == 0
    assert terminal.run("push").code == 0
    return terminal


def test_the_row_goes_along_from_an_empty_project_to_a_library_that_is_kept_there(
    desk: Desk, nell: Writer
) -> None:
    first = desk("first")
    assert look(first)[:2] == (0, "off")
    login(first, nell)
    code, state, detail, _ = look(first)
    assert (code, state) == (0, "ok")
    assert detail.startswith(f"{nell.email} at 127.0.0.1. ")
    assert "`lrwr push` uploads it" in detail
    code, state, detail, remedy = look(first, **KEPT_THERE)
    assert (code, state) == (ExitCode.FAILED, "broken")
    assert "not been uploaded to the project yet" in detail
    assert "lrwr pull" in remedy
    pushed(first, nell)
    for env in ({}, KEPT_THERE):
        code, state, detail, remedy = look(first, **env)
        assert (code, state, remedy) == (0, "ok", "")
        assert "The project has the library book, which is up to date" in detail


def test_a_second_machine_is_told_how_far_behind_it_is(
    desk: Desk, nell: Writer
) -> None:
    first, second = pushed(desk("first"), nell), desk("second")
    login(second, nell)
    assert second.run("pull", "--no-files").code == 0
    edit(first.folder, "The stones came up again.")
    assert first.run("ingest", **KEPT_THERE).code == 0
    code, state, detail, _ = look(second, **KEPT_THERE)
    assert (code, state) == (0, "ok")
    assert "behind" in detail


def test_what_was_read_apart_is_told_with_what_to_do(desk: Desk, nell: Writer) -> None:
    first = pushed(desk("first"), nell)
    edit(first.folder, "The stones came up again.")
    assert first.run("ingest").code == 0
    assert "documents have been ingested on this machine" in look(first)[2]
    code, state, _, remedy = look(first, **KEPT_THERE)
    assert (code, state) == (ExitCode.FAILED, "broken")
    assert remedy == "Upload them with `lrwr push`."


def test_scripts_that_were_not_run_and_a_project_that_fails(
    desk: Desk, nell: Writer, supabase: SupabaseServer
) -> None:
    first = desk("first")
    login(first, nell)
    supabase.postgres.run(f"delete from lrwr_migration where number = {LAST.number}")
    try:
        code, state, detail, remedy = look(first, **KEPT_THERE)
    finally:
        supabase.postgres.run(LAST.sql)
    assert (code, state) == (ExitCode.FAILED, "broken")
    assert LAST.name in detail
    assert "SQL editor" in remedy
    supabase.gate.refusals.append(503)
    code, state, detail, _ = look(first, **KEPT_THERE)
    assert (code, state) == (0, "warning")
    assert "failed (503)" in detail
