"""What travels between this machine and one that reads elsewhere: bytes, and no code.

An envelope is a mark, a version, and compressed: the length of a JSON text, that text,
and a tail of plain bytes (a file, or rows of float32, little-endian). Both ends may run
different versions of lrwr and of Python: what is not understood is refused.
"""

import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import TypeAlias

EnvelopeFields: TypeAlias = dict[str, object]

ENVELOPE_MAGIC = b"lrwr"
ENVELOPE_VERSION = 1

MAX_ENVELOPE_BYTES = 1 << 30
"""Bytes of an envelope's content: more is refused before it fills the memory."""

_COUNT = 8
"""Bytes that hold the length of the JSON text."""


class InvalidEnvelope(ValueError):
    """Bytes that are no envelope of this version, or whose content cannot be true."""


@dataclass(frozen=True, slots=True)
class ModalOrder:
    """What is to be done with one document.

    `settings` say how to read, by dotted name. `recipe` is the name that the result
    must have. `seams` and `texts` are known, and not to be worked out again. Where
    `asking`, a language model is to be asked about what is not in `kept`, and nothing
    else is wanted.
    """

    document: str
    content: bytes
    recipe: str
    settings: Mapping[str, object]
    seams: Mapping[str, float] = field(default_factory=dict)
    texts: frozenset[str] = frozenset()
    asking: bool = False
    kept: frozenset[str] = frozenset()


def encode_modal_order(order: ModalOrder) -> bytes:
    """Return an order as it travels: equal orders are equal bytes."""
    envelope_fields: EnvelopeFields = {
        "document": order.document,
        "recipe": order.recipe,
        "settings": dict(sorted(order.settings.items())),
        "seams": dict(sorted(order.seams.items())),
        "texts": sorted(order.texts),
        "asking": order.asking,
        "kept": sorted(order.kept),
        "content": sha256(order.content).hexdigest(),
    }
    return encode_envelope(envelope_fields, order.content)


def decode_modal_order(body: bytes) -> ModalOrder:
    """Return the order that came.

    Raises:
        InvalidEnvelope: It is none.
    """
    fields, content = decode_envelope(body)
    if get_envelope_text(fields, "content") != sha256(content).hexdigest():
        raise InvalidEnvelope("the file changed on the way")
    return ModalOrder(
        document=get_envelope_text(fields, "document"),
        content=content,
        recipe=get_envelope_text(fields, "recipe"),
        settings=get_envelope_map(fields, "settings"),
        seams=get_envelope_numbers(fields, "seams"),
        texts=frozenset(get_envelope_texts(fields, "texts")),
        asking=fields.get("asking") is True,
        kept=frozenset(get_envelope_texts(fields, "kept")),
    )


def encode_envelope(fields: EnvelopeFields, tail: bytes = b"") -> bytes:
    """Return an envelope with this content."""
    text = json.dumps(fields, ensure_ascii=False, separators=(",", ":"))
    inner = text.encode("utf-8", "surrogatepass")
    body = len(inner).to_bytes(_COUNT, "big") + inner + tail
    return ENVELOPE_MAGIC + bytes([ENVELOPE_VERSION]) + zlib.compress(body)


def decode_envelope(body: bytes) -> tuple[EnvelopeFields, bytes]:
    """Return the content of an envelope: what its JSON says, and its tail.

    Raises:
        InvalidEnvelope: It is none of ours, of another version, cut short, or too large.
    """
    if not isinstance(body, bytes) or body[: len(ENVELOPE_MAGIC)] != ENVELOPE_MAGIC:
        raise InvalidEnvelope("this is no envelope of lrwr's")
    if body[len(ENVELOPE_MAGIC) : len(ENVELOPE_MAGIC) + 1] != bytes([ENVELOPE_VERSION]):
        raise InvalidEnvelope("this envelope is of another version of lrwr")
    inner = _inflated(body[len(ENVELOPE_MAGIC) + 1 :])
    length = int.from_bytes(inner[:_COUNT], "big")
    text, tail = inner[_COUNT : _COUNT + length], inner[_COUNT + length :]
    if len(text) < length:
        raise InvalidEnvelope("the envelope is cut short")
    try:
        fields = json.loads(text.decode("utf-8", "surrogatepass"))
    except (ValueError, RecursionError) as error:
        raise InvalidEnvelope("the envelope holds no JSON") from error
    if not isinstance(fields, dict):
        raise InvalidEnvelope("the envelope's JSON is no object")
    return fields, tail


def _inflated(body: bytes) -> bytes:
    inflating = zlib.decompressobj()
    try:
        inner = inflating.decompress(body, MAX_ENVELOPE_BYTES)
    except zlib.error as error:
        raise InvalidEnvelope("the envelope is damaged") from error
    if not inflating.eof:
        raise InvalidEnvelope("the envelope is cut short, or too large")
    return inner


def get_envelope_text(fields: Mapping[str, object], name: str) -> str:
    """Return a text of an envelope's JSON.

    Raises:
        InvalidEnvelope: It is not there, or no text.
    """
    value = fields.get(name)
    if not isinstance(value, str):
        raise InvalidEnvelope(f"`{name}` is no text")
    return value


def get_envelope_list(fields: Mapping[str, object], name: str) -> list[object]:
    """Return a list of an envelope's JSON; raises `InvalidEnvelope` as `get_envelope_text` does."""
    value = fields.get(name)
    if not isinstance(value, list):
        raise InvalidEnvelope(f"`{name}` is no list")
    return value


def get_envelope_texts(fields: Mapping[str, object], name: str) -> list[str]:
    """Return a list of texts of an envelope's JSON; raises `InvalidEnvelope` as `get_envelope_text`."""
    envelope_list = get_envelope_list(fields, name)
    texts = [item for item in envelope_list if isinstance(item, str)]
    if len(texts) != len(envelope_list):
        raise InvalidEnvelope(f"`{name}` holds what is no text")
    return texts


def get_envelope_map(fields: Mapping[str, object], name: str) -> EnvelopeFields:
    """Return an object of an envelope's JSON; raises `InvalidEnvelope` as `get_envelope_text` does."""
    value = fields.get(name)
    if not isinstance(value, dict):
        raise InvalidEnvelope(f"`{name}` is no object")
    return value


def get_envelope_numbers(fields: Mapping[str, object], name: str) -> dict[str, float]:
    """Return an object of numbers; raises `InvalidEnvelope` as `get_envelope_text` does."""
    envelope_map = get_envelope_map(fields, name)
    numbers = {
        k: float(v) for k, v in envelope_map.items() if isinstance(v, int | float)
    }
    if len(numbers) != len(envelope_map):
        raise InvalidEnvelope(f"`{name}` holds what is no number")
    return numbers
