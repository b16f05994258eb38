"""Folders that lrwr created and files marked `lrwr: ignore` are not manuscript."""

from pathlib import Path

import pytest

from lrwr.core.adapters.source.folder import FolderSource
from lrwr.core.ports.sources import SkipCause, SourceListing
from lrwr.core.settings.files import OWN_FOLDER_MARKER


async def listed(home: Path) -> SourceListing:
    return await FolderSource(home, [home]).list()


def found(listing: SourceListing) -> list[str]:
    return [file.id for file in listing.found]


def write(path: Path, text: str = "It rose.") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


async def test_a_folder_that_lrwr_created_is_skipped_with_all_in_it(
    tmp_path: Path,
) -> None:
    write(tmp_path / "drafts" / OWN_FOLDER_MARKER, "")
    write(tmp_path / "drafts" / "deep" / "1.md")
    write(tmp_path / "1.md")
    listing = await listed(tmp_path)
    assert found(listing) == ["1.md"]
    (skipped,) = listing.skipped
    assert (skipped.path, skipped.cause) == ("drafts/", SkipCause.OWN_FOLDER)


async def test_a_writers_own_drafts_are_manuscript(tmp_path: Path) -> None:
    write(tmp_path / "drafts" / "1.md")
    listing = await listed(tmp_path)
    assert found(listing) == ["drafts/1.md"]
    assert listing.skipped == ()


async def test_a_target_that_lrwr_created_is_skipped_too(tmp_path: Path) -> None:
    write(tmp_path / "posts" / OWN_FOLDER_MARKER, "")
    write(tmp_path / "posts" / "1.md")
    listing = await FolderSource(tmp_path, [tmp_path / "posts"]).list()
    assert found(listing) == []
    assert [skipped.path for skipped in listing.skipped] == ["posts/"]


@pytest.mark.parametrize(
    "text",
    [
        "---\nlrwr: ignore\n---\nIt rose.",
        "---\ntitle: Fog\nLRWR:  'ignore'  # not yet\n---\nIt rose.",
        "\ufeff---\r\nlrwr: ignore\r\n...\r\nIt rose.",
        f"---\nabout: {'x' * 9000}\nlrwr: ignore\n---\nIt rose.",
    ],
)
async def test_a_file_marked_in_its_front_matter_is_skipped(
    tmp_path: Path, text: str
) -> None:
    write(tmp_path / "fog.md", text)
    (skipped,) = (await listed(tmp_path)).skipped
    assert (skipped.path, skipped.cause) == ("fog.md", SkipCause.MARKED)
    assert "lrwr: ignore" in skipped.reason


@pytest.mark.parametrize(
    "text",
    [
        "lrwr: ignore",
        "It rose.\n\n---\nlrwr: ignore\n---\n",
        "---\ntitle: Fog\n---\nlrwr: ignore\n",
        "---\nabout:\n  lrwr: ignore\n---\nIt rose.",
        "---\nlrwr: ignored by all\n---\nIt rose.",
        "---\nlrwr: ignore",
        f"---\nabout: {'x' * 70_000}\nlrwr: ignore\n---\nIt rose.",
    ],
)
async def test_other_files_are_read(tmp_path: Path, text: str) -> None:
    write(tmp_path / "fog.md", text)
    listing = await listed(tmp_path)
    assert found(listing) == ["fog.md"]
    assert listing.skipped == ()


async def test_a_mark_counts_in_markdown_only(tmp_path: Path) -> None:
    write(tmp_path / "fog.txt", "---\nlrwr: ignore\n---\nIt rose.")
    assert found(await listed(tmp_path)) == ["fog.txt"]
