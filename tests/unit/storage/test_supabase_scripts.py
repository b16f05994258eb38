import json

import pytest
from hypothesis import given
from hypothesis import strategies as some

from lrwr.core.adapters.storage.supabase.records import (
    find_missing_migrations,
    list_supabase_migrations,
)
from lrwr.core.adapters.storage.supabase.rpc import (
    decode_postgres_text,
    encode_postgres_json,
    encode_postgres_text,
)

TEXT = some.text(some.characters(codec="utf-8"))
VALUE = some.recursive(
    some.none() | some.booleans() | some.integers() | TEXT,
    lambda inner: some.lists(inner) | some.dictionaries(some.text("abc"), inner),
)


def test_scripts_are_numbered_from_one_without_a_gap_and_say_so() -> None:
    found = list_supabase_migrations()
    assert [one.number for one in found] == list(range(1, len(found) + 1))
    for one in found:
        told = f"insert into public.lrwr_migration (number) values ({one.number}) "
        assert told in one.sql


def test_what_a_project_has_not_run_is_missing() -> None:
    whole = list_supabase_migrations()
    assert find_missing_migrations([]) == whole
    assert find_missing_migrations([1, 3]) == [
        one for one in whole if one.number not in (1, 3)
    ]
    assert find_missing_migrations([*range(1, 99)]) == []


@given(VALUE)
def test_what_is_packed_comes_back_as_it_was(value: object) -> None:
    assert decode_postgres_text(encode_postgres_text(value)) == value
    assert decode_postgres_text(json.loads(encode_postgres_json(value))) == value


@given(TEXT)
def test_nothing_that_is_packed_holds_what_postgresql_refuses(text: str) -> None:
    assert "\0" not in encode_postgres_text(text)
    assert "\\u0000" not in encode_postgres_json(text.replace("\\", ""))


@pytest.mark.parametrize("text", ["\x10", "\x100", "\x10\x00", "\x00\x101", "a\x10"])
def test_the_mark_itself_is_no_riddle(text: str) -> None:
    assert decode_postgres_text(encode_postgres_text(text)) == text


def test_what_is_not_unicode_becomes_a_sign() -> None:
    assert encode_postgres_text(["\udcff", {"a": "b\ud800"}]) == ["?", {"a": "b?"}]
