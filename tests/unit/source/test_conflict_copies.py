"""Copies that sync programs leave beside a chapter are skipped; chapters never are."""

import os
import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lrwr.core.adapters.source import skipped_content
from lrwr.core.adapters.source.folder import FolderSource
from lrwr.core.adapters.source.skipped_content import (
    find_conflict_copies,
    list_original_names,
    measure_similarity,
)
from lrwr.core.ports.sources import SkipCause, SourceListing
from tests.unit.source.word_files import paragraphs

COPY_NAMES = {
    "fog.sync-conflict-20261123-101500-ABCDEFG.md": "Syncthing",
    "fog.sync-conflict-20261123-101500.md": "Syncthing, before 1.0",
    "fog (Nell's conflicted copy 2026-11-23).md": "Dropbox",
    "fog (Nell's conflicted copy 2026-11-23 (1)).md": "Dropbox, the second that day",
    "fog (Copie en conflit de Nell 2026-11-23).md": "Dropbox, French",
    "fog (In Konflikt stehende Kopie von Nell 2026-11-23).md": "Dropbox, German",
    "fog (Case Conflict).md": "Dropbox",
    "fog (conflicted copy 2026-11-23 101500).md": "Nextcloud",
    "fog (case clash from 2026-11-23 101500).md": "Nextcloud",
    "fog_conflict-20261123-101500.md": "ownCloud",
    "fog-conflict-20261123.md": "OneDrive, by its app",
    "fog-DESKTOP-4F5G6H7.md": "OneDrive",
    "fog-Nells-MacBook-Pro.md": "OneDrive",
    "fog (Conflicted copy iPad 202611231015).md": "Obsidian Sync",
    "fog (SFConflict nell@marsh.example 2026-11-23-10-15-00).md": "Seafile",
    "fog_DiskStation_Nov-23-101500-2026_Conflict.md": "Synology Drive",
    "fog.Conflict.md": "Resilio Sync",
    "fog.conflict1.md": "rclone",
    "fog [Conflict].md": "Google Drive",
    "fog (1).md": "Google Drive, Windows",
    "fog(1).md": "Google Drive",
    "fog 2.md": "iCloud, Finder",
    "fog copy.md": "Finder",
    "fog copy 2.md": "Finder",
    "fog - Copy.md": "Windows",
    "fog - Copy (2).md": "Windows",
    "Copy of fog.md": "Google Drive",
    "Copy (2) of fog.md": "Windows XP",
}

CERTAIN_NAMES = [
    name for name in COPY_NAMES if "sync-conflict-" in name or "onflicted copy" in name
]
"""Names that no human writes."""

TEXT = "the marsh bell rang and Nell lit a lamp on every post by the black dyke"
WORDS = TEXT.split()


def chapter(seed: int, words: int = 400) -> str:
    chooser = random.Random(seed)
    return " ".join(chooser.choice(WORDS) for _ in range(words))


def edited(text: str, every: int) -> str:
    """Replace one word in `every`."""
    return " ".join(
        "gull" if number % every == 0 else word
        for number, word in enumerate(text.split(" "))
    )


@pytest.fixture
def book(tmp_path: Path) -> Path:
    (tmp_path / "book").mkdir()
    return tmp_path / "book"


async def listed(book: Path) -> SourceListing:
    return await FolderSource(book, [book]).list()


def found(listing: SourceListing) -> list[str]:
    return [file.id for file in listing.found]


@pytest.mark.parametrize("name", COPY_NAMES)
async def test_a_copy_of_a_sync_program_is_skipped_with_its_original(
    book: Path, name: str
) -> None:
    (book / "fog.md").write_text(chapter(1))
    (book / name).write_text(edited(chapter(1), 50))
    listing = await listed(book)
    assert found(listing) == ["fog.md"]
    (skipped,) = listing.skipped
    assert (skipped.path, skipped.cause) == (name, SkipCause.CONFLICT_COPY)
    assert "copy of fog.md" in skipped.reason


@pytest.mark.parametrize("name", [n for n in COPY_NAMES if n not in CERTAIN_NAMES])
async def test_a_chapter_with_such_a_name_is_read(book: Path, name: str) -> None:
    (book / "fog.md").write_text(chapter(1))
    (book / name).write_text(chapter(2))
    assert sorted(found(await listed(book))) == sorted(["fog.md", name])


@pytest.mark.parametrize("name", CERTAIN_NAMES)
async def test_a_half_synced_copy_with_a_certain_name_is_skipped(
    book: Path, name: str
) -> None:
    (book / "fog.md").write_text(chapter(1))
    (book / name).write_text(chapter(1)[:90])
    listing = await listed(book)
    assert found(listing) == ["fog.md"]
    assert "merge what differs" in listing.skipped[0].reason


@pytest.mark.parametrize(
    "name", ["fog-LAPTOP-ANN.md", "fog-ANN.md", "fog-ANNS-PC-2.md", "fog-WRITING01.md"]
)
async def test_an_equal_text_beside_a_computers_name_is_a_copy(
    book: Path, name: str
) -> None:
    (book / "fog.md").write_text(chapter(1))
    (book / name).write_text(edited(chapter(1), 200))
    assert found(await listed(book)) == ["fog.md"]
    (book / name).write_text(chapter(2))
    assert sorted(found(await listed(book))) == sorted(["fog.md", name])


