import os
import sys
import time
from pathlib import Path

import pytest

from lrwr.core.adapters.source import folder
from lrwr.core.adapters.source.folder import FolderSource
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.errors import NotFound, SettingsProblem, UnreadableDocument
from lrwr.core.ports.sources import ManuscriptSource, SourceListing

posix_only = pytest.mark.skipif(os.name != "posix", reason="needs POSIX files")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "home" / "book").mkdir(parents=True)
    return tmp_path / "home"


def write(path: Path, text: str = "It rose.") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def source(home: Path, *exclude: str) -> ManuscriptSource:
    return FolderSource(home, [home / "book"], exclude)


def ids(listing: SourceListing) -> list[str]:
    return [found.id for found in listing.found]


def reasons(listing: SourceListing) -> dict[str, str]:
    return {skipped.path: skipped.reason for skipped in listing.skipped}


async def test_manuscripts_are_listed_by_their_path_from_the_root(home: Path) -> None:
    for name in ("b.md", "a/x.DOCX", "a/é ü.txt", "c.Markdown", "README.md"):
        write(home / "book" / name)
    listing = await source(home).list()
    assert ids(listing) == sorted(
        f"book/{n}"
        for n in ("b.md", "a/x.DOCX", "a/é ü.txt", "c.Markdown", "README.md")
    )
    assert listing.skipped == ()


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        (".hidden.md", "hidden"),
        (".obsidian/x.md", "hidden"),
        ("~$fog.docx", "lock file"),
        ("fog.md~", "backup"),
        ("#fog.md#", "backup"),
        ("fog.md.bak", "backup"),
        ("~WRL0001.tmp", "backup"),
        ("fog.md.sb-1a2b-xyz", "backup"),
        ("fog.doc", "save it as .docx or .md"),
        ("fog.ODT", "save it as .docx or .md"),
        ("fog.scriv/Files/1.md", "Scrivener"),
        ("map.png", "not a text file"),
        ("LICENSE", "not a text file"),
    ],
)
async def test_other_files_are_passed_over_with_a_word_why(
    home: Path, name: str, reason: str
) -> None:
    write(home / "book" / name)
    listing = await source(home).list()
    (skipped,) = listing.skipped
    assert listing.found == ()
    assert skipped.path.rstrip("/") == f"book/{name.partition('/')[0]}"
    assert reason in skipped.reason


async def test_what_lrwr_keeps_itself_is_not_worth_a_word(home: Path) -> None:
    write(home / ".lrwr" / "records.db")
    write(home / ".lrwrignore")
    assert await FolderSource(home, [home], ()).list() == SourceListing((), (), (".",))


async def test_patterns_leave_files_out(home: Path) -> None:
    for name in ("old/a.md", "new/old.md", "new/b.md", "cut.md", "keep.md"):
        write(home / "book" / name)
    write(home / "book" / ".lrwrignore", "# mine\ncut.md\n")
    listing = await source(home, "old/", "/book/new/o*.md", "k*.md", "!keep.md").list()
    assert ids(listing) == ["book/keep.md", "book/new/b.md"]
    assert reasons(listing) == {
        "book/cut.md": "excluded by .lrwrignore",
        "book/new/old.md": "excluded by your settings",
        "book/old/": "excluded by your settings",
    }


async def test_a_gitignore_is_not_for_lrwr(home: Path) -> None:
    write(home / "book" / "a.md")
    write(home / "book" / ".gitignore", "*.md\n")
    assert ids(await source(home).list()) == ["book/a.md"]


async def test_a_pattern_that_cannot_be_read_is_a_problem_of_settings(
    home: Path,
) -> None:
    with pytest.raises(SettingsProblem, match=r"'\[z-a\]'"):
        await source(home, "a", "[z-a]").list()


@pytest.mark.parametrize("content", [b"!\n", b"\xff\xfe\n"])
async def test_an_ignore_file_that_cannot_be_read_is_said(
    home: Path, content: bytes
) -> None:
    write(home / "book" / "a.md")
    (home / "book" / ".lrwrignore").write_bytes(content)
    listing = await source(home).list()
    assert ids(listing) == ["book/a.md"]
    assert "patterns are ignored" in reasons(listing)["book/.lrwrignore"]


