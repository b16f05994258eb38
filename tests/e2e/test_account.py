from collections.abc import Iterator
from pathlib import Path

import pytest

from lrwr.core.model.errors import ExitCode
from tests.fakes.hosted import PASSWORD, Writer, sign_up
from tests.fakes.supabase_server import SupabaseServer
from tests.fakes.terminal import Terminal

NO_KEYRING = {"PYTHON_KEYRING_BACKEND": "keyring.backends.fail.Keyring"}
COMMANDS = (("login", "nell@example.org"), ("logout",), ("whoami",))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "book"
    made.mkdir()
    return made


@pytest.fixture
def terminal(supabase: SupabaseServer, folder: Path) -> Iterator[Terminal]:
    yield Terminal(
        folder,
        home=folder.parent / "home",
        LRWR_SUPABASE_URL=supabase.url,
        SUPABASE_KEY=supabase.key,
        **NO_KEYRING,
    )
    supabase.gate.refusals.clear()


@pytest.fixture
def nell(supabase: SupabaseServer) -> Writer:
    return sign_up(supabase)


def session_of(terminal: Terminal) -> list[Path]:
    home = Path(terminal.env["HOME"])
    return [path for path in home.rglob("session.json*") if path.is_file()]


@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: words[0])
def test_without_a_project_it_is_said_what_to_set(
    folder: Path, words: tuple[str, ...]
) -> None:
    ran = Terminal(folder, home=folder.parent / "home", **NO_KEYRING).run(
        *words, given="x\n"
    )
    assert ran.code == ExitCode.SETTINGS
    assert ran.out == ""
    assert "supabase" in ran.err


@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: words[0])
def test_a_folder_from_elsewhere_is_given_neither_password_nor_session(
    folder: Path, words: tuple[str, ...]
) -> None:
    theirs = '[supabase]\nurl = "https://theirs.example.org"\n'
    (folder / "lrwr.toml").write_text(theirs, encoding="utf-8")
    ran = Terminal(
        folder,
        home=folder.parent / "home",
        SUPABASE_KEY="sb_publishable_a",
        **NO_KEYRING,
    ).run(*words, given="x\n")
    assert ran.code == ExitCode.SETTINGS
    assert "theirs.example.org" in ran.err


@pytest.mark.supabase
def test_a_writer_signs_in_is_known_and_signs_out(
    terminal: Terminal, nell: Writer, supabase: SupabaseServer
) -> None:
    ran = terminal.run("login", nell.email, given=f"{PASSWORD}\n")
    assert ran.code == 0
    assert ran.out == f"Signed in as {nell.email} at 127.0.0.1.\n"
    assert "Signing in sends no manuscript text" in ran.err
    (file,) = session_of(terminal)
    assert PASSWORD not in file.read_text(encoding="utf-8") + ran.out + ran.err
    assert terminal.run("whoami").out == f"{nell.email} at 127.0.0.1\n"
    assert terminal.run("whoami", "--json").json == {
        "signed_in": True,
        "email": nell.email,
        "account": nell.id,
        "project": supabase.url,
        "kept_in": "file",
    }
    assert terminal.run("logout").out == "Signed out of 127.0.0.1.\n"
    assert session_of(terminal) == []
    assert terminal.run("logout").out == "No account was signed in at 127.0.0.1.\n"
    nobody = terminal.run("whoami", "--json")
    assert nobody.code == ExitCode.FAILED
    assert nobody.json["signed_in"] is False


@pytest.mark.supabase
def test_a_wrong_password_is_said_in_words(terminal: Terminal, nell: Writer) -> None:
    ran = terminal.run("login", nell.email, given="wrong\n")
    assert ran.code == ExitCode.FAILED
    assert "The email address or the password is wrong" in ran.err
    assert session_of(terminal) == []
    assert terminal.run("login", given="").code == ExitCode.SETTINGS
    assert terminal.run("login", nell.email, given="").code == ExitCode.FAILED


@pytest.mark.supabase
def test_who_cannot_reach_the_project_is_signed_out_here_all_the_same(
    terminal: Terminal, nell: Writer, supabase: SupabaseServer
) -> None:
    assert terminal.run("login", nell.email, given=f"{PASSWORD}\n").code == 0
    supabase.gate.refusals.append(503)
    ran = terminal.run("logout")
    assert ran.code == 0
    assert "Deleted the session stored here" in ran.out
    assert session_of(terminal) == []


@pytest.mark.supabase
def test_a_project_that_is_not_there_is_a_service_that_does_not_answer(
    terminal: Terminal, nell: Writer
) -> None:
    assert terminal.run("login", nell.email, given=f"{PASSWORD}\n").code == 0
    nowhere = {"LRWR_SUPABASE_URL": "http://127.0.0.1:9"}
    ran = terminal.run("login", nell.email, given=f"{PASSWORD}\n", **nowhere)
    assert ran.code == ExitCode.SERVICE
    assert "cannot be reached" in ran.err
    assert terminal.run("whoami", **nowhere).code == ExitCode.FAILED
    assert terminal.run("whoami").code == 0
