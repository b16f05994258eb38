"""Accepting a draft creates a new file; nothing else touches the manuscript."""

import re
from pathlib import Path

import pytest

from lrwr.core.model.errors import ExitCode
from tests.e2e.test_draft import add_plan, manuscript
from tests.fakes.terminal import Ran, Terminal, check_refusal

TEXT = "# The Tide Bell\n\nNell Tallow rang it twice.\n"
TARGET = "chapters/11-the-tide-bell.md"
PLAN = "\n\n#### The tide bell ^bell\n- people: Nell\n"


@pytest.fixture
def desk(read_sample: Terminal) -> Terminal:
    assert read_sample.run("draft", "board", "--from-text").code == 0
    add_plan(read_sample, after="ch10-s4", plan=PLAN)
    propose(read_sample, 1, "# The Tide Bell\n\nNell rang it.\n")
    propose(read_sample, 2, TEXT)
    return read_sample


def propose(desk: Terminal, number: int, text: str) -> None:
    folder = desk.folder / "drafts" / "scenes" / "bell"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{number}.md").write_text(text, encoding="utf-8")


def ledger(desk: Terminal) -> list[tuple[str, str]]:
    """Return the decisions, without the drafts at the end that have none."""
    rows = [
        (r["draft"], r["state"]) for r in desk.run("draft", "ledger", "--json").json
    ]
    decided = [row for row in rows if row[1] not in ("undecided", "superseded")]
    assert decided == rows[: len(decided)]
    return decided


def test_an_accepted_draft_is_a_new_file_that_ingestion_reads(desk: Terminal) -> None:
    before = manuscript(desk.folder)
    done = desk.run("draft", "accept", "bell", "--to", TARGET, "--yes")
    assert done.code == 0 and TARGET in done.err
    assert (desk.folder / TARGET).read_text("utf-8") == TEXT
    after = manuscript(desk.folder)
    assert {path: after[path] for path in before} == before
    states = {row["id"]: row for row in desk.run("draft", "--json").json}
    assert (states["bell"]["state"], states["bell"]["file"]) == ("not ingested", TARGET)
    assert desk.run("ingest", ".").code == 0
    states = {row["id"]: row for row in desk.run("draft", "--json").json}
    assert states["bell"]["state"] == "in the manuscript"
    assert ledger(desk) == [("bell/2", "accepted")]
    assert list((desk.folder / "drafts").glob(".lrwr-new-*")) == []


def test_a_file_at_another_place_than_its_card_is_named(desk: Terminal) -> None:
    later = desk.run("draft", "accept", "bell", "--to", "chapters/05b-bell.md", "--yes")
    assert later.code == 0
    assert (
        "chapters/05b-bell.md comes before chapters/10-a-clean-page.md in the story,"
        " but after it on the board" in " ".join(later.err.split())
    )
    assert desk.run("draft", "undo").code == 0
    right = desk.run("draft", "accept", "bell", "--to", TARGET, "--yes")
    assert right.code == 0 and "on the board" not in right.err


def test_an_order_in_front_matter_that_moves_the_new_file_is_named(
    desk: Terminal,
) -> None:
    for path in (desk.folder / "chapters").glob("*.md"):
        head = f"---\norder: {int(path.name[:2])}0\n---\n"
        path.write_text(head + path.read_text("utf-8"), encoding="utf-8")
    assert desk.run("ingest", ".").code == 0
    done = desk.run("draft", "accept", "bell", "--to", TARGET, "--yes")
    assert done.code == 0
    assert f"{TARGET} comes before" in " ".join(done.err.split())
    assert "Give it `order: 101`" in " ".join(done.err.split())


def test_an_existing_file_is_never_touched(desk: Terminal) -> None:
    taken = desk.folder / TARGET
    taken.write_text("Mine.", encoding="utf-8")
    done = desk.run("draft", "accept", "bell", "--to", TARGET, "--yes")
    check_refusal(done, ExitCode.SETTINGS, "already exists")
    assert taken.read_text("utf-8") == "Mine."
    assert ledger(desk) == []


def test_accepting_twice_changes_nothing(desk: Terminal) -> None:
    assert desk.run("draft", "accept", "bell", "--to", TARGET, "--yes").code == 0
    assert desk.run("draft", "accept", "bell", "--to", TARGET, "--yes").code == 0
    assert ledger(desk) == [("bell/2", "accepted")]
    (desk.folder / TARGET).write_text("Mine now.", encoding="utf-8")
    done = desk.run("draft", "accept", "bell", "--to", TARGET, "--yes")
    check_refusal(done, ExitCode.SETTINGS, "already exists")


