"""A model server that the folder's own settings name, and that the user did not allow."""

import shutil

import pytest

from tests.fakes.pty_terminal import PtyTerminal
from tests.fakes.terminal import LRWR, Terminal

SETTINGS = """\
[model]
use = "local"
name = "qwen3:8b"
base_url = "http://127.0.0.1:9/v1"
"""


@pytest.fixture
def book(empty: Terminal) -> Terminal:
    """A chapter and a note, with settings that turn on a model server."""
    (empty.folder / "lrwr.toml").write_text(SETTINGS, encoding="utf-8")
    (empty.folder / "1.md").write_text("# One\n\nNell lit the lamp.\n", "utf-8")
    return empty


@pytest.mark.parametrize("is_denied", [False, True])
def test_a_model_that_is_not_allowed_leaves_nothing_to_ingest(
    book: Terminal, is_denied: bool
) -> None:
    first = book.run("ingest", ".")
    assert first.code == 0
    assert "qwen3:8b: not asked." in first.out
    assert "no reply received" not in first.out
    if is_denied:
        assert book.run("privacy", "deny", "model-server").code == 0
    assert "0 documents processed" in book.run("ingest").out
    status = book.run("status")
    assert book.run("status", "--json").json["changed"] == 0
    assert "up to date" in status.out
    assert "qwen3:8b, which you have not allowed" in status.out
    doctor = book.run("doctor")
    assert "other settings" not in doctor.out
    words = "denied the model server" if is_denied else "have not allowed it"
    assert doctor.out.count(words) == 1
    assert book.run("privacy", "allow", "model-server").code == 0
    assert book.run("status", "--json").json["changed"] == 1


def test_the_question_names_the_danger_and_this_machine(book: Terminal) -> None:
    words = [str(LRWR), "ingest", "."]
    with PtyTerminal(words, folder=book.folder, env=book.env, size=(400, 36)) as screen:
        screen.expect("That address is this machine")
        screen.press("n", "enter")
        assert screen.leave() == 0


def test_only_commands_that_contact_a_project_ask_for_it(book: Terminal) -> None:
    address = '[supabase]\nurl = "http://127.0.0.1:9"\n'
    (book.folder / "lrwr.toml").write_text(address, encoding="utf-8")
    words = [str(LRWR), "ingest", "."]
    with PtyTerminal(words, folder=book.folder, env=book.env) as screen:
        assert screen.leave() == 0
        assert "Supabase" not in screen.text
    (book.folder / "lrwr.toml").write_text(
        f'[records]\nkeeper = "supabase"\n{address}', encoding="utf-8"
    )
    shutil.rmtree(book.folder / ".lrwr")
    hint = "run `lrwr privacy allow supabase`. Then download one with `lrwr pull`"
    assert hint in book.run("status").err
    refused = book.run("pull")
    assert refused.code != 0
    assert "lrwr privacy allow supabase" in refused.err
