"""Folders that may only be read, disks that are full, libraries of other versions."""

import json
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

import pytest

from lrwr.core.model.errors import ExitCode
from tests.fakes import restricted_process, several
from tests.fakes.terminal import LRWR, Ran, Terminal, each_of

TEXT = "# {n}\n\n" + "The frog {n} sat on the sluice gate and sang. " * 400


@pytest.fixture
def book(empty: Terminal) -> Terminal:
    (empty.folder / "1.md").write_text("# One\n\nThe frog is shy.", encoding="utf-8")
    assert empty.run("ingest", ".").code == 0
    return empty


def in_want(terminal: Terminal, want: str, *words: str) -> Ran:
    command = [sys.executable, restricted_process.__file__, want, str(LRWR), *words]
    return terminal.command(command)


def without_rights(terminal: Terminal, *commands: list[str]) -> list[Ran]:
    """Run commands in one process, which may write only where its user may."""
    ran = [sys.executable, several.__file__, json.dumps(commands)]
    want = [sys.executable, restricted_process.__file__, "no-rights", *ran]
    return each_of(terminal.command(want))


def check_one_sentence(ran: Ran) -> None:
    assert ran.code == ExitCode.STORE
    assert ran.out == ""
    assert ran.err.startswith("lrwr: ")
    assert ran.err.count("\n") == 2
    assert "\nhint: " in ran.err


def forbid_writing(folder: Path) -> None:
    for file in folder.iterdir():
        file.chmod(0o444)
    folder.chmod(0o555)


def test_a_folder_that_may_only_be_read_still_answers(book: Terminal) -> None:
    state = book.folder / ".lrwr"
    (book.folder / "2.md").write_text("# Two\n\nThe toad.", encoding="utf-8")
    forbid_writing(state)
    before = sorted(path.name for path in state.iterdir())
    looks = (["search", "frog"], ["ask", "Who is shy?"], ["status"], ["jobs"])
    *looked, searched, ingested, repaired, doctor = without_rights(
        book, *looks, ["search", "frog"], ["ingest"], ["repair"], ["doctor"]
    )
    for ran in looked:
        assert ran.code == 0, ran.err
        assert ran.out
    assert "shy" in searched.out
    for ran, reason in (
        (ingested, "is not writable"),
        (repaired, "cannot be written: Permission denied"),
    ):
        check_one_sentence(ran)
        assert reason in ran.err
    assert doctor.code == 0
    assert "read-only" in doctor.out
    assert sorted(path.name for path in state.iterdir()) == before
    state.chmod(0o755)


def test_a_folder_where_no_library_can_be_made_says_so(empty: Terminal) -> None:
    (empty.folder / "1.md").write_text("# One\n\nThe frog.", encoding="utf-8")
    empty.folder.chmod(0o555)
    check_one_sentence(in_want(empty, "no-rights", "ingest", "."))
    empty.folder.chmod(0o755)


@pytest.mark.parametrize("most", [1_000, 60_000, 200_000])
@pytest.mark.exhaustive
def test_a_full_disk_is_one_sentence_and_the_library_is_whole(
    book: Terminal, most: int
) -> None:
    for number in range(2, 12):
        text = TEXT.format(n=number)
        (book.folder / f"{number}.md").write_text(text, encoding="utf-8")
    ran = in_want(book, str(most), "ingest")
    check_one_sentence(ran)
    assert "could not be written" in ran.err
    findings = book.run("doctor", "--json").json["findings"]
    parts = {finding["part"]: finding["state"] for finding in findings}
    assert (parts["database"], parts["word index"]) == ("ok", "ok")
    assert "shy" in book.run("search", "frog").out
    with closing(sqlite3.connect(book.folder / ".lrwr/library.db")) as connection:
        connection.execute("update job set lease_until = 0 where state = 'running'")
        connection.commit()
    assert book.run("ingest").code == 0
    assert book.run("status", "--json").json["documents"] == 11


def test_a_library_of_a_newer_lrwr_is_refused_and_left_alone(book: Terminal) -> None:
    database = book.folder / ".lrwr" / "library.db"
    with closing(sqlite3.connect(database)) as connection:
        (current,) = connection.execute("pragma user_version").fetchone()
        connection.execute(f"pragma user_version = {current + 2}")
    for words in (["search", "frog"], ["status"], ["ingest"], ["repair"]):
        ran = book.run(*words)
        check_one_sentence(ran)
        assert "newer version of lrwr" in ran.err
        assert "Upgrade" in ran.err
    assert book.run("doctor").code == ExitCode.FAILED
    with closing(sqlite3.connect(database)) as connection:
        assert connection.execute("pragma user_version").fetchone() == (current + 2,)
        assert connection.execute("select count(*) from document").fetchone() == (1,)


def test_a_library_without_its_vector_index_answers_without_a_word(
    marsh: Terminal,
) -> None:
    index = marsh.folder / ".lrwr" / "index"
    before = marsh.run("search", "belt", "--json")
    assert not index.exists()
    index.mkdir()
    (index / "a-all-minilm-l6-v2-int8").mkdir()
    (index / "a-all-minilm-l6-v2-int8" / "junk").write_bytes(b"\xff" * 99)
    after = marsh.run("search", "belt", "--json")
    assert (after.out, after.err, after.code) == (before.out, before.err, 0)
    assert marsh.run("repair").code == 0
    assert list(index.rglob("junk")) == []


def test_a_question_obeys_the_budget_and_says_so(book: Terminal) -> None:
    ran = book.run(
        "ask",
        "Who is shy?",
        LRWR_MODEL_USE="local",
        LRWR_MODEL_NAME="priced",
        LRWR_MODEL_BASE_URL="http://127.0.0.1:9/v1",
        LRWR_MODEL_PRICES="priced 1000 1000",
        LRWR_MODEL_BUDGET="0.01",
    )
    assert ran.code == 0
    assert "shy" in ran.out
    assert "exceed the budget of $0.01" in ran.out + ran.err
