from hypothesis import given
from hypothesis import strategies as st

from lrwr.core.adapters.storage.sqlite.document_rows import (
    chapters_from_json,
    outline_from_json,
    outline_to_json,
)
from lrwr.core.model.documents import Chapter, DocumentId, Scene
from lrwr.core.model.text import Span

ONE = Chapter("The “Mill”", Span(0, 9), (Scene(Span(0, 9), (Span(1, 4),)),), volume=2)


@given(st.none() | st.lists(st.text().map(DocumentId)).map(tuple))
def test_an_outline_is_read_as_it_was_written(
    files: tuple[DocumentId, ...] | None,
) -> None:
    text = outline_to_json([ONE], files)
    assert outline_from_json(text) == ((ONE,), files or ())
    assert chapters_from_json(text) == (ONE,)