@pytest.mark.parametrize(
    "target",
    [
        "../out.md",
        "drafts/x.md",
        "chapters/11.docx",
        "chapters/11.epub",
        "chapters/.11.md",
    ],
)
def test_only_a_file_that_ingestion_reads_is_created(
    desk: Terminal, target: str
) -> None:
    done = desk.run("draft", "accept", "bell", "--to", target)
    check_refusal(done, ExitCode.SETTINGS)
    assert not (desk.folder / target).exists()


def test_without_a_file_one_is_asked_for(desk: Terminal) -> None:
    check_refusal(desk.run("draft", "accept", "bell"), ExitCode.SETTINGS, "--to FILE")


def test_undo_removes_the_file_unless_it_was_changed(desk: Terminal) -> None:
    before = manuscript(desk.folder)
    assert desk.run("draft", "accept", "bell", "--to", TARGET, "--yes").code == 0
    (desk.folder / TARGET).write_text(f"{TEXT}And thrice.\n", encoding="utf-8")
    check_refusal(desk.run("draft", "undo"), ExitCode.SETTINGS, "was changed")
    standing, other = desk.run("draft", "ledger", "--json").json
    assert (other["draft"], other["state"], other["at"]) == (
        "bell/1",
        "superseded",
        None,
    )
    assert standing["standing"] == 1.0
    (desk.folder / TARGET).write_text(TEXT, encoding="utf-8")
    assert desk.run("draft", "undo", "bell").code == 0
    assert manuscript(desk.folder) == before
    assert ledger(desk) == [("bell/2", "undone")]
    assert desk.run("draft", "ledger", "--json").json[1]["state"] == "undecided"
    check_refusal(desk.run("draft", "undo"), ExitCode.NOT_FOUND, "No draft is accepted")
    assert desk.run("draft", "accept", "bell", "--to", TARGET, "--yes").code == 0


def test_a_rejected_draft_is_not_used_any_more(desk: Terminal) -> None:
    assert desk.run("draft", "reject", "bell").code == 0
    assert "rang it twice" not in desk.run("draft", "show", "bell").out
    assert "rang it twice" in desk.run("draft", "show", "bell", "2").out
    assert desk.run("draft", "check", "bell", "--json").json["file"].endswith("/1.md")
    assert desk.run("draft", "accept", "bell", "--to", TARGET, "--yes").code == 0
    assert "twice" not in (desk.folder / TARGET).read_text("utf-8")
    check_refusal(desk.run("draft", "reject", "bell", "1"), ExitCode.SETTINGS, "undo")
    assert ledger(desk) == [("bell/2", "rejected"), ("bell/1", "accepted")]
    assert "you" in desk.run("draft", "ledger").out


def test_rejected_drafts_are_not_counted_and_their_check_says_so(
    desk: Terminal,
) -> None:
    for number in ("2", "1"):
        assert desk.run("draft", "reject", "bell", number).code == 0
    states = {row["id"]: row for row in desk.run("draft", "--json").json}
    assert (states["bell"]["state"], states["bell"]["proposals"]) == ("planned", [])
    assert "2.md, rejected, as chapter" in desk.run("draft", "check", "bell", "2").out
    assert ", rejected, " not in desk.run("draft", "check", "chapters/06-fog.md").out


def test_scenes_of_one_planned_chapter_are_named_as_chapters_of_their_own(
    read_sample: Terminal,
) -> None:
    assert read_sample.run("draft", "board", "--from-text").code == 0
    other = "### Chapter 11 Fridays\n\n#### The cake ^cake\n"
    plan = PLAN.replace("#### ", "### Chapter 11 Fridays\n\n#### ", 1)
    add_plan(read_sample, after="ch10-s4", plan=f"{plan}\n{other}")
    propose(read_sample, 1, TEXT)
    done = read_sample.run("draft", "accept", "bell", "--to", TARGET, "--yes")
    assert "The board has 2 scenes in “Chapter 11 Fridays”, but each file" in done.err


def test_show_compares_drafts_and_the_accepted_file(desk: Terminal) -> None:
    shown = desk.run("draft", "show", "bell", "--diff").out
    assert "-Nell rang it.\n+Nell Tallow rang it twice." in shown
    check_refusal(desk.run("draft", "show", "bell", "1", "--diff"), ExitCode.NOT_FOUND)
    assert desk.run("draft", "accept", "bell", "--to", TARGET, "--yes").code == 0
    (desk.folder / TARGET).write_text(TEXT.replace("twice", "once"), encoding="utf-8")
    diff = desk.run("draft", "show", "bell", "--diff", "--json").json["lines"]
    assert diff[0] == f"--- {TARGET}"