async def test_a_name_in_capitals_needs_a_nearly_equal_text(book: Path) -> None:
    (book / "THE-FOG.md").write_text(chapter(1))
    (book / "THE-FOG-ANN.md").write_text(chapter(1))
    (book / "THE-FOG-II.md").write_text(edited(chapter(1), 8))
    assert found(await listed(book)) == ["THE-FOG-II.md", "THE-FOG.md"]


@pytest.mark.parametrize("name", COPY_NAMES)
async def test_a_copy_without_its_original_is_read(book: Path, name: str) -> None:
    (book / name).write_text(chapter(1))
    (book / "other").mkdir()
    (book / "other" / "fog.md").write_text(chapter(1))
    assert name in found(await listed(book))


SYNCTHING = "fog.sync-conflict-20261123-101500-ABCDEFG.md"
DROPBOX = "fog (Nell's conflicted copy 2026-11-23).md"
ONEDRIVE = "fog-DESKTOP-4F5G6H7.md"


async def test_of_copies_without_their_original_the_most_ordinary_name_is_read(
    book: Path,
) -> None:
    for number, name in enumerate((DROPBOX, SYNCTHING, ONEDRIVE)):
        (book / name).write_text(f"{chapter(1)} {number}")
    listing = await listed(book)
    assert found(listing) == [ONEDRIVE]
    assert [file.path for file in listing.skipped] == [DROPBOX, SYNCTHING]
    for file in listing.skipped:
        assert file.cause == SkipCause.CONFLICT_COPY
        assert f"looks like a copy of {ONEDRIVE}" in file.reason
        assert "is missing" in file.reason


@pytest.mark.parametrize("newest", [DROPBOX, SYNCTHING])
async def test_of_equally_odd_names_the_newest_is_read(book: Path, newest: str) -> None:
    for name in (DROPBOX, SYNCTHING):
        (book / name).write_text(chapter(1))
        os.utime(book / name, (1, 2 if name == newest else 1))
    assert found(await listed(book)) == [newest]


async def test_copies_of_a_missing_file_with_other_texts_are_read(book: Path) -> None:
    names = ["fog 2.md", "fog 3.md", SYNCTHING]
    for number, name in enumerate(names):
        (book / name).write_text(chapter(number))
    assert found(await listed(book)) == sorted(names)


async def test_chapters_beside_a_copy_without_original_are_read(book: Path) -> None:
    for number in range(1, 5):
        (book / f"Chapter {number}.md").write_text(chapter(number))
    copy = "Chapter (Nell's conflicted copy 2026-11-23).md"
    (book / copy).write_text(edited(chapter(2), 50))
    listing = await listed(book)
    assert found(listing) == [f"Chapter {number}.md" for number in range(1, 5)]
    assert "copy of Chapter 2.md" in listing.skipped[0].reason


@pytest.mark.parametrize(
    "name",
    ["Chapter 2.md", "part (1).md", "02-the-offer.md", "a copy.md", "Volume-II.md",
     "The Armed Conflict.md", "-conflict-.md", "Copy of.md", "(1).md", " 2.md"],
)  # fmt: skip
async def test_a_name_alone_never_skips(book: Path, name: str) -> None:
    for original in ("Chapter.md", "part.md", "Volume.md", "The Armed.md", "a.md"):
        (book / original).write_text(chapter(len(original)))
    (book / name).write_text(chapter(99))
    assert name in found(await listed(book))


async def test_copies_of_copies_are_skipped(book: Path) -> None:
    for name in ("fog.md", "fog (1).md", "fog (1) 2.md", "Copy of fog (1).md"):
        (book / name).write_text(chapter(1))
    assert found(await listed(book)) == ["fog.md"]


async def test_a_conflict_copy_may_differ_more_if_its_name_says_so(book: Path) -> None:
    (book / "fog.md").write_text(chapter(1, 300))
    longer = f"{chapter(1, 300)} {chapter(2, 500)}"
    (book / "fog (Case Conflict).md").write_text(longer)
    (book / "fog 2.md").write_text(longer)
    assert found(await listed(book)) == ["fog 2.md", "fog.md"]


async def test_word_files_are_compared_by_their_text(book: Path) -> None:
    texts = [chapter(n, 60) for n in range(6)]
    (book / "fog.docx").write_bytes(paragraphs(*texts))
    (book / "fog 2.docx").write_bytes(paragraphs(*texts[:5], edited(texts[5], 20)))
    (book / "fog 3.docx").write_bytes(paragraphs(*[chapter(n) for n in range(9, 15)]))
    (book / "fog 4.docx").write_bytes(b"PK\3\4 not a zip")
    assert found(await listed(book)) == ["fog 3.docx", "fog 4.docx", "fog.docx"]


