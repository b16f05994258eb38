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

Told: TypeAlias = dict[str, object]

MARK = b"lrwr"
VERSION = 1

MOST = 1 << 30
"""Bytes of an envelope's content: more is refused before it fills the memory."""

_COUNT = 8
"""Bytes that hold the length of the JSON text."""


class Misfit(ValueError):
    """Bytes that are no envelope of this version, or whose content cannot be true."""


@dataclass(frozen=True, slots=True)
class Order:
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


def order_to_bytes(order: Order) -> bytes:
    """Return an order as it travels: equal orders are equal bytes."""
    told: Told = {
        "document": order.document,
        "recipe": order.recipe,
        "settings": dict(sorted(order.settings.items())),
        "seams": dict(sorted(order.seams.items())),
        "texts": sorted(order.texts),
        "asking": order.asking,
        "kept": sorted(order.kept),
        "content": sha256(order.content).hexdigest(),
    }
    return packed(told, order.content)


def order_from_bytes(body: bytes) -> Order:
    """Return the order that came.

    Raises:
        Misfit: It is none.
    """
    told, content = unpacked(body)
    if text_in(told, "content") != sha256(content).hexdigest():
        raise Misfit("the file changed on the way")
    return Order(
        document=text_in(told, "document"),
        content=content,
        recipe=text_in(told, "recipe"),
        settings=map_in(told, "settings"),
        seams=numbers_in(told, "seams"),
        texts=frozenset(texts_in(told, "texts")),
        asking=told.get("asking") is True,
        kept=frozenset(texts_in(told, "kept")),
    )


def packed(told: Told, tail: bytes = b"") -> bytes:
    """Return an envelope with this content."""
    text = json.dumps(told, ensure_ascii=False, separators=(",", ":"))
    inner = text.encode("utf-8", "surrogatepass")
    body = len(inner).to_bytes(_COUNT, "big") + inner + tail
    return MARK + bytes([VERSION]) + zlib.compress(body)


def unpacked(body: bytes) -> tuple[Told, bytes]:
    """Return the content of an envelope: what its JSON says, and its tail.

    Raises:
        Misfit: It is none of ours, of another version, cut short, or too large.
    """
    if not isinstance(body, bytes) or body[: len(MARK)] != MARK:
        raise Misfit("this is no envelope of lrwr's")
    if body[len(MARK) : len(MARK) + 1] != bytes([VERSION]):
        raise Misfit("this envelope is of another version of lrwr")
    inner = _inflated(body[len(MARK) + 1 :])
    length = int.from_bytes(inner[:_COUNT], "big")
    text, tail = inner[_COUNT : _COUNT + length], inner[_COUNT + length :]
    if len(text) < length:
        raise Misfit("the envelope is cut short")
    try:
        told = json.loads(text.decode("utf-8", "surrogatepass"))
    except (ValueError, RecursionError) as error:
        raise Misfit("the envelope holds no JSON") from error
    if not isinstance(told, dict):
        raise Misfit("the envelope's JSON is no object")
    return told, tail


def _inflated(body: bytes) -> bytes:
    inflating = zlib.decompressobj()
    try:
        inner = inflating.decompress(body, MOST)
    except zlib.error as error:
        raise Misfit("the envelope is damaged") from error
    if not inflating.eof:
        raise Misfit("the envelope is cut short, or too large")
    return inner


def text_in(told: Mapping[str, object], name: str) -> str:
    """Return a text of an envelope's JSON.

    Raises:
        Misfit: It is not there, or no text.
    """
    found = told.get(name)
    if not isinstance(found, str):
        raise Misfit(f"`{name}` is no text")
    return found


def list_in(told: Mapping[str, object], name: str) -> list[object]:
    """Return a list of an envelope's JSON; raises `Misfit` as `text_in` does."""
    found = told.get(name)
    if not isinstance(found, list):
        raise Misfit(f"`{name}` is no list")
    return found


def texts_in(told: Mapping[str, object], name: str) -> list[str]:
    """Return a list of texts of an envelope's JSON; raises `Misfit` as `text_in`."""
    found = list_in(told, name)
    texts = [one for one in found if isinstance(one, str)]
    if len(texts) != len(found):
        raise Misfit(f"`{name}` holds what is no text")
    return texts


def map_in(told: Mapping[str, object], name: str) -> Told:
    """Return an object of an envelope's JSON; raises `Misfit` as `text_in` does."""
    found = told.get(name)
    if not isinstance(found, dict):
        raise Misfit(f"`{name}` is no object")
    return found


def numbers_in(told: Mapping[str, object], name: str) -> dict[str, float]:
    """Return an object of numbers; raises `Misfit` as `text_in` does."""
    found = map_in(told, name)
    numbers = {k: float(v) for k, v in found.items() if isinstance(v, int | float)}
    if len(numbers) != len(found):
        raise Misfit(f"`{name}` holds what is no number")
    return numbers
