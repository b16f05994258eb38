import json
import shutil
from pathlib import Path

from lrwr.core.model.errors import ExitCode
from tests.fakes.terminal import Terminal

QUESTIONS = ("marsh lantern", "Who keeps the ledger?", "belt", "tide rules")


def answers(terminal: Terminal) -> str:
    asked = terminal.folder / "questions.jsonl"
    asked.write_text(
        "\n".join(json.dumps({"id": one, "question": one}) for one in QUESTIONS)
    )
    ran = terminal.run("search", "--batch", str(asked))
    assert ran.code == 0
    return ran.out


def test_a_library_that_was_lost_answers_as_before(
    marsh: Terminal, tmp_path: Path
) -> None:
    before = answers(marsh)
    archive = tmp_path / "safe.zip"
    made = marsh.run("backup", str(archive))
    assert (made.code, made.out.strip()) == (0, str(archive))
    assert "Store it in a safe place" in made.err
    shutil.copytree(marsh.folder, tmp_path / "book")
    shutil.rmtree(tmp_path / "book" / ".lrwr")
    again = Terminal(tmp_path / "book", home=tmp_path / "home")
    assert again.run("restore", str(archive)).code == 0
    assert answers(again) == before
    status = again.run("status", "--json").json
    assert (status["documents"], status["gone"]) == (27, 0)
    refused = again.run("restore", str(archive))
    assert refused.code == ExitCode.STORE
    assert "--force" in refused.err
    assert again.run("restore", str(archive), "--force").code == 0
    assert answers(again) == before
    assert list((tmp_path / "book" / ".lrwr").glob("library.db.before-restore-*"))


def test_a_file_that_is_no_backup_is_refused_in_one_sentence(empty: Terminal) -> None:
    (empty.folder / "x.zip").write_bytes(b"PK\x03\x04 nothing")
    ran = empty.run("restore", "x.zip")
    assert ran.code == ExitCode.UNREADABLE
    assert ran.err.startswith("lrwr: x.zip is not a valid backup")
    assert ran.err.count("\n") == 2


def test_without_a_library_there_is_nothing_to_back_up(empty: Terminal) -> None:
    ran = empty.run("backup")
    assert ran.code == ExitCode.NOT_FOUND
    assert list(empty.folder.iterdir()) == []