async def test_a_target_may_be_a_file_or_lie_outside_the_root(home: Path) -> None:
    one = write(home.parent / "far" / "one.md")
    other = write(home / "two.txt")
    found = FolderSource(home, [one, other, home / "two.txt", Path("two.txt")])
    listing = await found.list()
    assert ids(listing) == ["../far/one.md", "two.txt"]
    content, revision = await found.read(DocumentId("../far/one.md"))
    assert content == b"It rose."
    assert revision == listing.found[0].revision


async def test_a_target_that_is_no_manuscript_is_said(home: Path) -> None:
    listing = await FolderSource(home, [write(home / "fog.odt")]).list()
    assert listing.found == ()
    assert "save it as" in reasons(listing)["fog.odt"]


async def test_an_e_book_is_read_only_if_it_is_the_target(home: Path) -> None:
    book = write(home / "out" / "novel.epub")
    assert (
        "if you name the file"
        in reasons(await FolderSource(home, [home]).list())["out/novel.epub"]
    )
    assert ids(await FolderSource(home, [book]).list()) == ["out/novel.epub"]


async def test_a_target_that_is_not_there_is_not_found(home: Path) -> None:
    with pytest.raises(NotFound, match="nowhere"):
        await FolderSource(home, [home / "nowhere"]).list()


@posix_only
async def test_links_are_followed_only_to_files_of_the_folder(home: Path) -> None:
    book = home / "book"
    write(book / "a.md")
    write(book / ".drafts" / "live.md")
    write(home / "secret.md")
    (book / "same.md").symlink_to(book / "a.md")
    (book / "live.md").symlink_to(book / ".drafts" / "live.md")
    (book / "out.md").symlink_to(home / "secret.md")
    (book / "lost.md").symlink_to(book / "gone.md")
    (book / "round.md").symlink_to(book / "round.md")
    (book / "loop").symlink_to(book)
    listing = await source(home).list()
    assert ids(listing) == ["book/a.md", "book/live.md"]
    assert {path: why.split(";")[0] for path, why in reasons(listing).items()} == {
        "book/.drafts/": "hidden",
        "book/same.md": "a link to a file that is already in the manuscript",
        "book/out.md": "a link to a file outside the manuscript folder",
        "book/lost.md": "a broken link",
        "book/round.md": "a broken link",
        "book/loop": "a link to a folder",
    }


@posix_only
async def test_a_linked_folder_as_target_is_read(home: Path) -> None:
    write(home.parent / "cloud" / "a.md")
    (home / "linked").symlink_to(home.parent / "cloud")
    linked = FolderSource(home, [home / "linked"])
    assert ids(await linked.list()) == ["linked/a.md"]
    assert (await linked.read(DocumentId("linked/a.md")))[0] == b"It rose."


@posix_only
async def test_a_pipe_called_like_a_manuscript_does_not_hang(home: Path) -> None:
    os.mkfifo(home / "book" / "pipe.md")
    assert reasons(await source(home).list()) == {"book/pipe.md": "not a regular file"}
    with pytest.raises(UnreadableDocument, match="not a regular file"):
        await source(home).read(DocumentId("book/pipe.md"))


@pytest.mark.skipif(sys.platform != "linux", reason="needs a file system of bytes")
async def test_a_name_that_is_not_text_is_said(home: Path) -> None:
    try:
        write(Path(os.fsdecode(os.fsencode(home / "book") + b"/f\xff.md")))
    except OSError:
        pytest.skip("this file system keeps names in Unicode")
    assert reasons(await source(home).list()) == {
        "book/f?.md": "its name is not valid text; rename it"
    }


async def test_an_id_opens_the_file_whatever_the_form_of_its_name(home: Path) -> None:
    write(home / "book" / "cafe\u0301.md")
    (found,) = (await source(home).list()).found
    assert (await source(home).read(found.id))[1] == found.revision


async def test_a_revision_changes_with_the_file(home: Path) -> None:
    path = write(home / "book" / "a.md", "one")
    before = (await source(home).list()).found
    assert (await source(home).list()).found == before
    status = path.stat()
    other = write(home / "book" / "b.md", "two")
    other.replace(path)
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert (await source(home).list()).found != before


