from lrwr.core.model.choices import Pipeline
from lrwr.core.model.documents import DocumentId
from lrwr.core.retrieval.freshness import drop_deleted_passages
from lrwr.core.retrieval.search_model import SearchRequest
from tests.fakes.desks import Desk

LAMP, STONES = DocumentId("lamp.md"), DocumentId("stones.md")


async def read(desk: Desk) -> None:
    desk.write(LAMP, "Nell lit the lamp.")
    desk.write(STONES, "The lamp stood on the stones.")
    await desk.ingest()


async def test_what_was_taken_away_since_it_was_found_is_left_out(desk: Desk) -> None:
    await read(desk)
    finder = desk.finder()
    found = await finder.find(SearchRequest("lamp", Pipeline.NAIVE, 8))
    (desk.folder / STONES).unlink()
    await desk.ingest()
    kept, texts = await drop_deleted_passages(desk.library.passages, found)
    assert [passage.chunk.document for passage in kept.passages] == [LAMP]
    assert kept.remarks == ("stones.md was deleted during the search.",)
    assert texts[LAMP].text == "Nell lit the lamp."
    assert len(found.passages) == 2


async def test_nothing_is_said_where_all_is_still_there(desk: Desk) -> None:
    await read(desk)
    found = await desk.finder().find(SearchRequest("lamp", Pipeline.NAIVE, 8))
    kept, texts = await drop_deleted_passages(desk.library.passages, found)
    assert kept == found
    assert set(texts) == {LAMP, STONES}


async def test_a_document_that_never_was_has_no_text(desk: Desk) -> None:
    await read(desk)
    assert set(await desk.library.passages.texts([LAMP, DocumentId("no.md")])) == {LAMP}
