"""Token states of passages, stored so that reranking need not run the model.

A token state is the output of the embedding model for one token. It is projected from
384 to 64 numbers, onto the directions in which the states of novels vary most, and each
number is rounded to 4 bits: a passage of 200 tokens takes 6.4 kB (decision 031).
"""

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING

import numpy as np

from lrwr.core.model.text import Span
from lrwr.core.ports.models import SentenceRating

if TYPE_CHECKING:
    from numpy.typing import NDArray

STATE_DIMENSIONS = 64
"""Numbers of a stored token state."""

PROJECTION_FILE = "projection.f16"
"""The asset with the projection: 384 rows of 64 little-endian 16-bit floats, made by
`tools/build_projection.py` for the embedding model that comes with lrwr."""

_LEVELS = 7
"""The largest rounded number; with the sign, 15 of the 16 values of 4 bits are used."""

_SENTENCE = struct.Struct("<HH")
_MOST = 0xFFFF


@dataclass(frozen=True, slots=True)
class PassageStates:
    """The stored token states of one passage, in text order.

    `ends[i]` is the end of the i-th sentence in the passage's text, in characters, and
    `counts[i]`, at least 1, the number of its tokens. `states` has one row of length
    1.0 for each token, `STATE_DIMENSIONS` long.
    """

    ends: tuple[int, ...]
    counts: tuple[int, ...]
    states: "NDArray[np.float32]"


@dataclass(frozen=True, slots=True)
class PassageComparison:
    """How similar a passage is to a question, about 0.0 to 1.0.

    `nearest` is the mean similarity of each token of the question to the most similar
    one of the passage (MaxSim). `meaning` is the greatest similarity of the mean state
    of a window of sentences to that of the question. `window` is the first sentence of
    the window with the greatest MaxSim of its own. `ends` are the ends of the passage's
    sentences, in characters.
    """

    ends: tuple[int, ...]
    nearest: float
    meaning: float
    window: int = 0


def project_states(states: "NDArray[np.float32]") -> "NDArray[np.float32]":
    """Return token states projected to `STATE_DIMENSIONS`, each of length 1.0.

    `states` has one row of 384 numbers for each token.
    """
    return _scale_rows(_scale_rows(states) @ _projection())


def encode_passage_states(
    states: "NDArray[np.float32]", starts: Sequence[int], sentences: Sequence[Span]
) -> bytes:
    """Return the token states of a passage in the form in which they are stored.

    `states` has one row of 384 numbers for each token; `starts` are the offsets of the
    tokens in the passage's text, ascending, and `sentences` the spans of its sentences.
    Empty if the passage is longer than the form allows: 65,535 characters.
    """
    last = sentences[-1].end if sentences else 0
    if max(last, *starts, 0) > _MOST:
        return b""
    edges = [sentence.start for sentence in sentences[1:]]
    counts = np.bincount(
        np.searchsorted(edges, starts, side="right"), minlength=len(edges) + 1
    )
    table = _list_sentences([sentence.end for sentence in sentences] or [0], counts)
    projected = project_states(states)
    peaks = np.maximum(np.abs(projected).max(axis=1, keepdims=True), 1e-9)
    levels = (np.rint(projected / peaks * _LEVELS) + _LEVELS + 1).astype(np.uint8)
    packed = levels[:, 0::2] << 4 | levels[:, 1::2]
    head = struct.pack("<H", len(table))
    states_part: bytes = packed.tobytes()
    return head + b"".join(_SENTENCE.pack(*row) for row in table) + states_part


def decode_passage_states(content: bytes) -> PassageStates:
    """Return the token states that `encode_passage_states` encoded.

    Raises:
        ValueError: `content` has another form.
    """
    try:
        (number,) = struct.unpack_from("<H", content)
        at = 2 + number * _SENTENCE.size
        table = list(_SENTENCE.iter_unpack(content[2:at]))
        packed = np.frombuffer(content, np.uint8, offset=at)
        packed = packed.reshape(-1, STATE_DIMENSIONS // 2)
    except (struct.error, ValueError) as error:
        raise ValueError("the token states of a passage are damaged") from error
    counts = tuple(count for _, count in table)
    if sum(counts) != len(packed) or 0 in counts:
        raise ValueError("the token states of a passage are damaged")
    levels = np.empty((len(packed), STATE_DIMENSIONS), np.float32)
    levels[:, 0::2] = packed >> 4
    levels[:, 1::2] = packed & 15
    # Each state was scaled by its own peak; the length of 1.0 makes up for that.
    states = _scale_rows(levels - (_LEVELS + 1))
    return PassageStates(tuple(end for end, _ in table), counts, states)


def compare_passage(
    passage: PassageStates,
    question: "NDArray[np.float32]",
    weights: "NDArray[np.float32]",
    sentences: int,
) -> PassageComparison:
    """Compare a question with a passage, whose windows have so many `sentences`.

    `question` has projected states, a row for each token, as `weights` has a number.
    Without tokens a passage is not similar at all: 0.0.
    """
    if not passage.counts:
        return PassageComparison(passage.ends, 0.0, 0.0)
    starts = np.cumsum([0, *passage.counts[:-1]])
    by_sentence = np.maximum.reduceat(question @ passage.states.T, starts, axis=1)
    nearest = by_sentence.max(axis=1) @ weights
    sums = np.add.reduceat(passage.states, starts, axis=0)
    size = min(sentences, len(sums))
    windows = np.stack(
        [sums[n : n + size].sum(axis=0) for n in range(len(sums) - size + 1)]
    )
    # The question's mean is not scaled to length 1.0, as when its weight was measured.
    meaning = (_scale_rows(windows) @ question.mean(axis=0)).max()
    by_window = [
        by_sentence[:, n : n + size].max(axis=1) @ weights for n in range(len(windows))
    ]
    window = int(np.argmax(by_window))
    return PassageComparison(passage.ends, float(nearest), float(meaning), window)


def rate_sentences(
    passage: PassageStates,
    question: "NDArray[np.float32]",
    weights: "NDArray[np.float32]",
) -> list[SentenceRating]:
    """Return the MaxSim of each sentence of a passage, in text order.

    `question` has projected states, a row for each token, as `weights` has a number.
    """
    if not passage.counts:
        return []
    similarities = question @ passage.states.T
    firsts = np.cumsum([0, *passage.counts[:-1]])
    nearest = np.maximum.reduceat(similarities, firsts, axis=1)
    spans = map(Span, [0, *passage.ends[:-1]], passage.ends)
    return [
        SentenceRating(span, score)
        for span, score in zip(spans, (weights @ nearest).tolist(), strict=True)
    ]


def _list_sentences(
    ends: Sequence[int], counts: "NDArray[np.int64]"
) -> list[tuple[int, int]]:
    """Return the end and the number of tokens of each sentence; one without tokens is
    joined to the sentence before it.
    """
    table: list[tuple[int, int]] = []
    for end, count in zip(ends, counts.tolist(), strict=True):
        if count:
            table.append((end, count))
        elif table:
            table[-1] = (end, table[-1][1])
    return table


def _scale_rows(rows: "NDArray[np.float32]") -> "NDArray[np.float32]":
    lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows))
    scaled: NDArray[np.float32] = rows / np.maximum(lengths, 1e-9)[:, np.newaxis]
    return scaled


@cache
def _projection() -> "NDArray[np.float32]":
    content = (
        resources.files("lrwr.core.adapters.embed")
        .joinpath("assets", PROJECTION_FILE)
        .read_bytes()
    )
    flat = np.frombuffer(content, np.dtype("<f2")).astype(np.float32)
    return flat.reshape(-1, STATE_DIMENSIONS)
