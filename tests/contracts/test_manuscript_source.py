from pathlib import Path

import pytest

from lrwr.core.adapters.source.folder import FolderSource
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.errors import NotFound
from lrwr.core.ports.sources import ManuscriptFile, ManuscriptSource

ONE, TWO, ELSEWHERE = (DocumentId(f"{d}.md") for d in ("book/1", "book/2", "notes/1"))


class Writer:
    """Somebody who writes, and the source that looks on."""

    def __init__(self, kind: str, place: Path) -> None:
        assert kind == "folder"
        self._place = place
        (place / "book").mkdir()
        self.source: ManuscriptSource = FolderSource(place, [place / "book"])

    def save(self, document: DocumentId, text: str) -> None:
        path = self._place / document
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def delete(self, document: DocumentId) -> None:
        (self._place / document).unlink()

    def delete_everything(self) -> None:
        (self._place / "book").rmdir()


@pytest.fixture(params=["folder"])
def writer(request: pytest.FixtureRequest, tmp_path: Path) -> Writer:
    return Writer(request.param, tmp_path)


async def found(writer: Writer) -> tuple[ManuscriptFile, ...]:
    return (await writer.source.list()).found


async def test_manuscripts_are_listed_by_id(writer: Writer) -> None:
    assert await found(writer) == ()
    for document in (TWO, ONE, ELSEWHERE):
        writer.save(document, "The frog.")
    assert [one.id for one in await found(writer)] == [ONE, TWO]


async def test_a_file_that_did_not_change_keeps_its_revision(writer: Writer) -> None:
    writer.save(ONE, "The frog.")
    assert await found(writer) == await found(writer)


async def test_a_file_that_changed_has_another_revision(writer: Writer) -> None:
    writer.save(ONE, "The frog.")
    writer.save(TWO, "The pony.")
    before = await found(writer)
    writer.save(ONE, "The toad came.")
    after = await found(writer)
    assert before[0].revision != after[0].revision
    assert before[1] == after[1]


async def test_what_is_read_is_what_was_listed(writer: Writer) -> None:
    writer.save(ONE, "“Keeper,” she said.\r\n")
    content, revision = await writer.source.read(ONE)
    assert content.decode() == "“Keeper,” she said.\r\n"
    (listed,) = await found(writer)
    assert listed == ManuscriptFile(ONE, revision)


async def test_a_deleted_file_is_no_longer_listed_but_still_covered(
    writer: Writer,
) -> None:
    writer.save(ONE, "The frog.")
    await writer.source.list()
    writer.delete(ONE)
    assert await found(writer) == ()
    assert writer.source.covers(ONE)
    with pytest.raises(NotFound) as caught:
        await writer.source.read(ONE)
    assert caught.value.hint


async def test_what_lies_elsewhere_is_not_covered_and_not_read(writer: Writer) -> None:
    writer.save(ELSEWHERE, "A secret.")
    assert not writer.source.covers(ELSEWHERE)
    with pytest.raises(NotFound):
        await writer.source.read(ELSEWHERE)


async def test_every_file_that_is_listed_is_covered(writer: Writer) -> None:
    for document in (ONE, TWO):
        writer.save(document, "The frog.")
    assert all(writer.source.covers(one.id) for one in await found(writer))


async def test_what_is_passed_over_comes_with_a_reason(writer: Writer) -> None:
    writer.save(DocumentId("book/picture.png"), "…")
    listing = await writer.source.list()
    assert listing.found == ()
    (skipped,) = listing.skipped
    assert skipped.path == "book/picture.png"
    assert skipped.reason


async def test_a_place_that_is_not_there_is_not_an_empty_one(writer: Writer) -> None:
    writer.delete_everything()
    with pytest.raises(NotFound) as caught:
        await writer.source.list()
    assert caught.value.hint
