import pytest
from hypothesis import given
from hypothesis import strategies as st

from lrwr.core.adapters.source.folder import FolderSource
from lrwr.core.model.choices import Pipeline
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.jobs import IngestPlanned, JobKind, JobOrder
from lrwr.pipeline.changes import find_withheld_deletions, is_in_folder
from tests.fakes.desks import Desk


def names(*documents: str) -> set[DocumentId]:
    return {DocumentId(document) for document in documents}


BOOK = names(*(f"book/{number:02}.md" for number in range(1, 10)))
NOTES = names("notes/nell.md", "notes/mags.md")
SHEETS = names("book/sheets/a.md", "book/sheets/b.md", "book/sheets/c.md")
FOLDERS = ("book", "notes")


@pytest.mark.parametrize(
    ("missing", "stored", "withheld"),
    [
        pytest.param(names(), BOOK, False, id="nothing is missing"),
        pytest.param(names("book/01.md"), BOOK, False, id="one of nine"),
        pytest.param(set(sorted(BOOK)[:3]), BOOK, False, id="exactly a third"),
        pytest.param(set(sorted(BOOK)[:4]), BOOK, True, id="more than a third"),
        pytest.param(set(sorted(BOOK)[:2]), names(*sorted(BOOK)[:3]), False, id="two"),
        pytest.param(BOOK, BOOK, True, id="all"),
        pytest.param(NOTES, BOOK | NOTES, True, id="a whole manuscript folder"),
        pytest.param(SHEETS, BOOK | SHEETS, True, id="a whole folder inside of one"),
        pytest.param(names("notes/nell.md"), BOOK | NOTES, False, id="half a folder"),
    ],
)
def test_many_missing_documents_are_withheld_and_a_few_are_not(
    missing: set[DocumentId], stored: set[DocumentId], withheld: bool
) -> None:
    found = find_withheld_deletions(
        missing, stored, folders=FOLDERS, existing=stored - missing
    )
    assert found == (tuple(sorted(missing)) if withheld else ())


def test_a_folder_with_new_files_is_not_empty() -> None:
    found = find_withheld_deletions(
        NOTES, BOOK | NOTES, folders=FOLDERS, existing=names("notes/new.md")
    )
    assert found == ()


def test_the_root_is_a_folder_that_holds_all_but_what_lies_outside() -> None:
    assert is_in_folder(DocumentId("a/b.md"), ".")
    assert not is_in_folder(DocumentId("../b.md"), ".")
    assert is_in_folder(DocumentId("../b.md"), "..")
    assert not is_in_folder(DocumentId("books/b.md"), "book")
    assert is_in_folder(DocumentId("book.md"), "book.md")


documents = st.builds(
    lambda folder, number: DocumentId(f"{folder}/{number}.md"),
    st.sampled_from(["a", "a/x", "b"]),
    st.integers(0, 5),
)


@given(st.sets(documents), st.data())
def test_all_or_none_of_the_missing_are_withheld_and_more_missing_is_never_safer(
    stored: set[DocumentId], data: st.DataObject
) -> None:
    missing = {one for one in stored if data.draw(st.booleans())}
    more = missing | {one for one in stored if data.draw(st.booleans())}

    def withheld(absent: set[DocumentId]) -> tuple[DocumentId, ...]:
        return find_withheld_deletions(
            absent, stored, folders=("a", "b"), existing=stored - absent
        )

    assert withheld(missing) in ((), tuple(sorted(missing)))
    if withheld(missing):
        assert withheld(more)
    if len(missing) >= 3 and 3 * len(missing) > len(stored):
        assert withheld(missing)
    if stored:
        assert withheld(stored)


async def seen(desk: Desk) -> list[str]:
    return [
        s.id for s in await desk.library.knowledge.document_versions(Pipeline.NAIVE)
    ]


CHAPTERS = [f"book/{number:02}.md" for number in range(1, 7)]


@pytest.fixture
async def shelf(desk: Desk) -> Desk:
    """Six chapters and two notes, in two folders of a manuscript that was read."""
    for number, name in enumerate(CHAPTERS, start=1):
        desk.write(name, f"# Chapter {number}\n\nThe lamp burned for {number} nights.")
    desk.write("notes/nell.md", "Nell keeps the ledger.")
    desk.write("notes/mags.md", "Mags keeps the lamp.")
    await desk.ingest("book", "notes")
    return desk


