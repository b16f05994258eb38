from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lrwr.pipeline.stages.units import (
    AROUND,
    Seam,
    build_seam,
    collect_seam_sentences,
    compute_seam_distances,
    find_missing_seams,
)
from tests.fakes.embedder import WordEmbedder

TALE = [f"Sentence {n} of the tide." for n in range(20)]

some_sentences = st.lists(st.text(min_size=1, max_size=9), min_size=2, max_size=12)


def seams_of(sentences: list[str]) -> list[Seam]:
    return [build_seam(sentences, place) for place in range(1, len(sentences))]


def distance(before: list[list[float]], after: list[list[float]]) -> float:
    sentences = [f"{n}." for n in range(len(before + after))]
    vectors = np.array(before + after, np.float32)
    seam = build_seam(sentences, len(before))
    return compute_seam_distances([seam], sentences, vectors)[seam.key]


def test_a_seam_has_three_sentences_on_each_side_and_fewer_at_an_edge() -> None:
    assert build_seam(TALE, 9).before == tuple(TALE[6:9])
    assert build_seam(TALE, 9).after == tuple(TALE[9:12])
    assert build_seam(TALE, 1).before == (TALE[0],)
    assert build_seam(TALE, 19).after == (TALE[19],)


@given(some_sentences, st.lists(st.text(max_size=9), max_size=4))
def test_a_key_depends_on_the_sentences_around_and_on_nothing_else(
    sentences: list[str], more: list[str]
) -> None:
    place = len(sentences) // 2
    around = sentences[max(0, place - AROUND) : place + AROUND]
    moved = [*more, *["x"] * AROUND, *sentences]
    keys = {seam.key for seam in seams_of(moved)}
    inner = build_seam(sentences, place)
    if place >= AROUND:
        assert inner.key in keys
    assert inner.key == build_seam(around, min(place, AROUND)).key


@given(some_sentences)
def test_two_seams_with_one_key_have_the_same_sentences(sentences: list[str]) -> None:
    by_key = {seam.key: seam for seam in seams_of(sentences)}
    for seam in seams_of(sentences):
        assert (seam.before, seam.after) == (
            by_key[seam.key].before,
            by_key[seam.key].after,
        )


def test_where_sentences_are_parted_tells_seams_apart() -> None:
    assert build_seam(["a", "b", "c"], 1).key != build_seam(["a", "b", "c"], 2).key
    assert build_seam(["a", "bc"], 1).key != build_seam(["ab", "c"], 1).key
    assert build_seam(["1:a", "b"], 1).key != build_seam(["a", "1:b"], 1).key


def test_an_edit_asks_for_the_seams_near_it_and_the_sentences_around_those() -> None:
    known = dict.fromkeys((seam.key for seam in seams_of(TALE)), 0.5)
    edited = [*TALE[:10], "The bell rang.", *TALE[10:]]
    missing = find_missing_seams(seams_of(edited), known)
    assert len(missing) == 2 * AROUND
    assert collect_seam_sentences(missing) == tuple(edited[5:16])
    assert find_missing_seams(seams_of(TALE), known) == ()


def test_what_stands_twice_is_asked_for_once() -> None:
    twice = [*TALE, *TALE]
    missing = find_missing_seams(seams_of(twice), {})
    assert len({seam.key for seam in missing}) == len(missing) < len(twice) - 1
    assert sorted(collect_seam_sentences(missing)) == sorted(TALE)


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ([[1, 0]], [[1, 0]], 0.0),
        ([[1, 0]], [[0, 1]], 1.0),
        ([[1, 0]], [[-1, 0]], 2.0),
        ([[1, 0], [0, 1]], [[0, 1], [1, 0]], 0.0),
        ([[1, 0], [0, 1]], [[1, 0]], 1 - 0.5**0.5),
        ([[1, 0], [-1, 0]], [[1, 0]], 0.0),
    ],
)
def test_a_distance_is_that_of_the_means(
    before: list[list[float]], after: list[list[float]], expected: float
) -> None:
    assert distance(before, after) == pytest.approx(expected, abs=1e-5)


@given(some_sentences)
async def test_distances_are_in_range_and_do_not_depend_on_what_else_is_asked(
    sentences: list[str],
) -> None:
    seams = seams_of(sentences)
    asked = collect_seam_sentences(seams)
    vectors = await WordEmbedder().embed(asked)
    together = compute_seam_distances(seams, asked, vectors)
    assert all(0.0 <= d <= 2.0 for d in together.values())
    backwards = compute_seam_distances(seams[::-1], asked[::-1], vectors[::-1])
    assert together == backwards


def test_a_turn_in_the_text_is_further_than_what_goes_on() -> None:
    north, east = [1.0, 0.1], [0.1, 1.0]
    vectors = np.array([north] * 4 + [east] * 4, np.float32)
    sentences = [f"{n}." for n in range(8)]
    found = compute_seam_distances(seams_of(sentences), sentences, vectors)
    along = [found[seam.key] for seam in seams_of(sentences)]
    assert max(along) == along[3]
    assert all(one <= two for one, two in pairwise(along[:4]))
