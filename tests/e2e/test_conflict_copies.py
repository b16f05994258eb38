"""Copies and markers that sync programs and git leave beside a novel change nothing."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from lrwr.core.model.errors import ExitCode
from tests.fakes.terminal import Terminal

SAMPLE = Path(__file__).parents[2] / "examples" / "marsh-lantern"
FIRST = "01-lighting-up"
COPIES = (
    f"{FIRST}.sync-conflict-20261123-101500-ABCDEFG.md",
    f"{FIRST} (Nell's conflicted copy 2026-11-23).md",
    f"{FIRST} (conflicted copy 2026-11-23 101500).md",
    f"{FIRST} (SFConflict nell@marsh.example 2026-11-23-10-15-00).md",
    f"{FIRST}_conflict-20261123-101500.md",
    f"{FIRST}-DESKTOP-4F5G6H7.md",
    f"{FIRST} 2.md",
    f"{FIRST} (1).md",
    f"Copy of {FIRST}.md",
    f"{FIRST} - Copy.md",
)
WORD_COPY = "04-six-strokes 2.docx"
CONFLICT = (
    "\n<<<<<<< HEAD\nNell had grey eyes.\n=======\nNell had blue eyes.\n>>>>>>> b\n"
)


def write_copies(chapters: Path) -> None:
    """Write ten kinds of edited copies of the first chapter, and one of a Word file."""
    text = (chapters / f"{FIRST}.md").read_text(encoding="utf-8")
    for number, name in enumerate(COPIES):
        edited = f"{text}\n\nNell counted {number + 2} lamps.\n"
        (chapters / name).write_text(edited, encoding="utf-8")
    shutil.copy(chapters / "04-six-strokes.docx", chapters / WORD_COPY)


def told(terminal: Terminal) -> dict[str, object]:
    """What lrwr says of chapters, characters, mentions and the horizon."""
    commands = {
        "order": ["canon", "order", "--show"],
        "characters": ["characters"],
        "as of": ["characters", "--as-of", "ch2"],
        "quotes": ["quotes"],
        "search": ["search", "lamp", "--as-of", "ch3"],
    }
    replies = {
        name: json.loads(terminal.run(*words, "--json").out)
        for name, words in commands.items()
    }
    # A search also warns of files that changed after the last ingest.
    return {**replies, "search": replies["search"]["passages"]}


@pytest.fixture
def marsh(empty: Terminal) -> Iterator[Terminal]:
    shutil.copytree(SAMPLE, empty.folder, dirs_exist_ok=True)
    yield empty


@pytest.mark.timeout(300)
def test_ten_conflict_copies_change_nothing_that_lrwr_says(marsh: Terminal) -> None:
    assert marsh.run("ingest", ".").code == 0
    before = told(marsh)
    write_copies(marsh.folder / "chapters")
    ran = marsh.run("ingest")
    assert ran.code == 0
    assert (
        "and 10 more were skipped: they look like copies of other documents" in ran.out
    )
    assert (
        f"Skipped chapters/{FIRST} 2.md: looks like a copy of chapters/{FIRST}.md"
        in ran.out
    )
    assert "0 documents processed" in ran.out
    assert told(marsh) == before
    status = json.loads(marsh.run("status", "--json").out)
    assert {row["path"] for row in status["skipped"]} == {
        f"chapters/{name}" for name in (*COPIES, WORD_COPY)
    }
    assert {row["cause"] for row in status["skipped"]} == {"conflict copy"}
    assert status["changed"] == 0
    assert (
        f"Skipped chapters/{FIRST} 2.md: looks like a copy" in marsh.run("status").out
    )


@pytest.mark.timeout(300)
def test_a_file_with_conflict_markers_keeps_its_last_reading(marsh: Terminal) -> None:
    assert marsh.run("ingest", ".").code == 0
    before = told(marsh)
    chapter = marsh.folder / "chapters" / "02-the-reeves-offer.md"
    clean = chapter.read_text(encoding="utf-8")
    chapter.write_text(f"{clean}{CONFLICT}", encoding="utf-8")
    (marsh.folder / "chapters" / "11-new.md").write_text(CONFLICT, encoding="utf-8")
    ran = marsh.run("ingest")
    assert ran.code == ExitCode.PARTIAL
    line = clean.count("\n") + 2
    name = "chapters/02-the-reeves-offer.md"
    assert f"{name} has git conflict markers (line {line})" in ran.out
    assert "chapters/11-new.md has git conflict markers (line 2)" in ran.out
    assert told(marsh) == before
    said = "02-the-reeves-offer.md, chapters/11-new.md have git conflict markers"
    assert said in marsh.run("status").out
    chapter.write_text(f"{clean}\n\nNell had grey eyes.\n", encoding="utf-8")
    (marsh.folder / "chapters" / "11-new.md").unlink()
    assert marsh.run("ingest").code == 0
    assert told(marsh) != before


def test_copies_that_were_read_as_chapters_are_removed(empty: Terminal) -> None:
    text = "# One\n\nThe frog sat on the sluice gate all night and sang of the tide.\n"
    (empty.folder / "1.md").write_text(text, encoding="utf-8")
    copies = [empty.folder / f"1 ({number}).md" for number in range(1, 5)]
    for copy in copies:
        copy.write_text(f"# {copy.stem}\n\nNothing alike.\n", encoding="utf-8")
    assert "5 documents processed" in empty.run("ingest", ".").out
    for copy in copies:
        copy.write_text(text, encoding="utf-8")
    assert "4 deleted" in empty.run("ingest").out
    assert json.loads(empty.run("status", "--json").out)["documents"] == 1


def test_own_folders_and_marked_files_are_listed(empty: Terminal) -> None:
    for name, text in {
        "1.md": "# One\n\nThe frog is shy.",
        "drafts/2.md": "# Two\n\nThe toad is bold.",
        "posts/.lrwr-folder": "",
        "posts/3.md": "# Three\n\nThe newt is old.",
        "4.md": "---\nlrwr: ignore\n---\nThe eel is long.",
    }.items():
        path = empty.folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert empty.run("ingest", ".").code == 0
    status = json.loads(empty.run("status", "--json").out)
    assert status["documents"] == 2
    assert [(row["path"], row["cause"]) for row in status["skipped"]] == [
        ("4.md", "marked"),
        ("posts/", "own folder"),
    ]


@pytest.mark.timeout(300)
def test_the_same_order_twice_is_a_warning(empty: Terminal) -> None:
    for name, order in {"01-fog": 6, "02-line": 6, "03-bell": 7}.items():
        text = f"---\norder: {order}\n---\n# {name}\n\nNell lit a lamp.\n"
        (empty.folder / f"{name}.md").write_text(text, encoding="utf-8")
    ran = empty.run("ingest", ".")
    assert ran.code == 0
    said = "01-fog.md and 02-line.md have the same `order: 6`"
    assert said in ran.out
    assert said in empty.run("status").out
    assert said in str(json.loads(empty.run("status", "--json").out)["remarks"])
    third = empty.folder / "04-tide.md"
    third.write_text("---\norder: 6\n---\n# Tide\n\nMags lit a lamp.\n")
    assert "wrong order. 04-tide.md has it, too. Change one" in empty.run("ingest").out
    third.unlink()
    assert empty.run("canon", "order", "02-line.md", "01-fog.md").code == 0
    assert "same `order" not in empty.run("ingest").out
    assert "same `order" not in empty.run("status").out


def test_two_documents_with_the_same_text_are_named(empty: Terminal) -> None:
    text = f"# Fog\n\n{'The frog sat on the sluice gate all night and sang. ' * 4}\n"
    for name in ("15-fog~.md", "15-fog.md", "16-fog - Kopie (2).md"):
        (empty.folder / name).write_text(text, encoding="utf-8")
    for number in (1, 2):  # too short to count
        (empty.folder / f"note-{number}.md").write_text("To do.\n", encoding="utf-8")
    ran = empty.run("ingest", ".")
    said = "15-fog.md and 15-fog~.md have the same text"
    assert said in ran.out
    assert "1 more is a copy of another document" in ran.out
    assert "`lrwr: ignore`" in ran.out
    assert said in empty.run("status").out
    assert said in str(json.loads(empty.run("status", "--json").out)["remarks"])
    for name in ("15-fog~.md", "16-fog - Kopie (2).md"):
        (empty.folder / name).unlink()
    empty.run("ingest")
    assert "the same text" not in empty.run("status").out