def test_a_sheet_becomes_a_note(desk: Terminal) -> None:
    folder = desk.folder / "drafts" / "sheets"
    folder.mkdir()
    (folder / "Perdita.md").write_text("# Perdita\n\nShe is forty.\n", encoding="utf-8")
    target = "notes/characters/Perdita.md"
    assert desk.run("draft", "accept", "Perdita", "--to", target).code == 0
    assert (desk.folder / target).is_file()
    assert ledger(desk) == [("sheets/Perdita", "accepted")]
    assert desk.run("draft", "undo", "Perdita").code == 0
    check_refusal(desk.run("draft", "accept", "../board"), ExitCode.NOT_FOUND)


def test_decisions_survive_a_backup_and_a_repair(
    desk: Terminal, tmp_path: Path
) -> None:
    assert desk.run("draft", "accept", "bell", "--to", TARGET, "--yes").code == 0
    backup = tmp_path / "backup.zip"
    assert desk.run("backup", str(backup)).code == 0
    (desk.folder / ".lrwr" / "library.db").unlink()
    assert desk.run("restore", str(backup)).code == 0
    assert ledger(desk) == [("bell/2", "accepted")]


def test_forgetting_a_library_leaves_the_drafts_and_nothing_of_their_journal(
    desk: Terminal,
) -> None:
    assert desk.run("draft", "accept", "bell", "--to", TARGET, "--yes").code == 0
    assert desk.run("forget", "--yes").code == 0
    assert not (desk.folder / ".lrwr").exists()
    assert (desk.folder / "drafts" / "scenes" / "bell" / "2.md").is_file()


LATER = "Nell Tallow rang it twice.\n\n“Good evening,” said Dorothea Pell.\n"


@pytest.fixture
def early(read_sample: Terminal) -> Terminal:
    """A draft for the start of the story with a name that comes later."""
    assert read_sample.run("draft", "board", "--from-text").code == 0
    add_plan(read_sample, after="ch1-s3", plan=PLAN)
    propose(read_sample, 1, LATER)
    return read_sample


def accept_early(desk: Terminal, *words: str, given: str = "") -> Ran:
    target = ("--to", "chapters/01b-bell.md")
    return desk.run("draft", "accept", "bell", *target, *words, given=given)


def test_a_draft_with_findings_is_accepted_only_if_that_is_confirmed(
    early: Terminal,
) -> None:
    before = manuscript(early.folder)
    for answer in ("", "n\n", "yet\n"):
        refused = accept_early(early, given=answer)
        assert refused.code == ExitCode.CONTRADICTIONS
        assert "has 1 finding (1 from later)" in refused.err
        assert "Nothing was accepted" in refused.err
    assert manuscript(early.folder) == before
    assert ledger(early) == []
    done = accept_early(early, given="y\n")
    assert done.code == 0
    assert "becomes chapter 2, and the chapters after it" in " ".join(done.err.split())
    assert ledger(early) == [("bell/1", "accepted")]


def test_a_draft_without_findings_is_accepted_without_a_question(
    desk: Terminal,
) -> None:
    done = desk.run("draft", "accept", "bell", "--to", TARGET)
    assert done.code == 0
    assert "finding" not in done.err
    assert "becomes chapter" not in done.err


def test_new_names_are_listed_and_need_no_confirmation(desk: Terminal) -> None:
    propose(desk, 3, "# The Tide Bell\n\nNell rang it for Mrs Garrity.\n")
    checked = desk.run("draft", "check", "bell")
    assert (checked.code, "0 findings." in checked.out) == (0, True)
    done = desk.run("draft", "accept", "bell", "--to", TARGET)
    assert done.code == 0
    assert "new name: not in the story" in done.err
    assert "[y/N]" not in done.err


def test_the_accepted_file_has_the_findings_of_its_draft(early: Terminal) -> None:
    def find(name: str) -> list[str]:
        checked = early.run("draft", "check", name, "--json").json
        # The accepted file moves the numbers of later chapters.
        return [re.sub(r"\d+", "N", row["text"]) for row in checked["findings"]]

    before = find("bell")
    assert any("Dorothea Pell is in the story only from" in text for text in before)
    assert accept_early(early, "--yes").code == 0
    assert early.run("ingest", ".").code == 0
    assert find("bell") == before
    assert find("chapters/01b-bell.md") == before
