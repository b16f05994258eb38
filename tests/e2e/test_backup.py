import json
import shutil
from pathlib import Path

import pytest

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


def elsewhere(terminal: Terminal, name: str) -> Terminal:
    folder = terminal.folder.parent / "other" / name
    folder.mkdir(parents=True)
    return Terminal(folder, home=Path(terminal.env["HOME"]), LRWR_EMBEDDING_MODEL="off")


def write_chapters(folder: Path) -> None:
    folder.mkdir(parents=True)
    for number in range(1, 5):
        text = f"# Chapter {number}\n\nThe lamp burned for {number} nights.\n"
        (folder / f"{number}.md").write_text(text)


@pytest.mark.parametrize("folder", ["manuscript", "../texts"])
def test_a_library_that_is_restored_onto_another_path_is_up_to_date(
    empty: Terminal, folder: str
) -> None:
    write_chapters(empty.folder / folder)
    assert empty.run("ingest", folder).code == 0
    archive = empty.folder.parent / "safe.zip"
    assert empty.run("backup", str(archive)).code == 0
    there = elsewhere(empty, "renamed")
    write_chapters(there.folder / folder)
    shutil.rmtree(empty.folder)
    shutil.rmtree(empty.folder.parent / "texts", ignore_errors=True)
    words = () if folder == "manuscript" else ("--manuscript", folder)
    assert there.run("restore", str(archive), *words).code == 0
    assert there.run("status", "--json").json["missing"] == []
    ran = there.run("ingest", "--json").json
    assert (ran["processed"], ran["forgotten"], ran["unchanged"]) == (0, 0, 4)


def test_a_manuscript_that_lies_elsewhere_after_a_restore_has_moved(
    empty: Terminal,
) -> None:
    write_chapters(empty.folder / "manuscript")
    assert empty.run("ingest", "manuscript").code == 0
    archive = empty.folder.parent / "safe.zip"
    assert empty.run("backup", str(archive)).code == 0
    there = elsewhere(empty, "novel")
    shutil.move(empty.folder / "manuscript", there.folder.parent / "chapters")
    restored = there.run("restore", str(archive))
    assert "run `lrwr ingest FOLDER`" in restored.out
    assert "4 documents" in there.run("status").out
    ran = there.run("ingest", "../chapters", "--json")
    assert (ran.code, len(ran.json["renamed"]), ran.json["missing"]) == (0, 4, [])
    assert there.run("status", "--json").json["documents"] == 4


def test_after_a_restore_without_the_manuscript_nothing_is_deleted(
    empty: Terminal,
) -> None:
    write_chapters(empty.folder / "part")
    assert empty.run("ingest", ".").code == 0
    archive = empty.folder.parent / "safe.zip"
    assert empty.run("backup", str(archive)).code == 0
    there = elsewhere(empty, "novel")
    assert there.run("restore", str(archive)).code == 0
    told = there.run("status").out
    assert "4 documents are missing from part and were not deleted" in told
    assert there.run("ingest").code == ExitCode.PARTIAL
    assert there.run("status", "--json").json["documents"] == 4


def test_the_path_of_a_backup_is_shown_without_dots(read_sample: Terminal) -> None:
    folder = read_sample.folder.parent
    shown = read_sample.run("backup", "../b1.zip").out
    assert shown == f"{folder / 'b1.zip'}\n"
    (folder / "b1.zip").unlink()


def test_a_backup_without_a_name_stays_out_of_the_manuscript(empty: Terminal) -> None:
    write_chapters(empty.folder / "part")
    assert empty.run("ingest", ".").code == 0
    made = Path(empty.run("backup").out.strip())
    assert made.exists()
    assert not made.is_relative_to(empty.folder)
    (empty.folder / "part" / made.name).write_bytes(made.read_bytes())
    assert empty.run("ingest", "--json").json["skipped"] == []