def unlink(desk: Desk, *names: str) -> None:
    for name in names:
        (desk.folder / name).unlink()


async def test_an_emptied_folder_loses_nothing_until_it_is_told_to(shelf: Desk) -> None:
    stored = await seen(shelf)
    unlink(shelf, *CHAPTERS)
    report = await shelf.ingest("book", "notes")
    assert (report.forgotten, report.missing) == (0, tuple(CHAPTERS))
    assert await seen(shelf) == stored
    (remark,) = report.remarks
    assert "6 documents are missing from book and were not deleted: book/01" in remark
    assert "`lrwr ingest --forget-missing`" in remark
    done = await shelf.service("book", "notes", forget_missing=True).process(
        shelf.events.append
    )
    assert (done.forgotten, done.missing, done.remarks) == (6, (), [])
    assert await seen(shelf) == ["notes/mags.md", "notes/nell.md"]


async def test_one_folder_of_two_that_is_emptied_is_kept_and_the_other_is_read(
    shelf: Desk,
) -> None:
    unlink(shelf, "notes/nell.md", "notes/mags.md")
    shelf.write(CHAPTERS[0], "# Chapter 1\n\nA whistle blew.")
    report = await shelf.ingest("book", "notes")
    assert (report.processed, report.forgotten, len(report.missing)) == (1, 0, 2)
    assert len(await seen(shelf)) == 8


async def test_a_dry_run_names_what_is_missing(shelf: Desk) -> None:
    unlink(shelf, *CHAPTERS[:4])
    report = await shelf.ingest("book", "notes", dry_run=True)
    assert (report.forgotten, report.missing) == (0, tuple(CHAPTERS[:4]))


async def test_a_moved_folder_is_a_move(shelf: Desk) -> None:
    (shelf.folder / "book").rename(shelf.folder / "novel")
    report = await shelf.ingest(".")
    assert (len(report.renamed), report.forgotten, report.missing) == (6, 6, ())
    assert (await shelf.ingest(".")).missing == ()


async def test_chapters_that_moved_up_by_three_are_moves(shelf: Desk) -> None:
    for old, new in zip(CHAPTERS[3:], CHAPTERS, strict=False):
        (shelf.folder / old).replace(shelf.folder / new)
    report = await shelf.ingest("book", "notes")
    assert (report.forgotten, report.missing) == (3, ())


async def test_what_the_settings_exclude_is_not_missing(shelf: Desk) -> None:
    source = FolderSource(shelf.folder, [shelf.folder], ["book/"])
    report = await shelf.service(source=source).process(shelf.events.append)
    assert (report.forgotten, report.missing) == (6, ())


async def test_a_drive_that_is_lost_while_it_is_read_takes_nothing_along(
    shelf: Desk,
) -> None:
    for name in CHAPTERS:
        shelf.write(name, f"# {name}\n\nAll of it was written again.")

    def unmount(event: object) -> None:
        if isinstance(event, IngestPlanned):
            unlink(shelf, *CHAPTERS)

    report = await shelf.service("book", "notes").process(unmount)
    assert (report.forgotten, report.missing) == (0, tuple(CHAPTERS))
    assert len(await seen(shelf)) == 8
    assert (await shelf.ingest("book", "notes")).missing == tuple(CHAPTERS)


async def test_a_run_that_was_stopped_does_not_delete_by_the_next_one(
    shelf: Desk,
) -> None:
    orders = [
        JobOrder(JobKind.PROCESS, DocumentId(name), Pipeline.NAIVE) for name in CHAPTERS
    ]
    await shelf.library.queue.enqueue(orders)
    unlink(shelf, *CHAPTERS)
    report = await shelf.ingest("book", "notes")
    assert (report.forgotten, report.missing) == (0, tuple(CHAPTERS))
    assert len(await seen(shelf)) == 8


async def test_a_link_to_a_drive_that_is_away_keeps_its_document(desk: Desk) -> None:
    kept = desk.write("drive/01.md", "The frog sat by the lamp.")
    (desk.folder / "02.md").symlink_to(kept)
    source = FolderSource(desk.folder, [desk.folder], ["drive/"])
    await desk.service(source=source).process(desk.events.append)
    assert await seen(desk) == ["02.md"]
    kept.unlink()
    report = await desk.service(source=source).process(desk.events.append)
    assert (report.forgotten, report.missing) == (0, ())
    assert await seen(desk) == ["02.md"]
