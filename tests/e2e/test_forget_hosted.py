"""Forgetting a library that is kept in a Supabase project, too."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from lrwr.core.adapters.auth.project import SupabaseConnection
from lrwr.core.adapters.files.supabase import SupabaseFileStore
from lrwr.core.adapters.storage.supabase.records import list_remote_libraries
from lrwr.core.model.errors import ExitCode
from tests.fakes.hosted import PASSWORD, Writer, asking, sign_up
from tests.fakes.supabase_server import SupabaseServer
from tests.fakes.terminal import Ran, Terminal

pytestmark = pytest.mark.supabase

NO_KEYRING = {"PYTHON_KEYRING_BACKEND": "keyring.backends.fail.Keyring"}
PAGE = "# One\n\nNell Tallow oiled the hinge of the sluice before the tide came.\n"


@pytest.fixture
def nell(supabase: SupabaseServer) -> Writer:
    return sign_up(supabase)


@pytest.fixture
def pushed(
    supabase: SupabaseServer, nell: Writer, tmp_path: Path
) -> Iterator[Terminal]:
    """A book that was read, and copied up."""
    book = tmp_path / "book"
    book.mkdir()
    (book / "1.md").write_text(PAGE, encoding="utf-8")
    terminal = Terminal(
        book,
        home=tmp_path / "home",
        LRWR_EMBEDDING_MODEL="off",
        LRWR_SUPABASE_URL=supabase.url,
        SUPABASE_KEY=supabase.key,
        **NO_KEYRING,
    )
    assert terminal.run("login", nell.email, given=f"{PASSWORD}\n").code == 0
    assert terminal.run("ingest", ".").code == 0
    assert terminal.run("push").code == 0
    yield terminal
    supabase.gate.refusals.clear()


async def kept(server: SupabaseServer, writer: Writer) -> list[tuple[str, int]]:
    """Return the libraries of an account, each with how many files it has."""
    project = SupabaseConnection(server.url, server.key, own=True)

    async def token() -> str:
        return writer.token

    found = []
    async with asking(server, writer) as hosted:
        for one in await list_remote_libraries(hosted):
            files = SupabaseFileStore(project, token, writer.id, one.id)
            found.append((one.name, len(await files.stored_names())))
            await files.aclose()
    return found


def files_in(terminal: Terminal) -> list[str]:
    return sorted(path.name for path in terminal.folder.rglob("*") if path.is_file())


def told(ran: Ran) -> str:
    return " ".join(ran.err.split())


async def test_rows_and_files_go_there_and_all_goes_here(
    pushed: Terminal, supabase: SupabaseServer, nell: Writer
) -> None:
    assert await kept(supabase, nell) == [("book", 1)]
    shown = pushed.run("forget", "--dry-run")
    assert "Supabase at 127.0.0.1: the library book" in shown.out
    ran = pushed.run("forget", "--yes")
    assert ran.code == 0, ran.err
    assert "Deleted 1 file, book at Supabase at 127.0.0.1." in told(ran)
    assert await kept(supabase, nell) == []
    assert files_in(pushed) == ["1.md"]


async def test_a_project_that_is_away_is_told_of_and_asked_again(
    pushed: Terminal, supabase: SupabaseServer, nell: Writer
) -> None:
    supabase.gate.refusals.extend([503] * 9)
    ran = pushed.run("forget", "--yes")
    assert ran.code == ExitCode.PARTIAL
    assert "Not deleted: Supabase: " in ran.out
    assert files_in(pushed) == [".gitignore", "1.md", "forgetting.json"]
    supabase.gate.refusals.clear()
    assert await kept(supabase, nell) == [("book", 1)]
    assert pushed.run("forget", "--yes").code == 0
    assert await kept(supabase, nell) == []
    assert files_in(pushed) == ["1.md"]


async def test_a_project_that_was_denied_is_not_asked_before_it_is_allowed(
    pushed: Terminal, supabase: SupabaseServer, nell: Writer
) -> None:
    assert pushed.run("privacy", "deny", "supabase").code == 0
    shown = pushed.run("forget", "--dry-run")
    assert "The library book stays at 127.0.0.1. You denied Supabase" in shown.out
    ran = pushed.run("forget", "--yes")
    assert ran.code == ExitCode.PARTIAL
    assert "Not deleted: Supabase: You denied Supabase for this folder" in ran.out
    assert await kept(supabase, nell) == [("book", 1)]
    assert pushed.run("privacy", "allow", "supabase").code == 0
    assert pushed.run("forget", "--yes").code == 0
    assert await kept(supabase, nell) == []
    assert files_in(pushed) == ["1.md"]


async def test_another_account_deletes_nothing_and_is_told_whose_it_is(
    pushed: Terminal, supabase: SupabaseServer, nell: Writer
) -> None:
    mags = sign_up(supabase)
    assert pushed.run("login", mags.email, given=f"{PASSWORD}\n").code == 0
    ran = pushed.run("forget", "--yes")
    assert ran.code == ExitCode.PARTIAL
    assert "belongs to a different account, not to" in ran.out
    assert pushed.run("logout").code == 0
    nobody = pushed.run("forget", "--yes")
    assert nobody.code == ExitCode.PARTIAL
    assert "lrwr login" in nobody.out
    assert await kept(supabase, nell) == [("book", 1)]
    assert pushed.run("login", nell.email, given=f"{PASSWORD}\n").code == 0
    assert pushed.run("forget", "--yes").code == 0
    assert await kept(supabase, nell) == []


async def test_here_alone_leaves_it_there_for_other_machines(
    pushed: Terminal, supabase: SupabaseServer, nell: Writer
) -> None:
    ran = pushed.run("forget", "--here", "--yes")
    assert ran.code == ExitCode.PARTIAL
    assert "Your other machines can still use it" in ran.out
    assert await kept(supabase, nell) == [("book", 1)]
    assert files_in(pushed) == ["1.md"]
