import pytest

from lrwr.core.adapters.storage.supabase.codecs import (
    CAST,
    DOCUMENT,
    WOVEN,
    RecordTombstone,
    build_tombstone,
    decode_record,
)
from lrwr.core.model.errors import StoreProblem


@pytest.mark.parametrize("key", ["", "notes/x.md", "zz/x.md"])
def test_a_document_that_is_gone_from_an_unknown_pipeline_asks_for_a_newer_lrwr(
    key: str,
) -> None:
    with pytest.raises(StoreProblem, match="cannot be read") as caught:
        decode_record(build_tombstone(DOCUMENT, key))
    assert "Upgrade lrwr" in caught.value.hint


@pytest.mark.parametrize(
    ("kind", "key"), [(DOCUMENT, "a/x.md"), (WOVEN, "zz/x.md"), (CAST, "cast")]
)
def test_what_is_gone_otherwise_is_told(kind: str, key: str) -> None:
    assert decode_record(build_tombstone(kind, key)) == RecordTombstone(kind, key)