@pytest.mark.parametrize(
    "name", ["book/gone.md", "book/a.md/b.md", "secret.md", "book/../secret.md"]
)
async def test_what_is_gone_or_not_the_manuscripts_is_not_found(
    home: Path, name: str
) -> None:
    write(home / "secret.md")
    write(home / "book" / "a.md")
    with pytest.raises(NotFound) as caught:
        await source(home).read(DocumentId(name))
    assert caught.value.hint


async def test_a_source_covers_what_is_under_its_targets(home: Path) -> None:
    one = write(home / "one.md")
    look = FolderSource(home, [home / "book", one], ["old/"])
    covered = {
        name: look.covers(DocumentId(name))
        for name in (
            "book/gone.md",
            "book/old/x.md",
            "one.md",
            "two.md",
            "booklet/a.md",
        )
    }
    assert covered == {
        "book/gone.md": True,
        "book/old/x.md": True,
        "one.md": True,
        "two.md": False,
        "booklet/a.md": False,
    }


async def test_what_lies_in_a_folder_that_cannot_be_opened_is_not_missed(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(home / "book" / "a.md")
    write(home / "book" / "shut" / "b.md")
    look = FolderSource(home, [home / "book"])
    assert look.covers(DocumentId("book/shut/b.md"))
    scandir = os.scandir

    def refuse(path: Path) -> object:
        if Path(path).name == "shut":
            raise PermissionError(13, "no")
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refuse)
    listing = await look.list()
    assert ids(listing) == ["book/a.md"]
    assert "permission" in reasons(listing)["book/shut/"]
    assert not look.covers(DocumentId("book/shut/b.md"))
    assert look.covers(DocumentId("book/shutters.md"))


@posix_only
async def test_a_link_out_of_the_folder_is_not_read(home: Path) -> None:
    (home / "book" / "out.md").symlink_to(write(home / "secret.md"))
    with pytest.raises(NotFound):
        await source(home).read(DocumentId("book/out.md"))


@posix_only
@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root")
async def test_a_file_without_permission_is_unreadable(home: Path) -> None:
    write(home / "book" / "a.md").chmod(0)
    with pytest.raises(UnreadableDocument, match="may not be read"):
        await source(home).read(DocumentId("book/a.md"))


async def test_a_file_too_large_for_memory_is_not_opened_whole(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folder, "FILE_LIMIT", 1024 * 1024)
    with (home / "book" / "a.md").open("wb") as file:
        file.truncate(1024 * 1024 + 1)
    with pytest.raises(UnreadableDocument, match="larger than 1 MB"):
        await source(home).read(DocumentId("book/a.md"))


class Restless:
    """Writes to a file every time it has been read, so many times."""

    def __init__(self, path: Path, times: int) -> None:
        self._path, self._left = path, times

    def __call__(self, status: os.stat_result, document: DocumentId) -> None:
        if self._left:
            self._left -= 1
            with self._path.open("a", encoding="utf-8") as file:
                file.write("!")


async def test_a_file_that_changes_while_it_is_read_is_read_again(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(home / "book" / "a.md", "one")
    monkeypatch.setattr(folder, "_PAUSE_SECONDS", 0.001)
    monkeypatch.setattr(folder, "_check_readable", Restless(path, 2))
    content, revision = await source(home).read(DocumentId("book/a.md"))
    assert content == b"one!!"
    assert (await source(home).list()).found[0].revision == revision


async def test_a_file_that_never_rests_is_given_up_with_a_hint(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(home / "book" / "a.md", "one")
    monkeypatch.setattr(folder, "_PAUSE_SECONDS", 0.001)
    monkeypatch.setattr(folder, "_check_readable", Restless(path, 99))
    with pytest.raises(UnreadableDocument, match="keeps changing") as caught:
        await source(home).read(DocumentId("book/a.md"))
    assert caught.value.hint


async def test_a_thousand_files_are_listed_in_no_time(home: Path) -> None:
    for i in range(1000):
        (home / "book" / f"{i}.md").touch()
    await source(home, "*.bak").list()
    before = time.process_time()
    listing = await source(home, "*.bak").list()
    spent = time.process_time() - before
    assert len(listing.found) == 1000
    assert spent < 0.5
