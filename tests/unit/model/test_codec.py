"""The codec: what goes in comes out, and damaged data is refused by key."""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lrwr.core.model.cast import Alias, Cast, Character, Gender, Quotation
from lrwr.core.model.codec import (
    InvalidData,
    decode_checked_json,
    decode_json,
    decode_value,
    encode_json,
    encode_value,
)
from lrwr.core.model.documents import Chapter
from lrwr.core.model.facts import Certainty, Fact
from lrwr.core.model.jobs import JobClaim
from lrwr.core.model.text import Span
from lrwr.core.model.turns import NarrativeState, SupervisorOutput, Thread, Turn


@dataclass(frozen=True, slots=True)
class Parcel:
    """One field of every kind that the package's dataclasses have."""

    path: Path
    vector: bytes
    by_number: dict[int, tuple[Span, ...]]
    score: float | None
    fields: Mapping[str, float] = field(default_factory=dict)


STORED = (Cast, Chapter, Fact, JobClaim, Parcel, Quotation, SupervisorOutput, Thread)
TEXT = st.text(st.characters(), max_size=12)
"""Any characters, lone surrogates and U+0000 among them."""


def values() -> st.SearchStrategy[object]:
    for kind, strategy in (
        (str, TEXT),
        (float, st.floats(allow_nan=False)),
        (Path, st.sampled_from([Path("a"), Path("a/b.md")])),
    ):
        st.register_type_strategy(kind, strategy)
    return st.one_of(*(st.from_type(kind) for kind in STORED))


@given(value=st.deferred(values))
def test_what_is_encoded_is_decoded_to_an_equal_value(value: object) -> None:
    assert decode_value(encode_value(value), type(value)) == value
    assert decode_json(encode_json(value), type(value)) == value
    assert decode_json(encode_json(value, ascii_only=True), type(value)) == value
    assert decode_checked_json(encode_json(value), type(value)) == value


@given(turn=st.builds(Turn))
def test_a_turn_survives_with_every_nested_value(turn: Turn) -> None:
    assert decode_json(encode_json(turn), Turn) == turn


def test_json_has_field_names_in_order_and_no_spaces() -> None:
    state = NarrativeState(character="Zoë", entities=("a", "b"))
    assert encode_json(state) == (
        '{"character":"Zoë","mode":"analytical","as_of":"","witnessed":false,'
        '"entities":["a","b"],"assumptions":[]}'
    )
    assert '"Zo\\u00eb"' in encode_json(state, ascii_only=True)


def test_numbers_are_written_as_python_writes_them() -> None:
    assert encode_json([1e-05, 1e16, 3.0]) == json.dumps(
        [1e-05, 1e16, 3.0], separators=(",", ":")
    )
    assert math.isnan(decode_json(encode_json([math.nan]), list[float])[0])


def test_mappings_of_any_kind_are_objects() -> None:
    assert encode_value(MappingProxyType({1: "a"})) == {"1": "a"}


def test_absent_fields_take_their_defaults_and_unknown_keys_are_ignored() -> None:
    assert decode_value({"character": "Nell", "mood": 1}, NarrativeState) == (
        NarrativeState(character="Nell")
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "Not JSON"),
        ("[" * 100_000, "Not JSON"),
        ('{"start": 1}', "missing required field `end`"),
        ('{"start": "1", "end": 2}', "Expected `int`, got `str` - at `$.start`"),
        ('{"start": 1.5, "end": 2}', "Expected `int`, got `float`"),
        ("null", "Expected `object`, got `null`"),
    ],
)
def test_damaged_data_is_refused_with_the_key(text: str, message: str) -> None:
    with pytest.raises(InvalidData, match=message.replace("$", r"\$")):
        decode_json(text, Span)


@pytest.mark.parametrize("text", ["", "[", '{"start":1}', '{"start":1,"end":"2"}'])
def test_a_checked_text_of_another_shape_is_refused_too(text: str) -> None:
    with pytest.raises(InvalidData):
        decode_checked_json(text, Span)


def test_an_unknown_enum_value_is_refused() -> None:
    character = Character("N", (), Gender.MALE, Certainty.PROBABLE, Certainty.PROBABLE)
    fields = {**encode_value(character), "gender": "?"}
    with pytest.raises(InvalidData, match=r"\$\.gender"):
        decode_value(fields, Character)


def test_generic_types_are_decoded() -> None:
    aliases = (Alias("Nell", 3, Certainty.VERIFIED),)
    assert decode_value(encode_value(aliases), tuple[Alias, ...]) == aliases


def test_an_object_without_a_json_form_is_a_mistake_of_the_caller() -> None:
    with pytest.raises(TypeError, match="object has no JSON form"):
        encode_value(object())
