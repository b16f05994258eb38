from lrwr.core.adapters.source.parser import Parser, parse_document
from lrwr.core.model.chunks import Pipeline
from lrwr.core.model.documents import Document, DocumentId
from tests.fakes.desks import Desk


class Stumbling(Parser):
    def __call__(self, document: DocumentId, content: bytes) -> Document:
        if document == "01.md":
            raise ValueError("The frog sat by the lamp.")
        return parse_document(document, content)


async def test_an_error_that_nobody_foresaw_in_one_file_costs_that_file_alone(
    desk: Desk,
) -> None:
    desk.write("01.md", "# Chapter 1\n\nThe frog sat by the lamp.")
    desk.write("02.md", "# Chapter 2\n\nMags opened the ledger.")
    desk.parse = Stumbling()
    report = await desk.ingest()
    (problem,) = report.problems
    assert problem.document == "01.md"
    assert "ValueError" in problem.message
    assert "frog" not in problem.message
    seen = await desk.library.knowledge.seen(Pipeline.NAIVE)
    assert [one.id for one in seen] == ["02.md"]
    desk.parse = Parser()
    assert (await desk.ingest()).problems == []
    seen = await desk.library.knowledge.seen(Pipeline.NAIVE)
    assert [one.id for one in seen] == ["01.md", "02.md"]