async def test_encoding_and_line_ends_do_not_matter(book: Path) -> None:
    text = "\n".join(chapter(n, 12) for n in range(30))
    (book / "fog.md").write_text(text)
    (book / "fog 2.md").write_bytes(text.replace("\n", "\r\n").encode("utf-16"))
    assert found(await listed(book)) == ["fog.md"]


async def test_short_texts_must_be_equal(book: Path) -> None:
    (book / "fog.md").write_text("It rose.")
    (book / "fog 2.md").write_text("It rose.\n")
    (book / "fog 3.md").write_text("It fell.")
    assert found(await listed(book)) == ["fog 3.md", "fog.md"]


async def test_an_edited_copy_is_looked_at_again(book: Path) -> None:
    (book / "fog.md").write_text(chapter(1))
    (book / "fog 2.md").write_text(chapter(1))
    source = FolderSource(book, [book])
    assert found(await source.list()) == ["fog.md"]
    (book / "fog 2.md").write_text(chapter(2))
    assert found(await source.list()) == ["fog 2.md", "fog.md"]


def test_files_without_such_a_name_are_never_opened(book: Path) -> None:
    revisions = {f"{n:02}-chapter.md": "1" for n in range(40)} | {"Chapter 2.md": "1"}
    assert find_conflict_copies(book, revisions) == {}  # none of them exists


def test_the_work_has_a_limit(book: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(skipped_content, "COMPARED_LIMIT", 10 * len(chapter(1)))
    revisions = {"fog.md": "1"}
    (book / "fog.md").write_text(chapter(1))
    for number in range(2, 40):
        name = f"fog {number}.md"
        (book / name).write_text(chapter(1) + "." * number)
        revisions[name] = "1"
    assert 3 <= len(find_conflict_copies(book, revisions)) <= 10


def test_similarity_is_the_share_of_word_triples_in_the_longer_text() -> None:
    assert measure_similarity(chapter(1), chapter(1)) == 1.0
    assert measure_similarity(chapter(1), f"{chapter(1)} {chapter(2)}") < 0.8
    assert measure_similarity(chapter(1, 20), chapter(1)) < 0.2
    assert measure_similarity("", "") == 1.0
    assert measure_similarity("", "fog") == 0.0


@given(st.text(max_size=80))
def test_originals_are_shorter_and_keep_the_ending(name: str) -> None:
    for original in list_original_names(f"{name}.md"):
        assert len(original.name) < len(name) + 3
        assert original.name.endswith(".md")
        assert original.name != ".md"


@pytest.mark.parametrize(
    "part",
    ["-Mac", "-PC-", "a-", "(onfli", " 1", "a.conflict", "_jan-01-", "-", "copy "],
)
def test_long_names_take_no_time(part: str) -> None:
    for end in ("", "!", ")", "-"):
        stem = (part * 255)[:250] + end
        for _ in range(100):  # quadratic time in such a name would take seconds
            list(list_original_names(f"{stem}.md"))


FOLDERS = (
    "chapters (1)",
    "chapters 2",
    "chapters copy",
    "Copy of chapters",
    "chapters.sync-conflict-20261123-101500-ABCDEFG",
    "chapters (Nell's conflicted copy 2026-11-23)",
)


def write_folder(folder: Path, seeds: range) -> None:
    folder.mkdir(parents=True)
    for seed in seeds:
        (folder / f"{seed}.md").write_text(chapter(seed), encoding="utf-8")


@pytest.mark.parametrize("name", FOLDERS)
async def test_a_copy_of_a_whole_folder_is_skipped_as_one(
    tmp_path: Path, name: str
) -> None:
    write_folder(tmp_path / "book" / "chapters", range(5))
    write_folder(tmp_path / "book" / name, range(4))
    (tmp_path / "book" / name / "new.md").write_text(chapter(9), encoding="utf-8")
    listing = await FolderSource(tmp_path, [tmp_path]).list()
    assert [file.id for file in listing.found] == [
        f"book/chapters/{number}.md" for number in range(5)
    ]
    (skipped,) = listing.skipped
    assert (skipped.path, skipped.cause) == (f"book/{name}/", SkipCause.CONFLICT_COPY)
    assert "looks like a copy of book/chapters/" in skipped.reason


async def test_a_folder_with_other_chapters_is_read(tmp_path: Path) -> None:
    write_folder(tmp_path / "part", range(5))
    write_folder(tmp_path / "part 2", range(5, 10))
    (tmp_path / "part 2" / "0.md").write_text(chapter(0), encoding="utf-8")
    for seed in range(5):
        (tmp_path / "part 2" / f"{seed}.md").write_text(chapter(seed + 20), "utf-8")
    listing = await FolderSource(tmp_path, [tmp_path]).list()
    assert (len(listing.found), listing.skipped) == (15, ())


async def test_a_copy_of_a_folder_that_is_named_is_read(tmp_path: Path) -> None:
    write_folder(tmp_path / "draft", range(3))
    write_folder(tmp_path / "draft 2", range(3))
    named = [tmp_path / "draft", tmp_path / "draft 2"]
    listing = await FolderSource(tmp_path, named).list()
    assert (len(listing.found), listing.skipped) == (6, ())
