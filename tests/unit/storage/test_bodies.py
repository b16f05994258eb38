import pytest

from lrwr.core.adapters.storage.supabase.codecs import (
    CAST,
    DOCUMENT,
    WOVEN,
    Gone,
    gone,
    told_by,
)
from lrwr.core.model.errors import StoreProblem


@pytest.mark.parametrize("key", ["", "notes/x.md", "zz/x.md"])
def test_a_document_that_is_gone_from_an_unknown_pipeline_asks_for_a_newer_lrwr(
    key: str,
) -> None:
    with pytest.raises(StoreProblem, match="cannot be read") as caught:
        told_by(gone(DOCUMENT, key))
    assert "newer lrwr" in caught.value.hint


@pytest.mark.parametrize(
    ("kind", "key"), [(DOCUMENT, "a/x.md"), (WOVEN, "zz/x.md"), (CAST, "cast")]
)
def test_what_is_gone_otherwise_is_told(kind: str, key: str) -> None:
    assert told_by(gone(kind, key)) == Gone(kind, key)
