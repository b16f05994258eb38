import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fakes.hosted import PASSWORD, Writer, sign_up
from tests.fakes.moved import records_of, write_manuscript
from tests.fakes.supabase_server import SupabaseServer
from tests.fakes.terminal import Terminal

pytestmark = pytest.mark.supabase

NO_KEYRING = {"PYTHON_KEYRING_BACKEND": "keyring.backends.fail.Keyring"}
KEPT_THERE = '[records]\nkeeper = "supabase"\n'
NOT_HERE_YET = "Changes made on other machines are not available yet"
KEPT_HERE = "This thread is stored on this machine only"


@pytest.fixture
def nell(supabase: SupabaseServer) -> Writer:
    return sign_up(supabase)


def signed_in(supabase: SupabaseServer, nell: Writer, place: Path) -> Terminal:
    """A folder on a machine of its own, whose book is kept in the project."""
    folder = place / "book"
    folder.mkdir(parents=True)
    (folder / "lrwr.toml").write_text(KEPT_THERE, encoding="utf-8")
    terminal = Terminal(
        folder,
        home=place / "home",
        LRWR_EMBEDDING_MODEL="off",
        LRWR_SUPABASE_URL=supabase.url,
        SUPABASE_KEY=supabase.key,
        **NO_KEYRING,
    )
    assert terminal.run("login", nell.email, given=f"{PASSWORD}\n").code == 0
    return terminal


@pytest.fixture
def train(supabase: SupabaseServer, nell: Writer, tmp_path: Path) -> Iterator[Terminal]:
    terminal = signed_in(supabase, nell, tmp_path / "train")
    write_manuscript(terminal.folder)
    here = {"LRWR_RECORDS_KEEPER": "embedded"}
    assert terminal.run("ingest", ".", **here).code == 0
    assert terminal.run("ask", "How old is Nell?", **here).code == 0
    assert terminal.run("privacy", "allow", "supabase").code == 0
    assert terminal.run("push").code == 0
    yield terminal
    supabase.gate.refusals.clear()


def test_a_writer_on_a_train_asks_and_looks_and_nothing_is_lost(
    train: Terminal, supabase: SupabaseServer, nell: Writer, tmp_path: Path
) -> None:
    away = supabase.gate.refusals
    away.extend([503] * 600)
    asked = train.run("ask", "How old is Nell Tallow?", "--thread", "1", "--json")
    assert asked.code == 0
    assert "twelve" in asked.json["answer"]
    for words in (NOT_HERE_YET, KEPT_HERE):
        assert asked.err.count(words) == 1
    chat = train.run("chat", given="Who keeps the count?\nWho lit the lantern?\n")
    assert chat.code == 0
    assert (chat.out + chat.err).count(KEPT_HERE) == 1
    (talk, first) = train.run("threads", "--json").json
    assert (first["turns"], talk["turns"]) == (2, 2)
    assert "lit the lantern?" in train.run("threads", "show", "1").out
    for look in (["characters", "Nell Tallow"], ["gaps"], ["check"]):
        ran = train.run(*look)
        assert ran.code == 0, ran.err
        assert ran.err.count(NOT_HERE_YET) == 1
    away.clear()
    assert train.run("search", "lantern").code == 0
    other = signed_in(supabase, nell, tmp_path / "other")
    shutil.copytree(train.folder / "chapters", other.folder / "chapters")
    assert other.run("privacy", "allow", "supabase").code == 0
    assert other.run("pull").code == 0
    assert records_of(other.folder) == records_of(train.folder)
    assert [one["turns"] for one in other.run("threads", "--json").json] == [2, 2]
