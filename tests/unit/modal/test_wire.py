import json
import zlib
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lrwr.core.adapters.modal.wire import (
    MAGIC,
    WIRE_VERSION,
    InvalidEnvelope,
    ModalOrder,
    WireVersionMismatch,
    decode_message,
    decode_modal_order,
    encode_message,
    encode_modal_order,
)

NAMES = st.text(max_size=20)
ORDERS = st.builds(
    ModalOrder,
    document=NAMES,
    content=st.binary(max_size=200),
    recipe=NAMES,
    settings=st.dictionaries(NAMES, st.integers() | st.text() | st.booleans()),
    seams=st.dictionaries(NAMES, st.floats(0, 2, allow_nan=False)),
    texts=st.lists(NAMES, max_size=5).map(tuple),
    asking=st.booleans(),
    kept=st.lists(NAMES, max_size=5).map(tuple),
)


@given(ORDERS)
def test_an_order_comes_as_it_was_sent_and_is_always_the_same_bytes(
    order: ModalOrder,
) -> None:
    body = encode_modal_order(order)
    assert decode_modal_order(body) == order
    assert encode_modal_order(decode_modal_order(body)) == body


@given(st.binary(max_size=200))
def test_bytes_that_are_no_order_are_refused(body: bytes) -> None:
    for sent in (body, MAGIC + bytes([WIRE_VERSION]) + body):
        with pytest.raises(InvalidEnvelope):
            decode_modal_order(sent)


@given(ORDERS, st.data())
def test_an_order_that_was_damaged_on_the_way_is_refused_or_the_same(
    order: ModalOrder, data: st.DataObject
) -> None:
    body = bytearray(encode_modal_order(order))
    place = data.draw(st.integers(0, len(body) - 1))
    body[place] ^= data.draw(st.integers(1, 255))
    with suppress(InvalidEnvelope):
        assert decode_modal_order(bytes(body)) == order


def test_another_version_of_the_envelope_is_refused() -> None:
    body = encode_message({}, b"x")
    with pytest.raises(WireVersionMismatch):
        decode_message(body[:4] + bytes([WIRE_VERSION + 1]) + body[5:], dict)


def test_an_envelope_that_would_fill_the_memory_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("lrwr.core.adapters.modal.wire.MAX_MESSAGE_BYTES", 1000)
    with pytest.raises(InvalidEnvelope, match="too large"):
        decode_message(encode_message({}, bytes(2000)), dict)


@pytest.mark.parametrize(
    "told",
    [
        [],
        "x",
        {"document": 1},
        {"document": "a.md", "content": "", "recipe": 1, "settings": {}},
    ],
)
def test_json_of_another_shape_is_refused(told: object) -> None:
    text = json.dumps(told).encode()
    inner = len(text).to_bytes(8, "big") + text
    with pytest.raises(InvalidEnvelope):
        decode_modal_order(MAGIC + bytes([WIRE_VERSION]) + zlib.compress(inner))
