"""A scripted writer: after every few edits the library is what a fresh one would be."""

import shutil
from pathlib import Path
from random import Random

import pytest

from bench.drafting import draft
from bench.kills import NAMES, SAMPLE
from bench.scripted import EDITS, ScriptedWriter
from tests.fakes.short_story import LAMP, LEDGER, NOTE, ROAD
from tests.fakes.suite import examples

HILL = (
    "The Hill\n\nPurpleFrog sat on the hill. “Come down,” said OchraMags.\n\nIt did.\n"
)
BOOK = {
    "chapters/1.md": LAMP,
    "chapters/2.md": LEDGER,
    "chapters/3.txt": ROAD,
    "chapters/4.md": f"{LEDGER}\n\n* * *\n\n{ROAD}",
    "chapters/5.txt": HILL,
    "notes/characters/Nell Tallow.md": NOTE,
}


@pytest.fixture
def book(tmp_path: Path) -> Path:
    folder = tmp_path / "manuscript"
    for name, text in BOOK.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    shutil.copy(next(SAMPLE.rglob("04*.docx")), folder / "chapters" / "6.docx")
    return folder


async def test_whatever_is_edited_the_library_is_what_a_fresh_one_would_be(
    book: Path, tmp_path: Path
) -> None:
    (tmp_path / "place").mkdir()
    drafted = await draft(tmp_path / "place", book, edits=examples(40), seed=2, most=4)
    assert drafted.failures == []
    assert drafted.made.total() == examples(40)


def states(writer: ScriptedWriter) -> dict[Path, tuple[bytes, int]]:
    files = writer.files(".md", ".txt", ".docx")
    return {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in files}


@pytest.mark.parametrize("kind", EDITS)
def test_every_kind_of_edit_changes_the_folder_and_leaves_a_manuscript(
    book: Path, kind: str
) -> None:
    writer = ScriptedWriter(book, Random(3), NAMES)
    for before in ("type", "sync conflict", "type"):
        writer.edit(before)
    changed = False
    while not changed:
        before_it = states(writer)
        changed = writer.edit(kind) == kind and states(writer) != before_it
    assert writer.files()


def test_the_same_seed_makes_the_same_edits(book: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    shutil.copytree(book, other)
    told = []
    for folder in (book, other):
        writer = ScriptedWriter(folder, Random(5), NAMES)
        kinds = [writer.edit() for _ in range(60)]
        files = {path.relative_to(folder): path.read_bytes() for path in writer.whole()}
        told.append((kinds, files))
    assert told[0] == told[1]
