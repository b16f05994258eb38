from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from lrwr.core.adapters.embed.local import LocalEmbedder
from lrwr.core.adapters.source.parser import parse_document
from lrwr.core.model.chunks import Chunk, ChunkKind
from lrwr.core.model.documents import Chapter, Document, DocumentId, Scene
from lrwr.core.model.text import LineIndex, Span
from lrwr.pipeline.stages.recursive_splitter import CountTokens, split_recursively
from tests.fakes.embedder import count_words
from tests.fakes.records import a_document, hash_of
from tests.fakes.suite import examples
from tests.unit.pipeline.told import (
    NOTE,
    Scenes,
    document_of,
    homes_of,
    some_paragraphs,
)

EXAMPLE = Path(__file__).parents[3] / "examples/marsh-lantern/chapters"
parts = st.one_of(
    some_paragraphs(),
    some_paragraphs().map(lambda text: NOTE + text),
    st.sampled_from(["", "霧", "\n\n", "x" * 700]),
)
scenes = st.lists(st.lists(parts, max_size=4), min_size=1, max_size=4)
sizes = st.tuples(st.integers(1, 40), st.integers(0, 20)).map(
    lambda pair: (pair[0], min(pair[1], pair[0] // 2))
)


def split(
    document: Document, size: int, overlap: int, count: CountTokens = count_words
) -> tuple[Chunk, ...]:
    return split_recursively(document, count, size=size, overlap=overlap)


def check_promises(
    document: Document, chunks: Sequence[Chunk], size: int, count: CountTokens
) -> None:
    homes = homes_of(document)
    lost = {
        i
        for home, *_ in homes
        for i in range(home.start, home.end)
        if not document.text[i].isspace()
    }
    for ordinal, chunk in enumerate(chunks):
        assert chunk.ordinal == ordinal
        assert document.text[chunk.span.start : chunk.span.end] == chunk.text
        assert chunk.text == chunk.text.strip() != ""
        assert chunk.text_hash == hash_of(chunk.text)
        assert chunk.lines == document.lines.lines_of(chunk.span)
        place = (chunk.chapter, chunk.scene, chunk.kind)
        assert place in [(*at, k) for h, at, k in homes if h.holds(chunk.span)]
        lost -= set(range(chunk.span.start, chunk.span.end))
    assert not lost
    assert len({chunk.id for chunk in chunks}) == len(chunks)
    counted = count([chunk.text for chunk in chunks])
    for chunk, tokens in zip(chunks, counted, strict=True):
        assert chunk.tokens == tokens
        assert tokens <= size or len(chunk.text) == 1


def neighbours(
    document: Document, chunks: Sequence[Chunk]
) -> list[tuple[Chunk, Chunk]]:
    """Chunks that follow one another in one part."""
    homes = [home for home, *_ in homes_of(document)]
    return [
        (one, two)
        for one, two in pairwise(chunks)
        if any(home.holds(one.span) and home.holds(two.span) for home in homes)
    ]


@given(st.lists(scenes, min_size=1, max_size=3), sizes)
@settings(max_examples=examples(50))
def test_chunks_hold_every_word_at_its_place_and_no_more_than_fits(
    told: list[Scenes], limits: tuple[int, int]
) -> None:
    document = document_of(told)
    size, overlap = limits
    chunks = split(document, size, overlap)
    check_promises(document, chunks, size, count_words)
    places = [(chunk.kind == ChunkKind.NOTE, chunk.span.start) for chunk in chunks]
    assert places == sorted(places)


@given(some_paragraphs(), sizes)
@settings(max_examples=examples(50))
def test_a_chunk_repeats_no_more_of_the_one_before_than_the_overlap(
    text: str, limits: tuple[int, int]
) -> None:
    size, overlap = limits
    document = document_of([[[text]]])
    for one, two in neighbours(document, split(document, size, overlap)):
        assert one.span.start < two.span.start
        assert one.span.end < two.span.end
        repeated = document.text[two.span.start : one.span.end]
        assert count_words([repeated])[0] <= overlap


@given(scenes, some_paragraphs(), st.data(), sizes)
@settings(max_examples=examples(50))
def test_an_edit_in_one_scene_leaves_the_chunks_of_the_others_as_they_were(
    told: Scenes, new: str, data: st.DataObject, limits: tuple[int, int]
) -> None:
    edited = data.draw(st.integers(0, len(told) - 1))
    after = [[new] if n == edited else scene for n, scene in enumerate(told)]
    before_chunks = split(document_of([told]), *limits)
    after_chunks = split(document_of([after]), *limits)
    kept = [
        (c.text, c.kind, c.scene, c.tokens) for c in before_chunks if c.scene != edited
    ]
    assert kept == [
        (c.text, c.kind, c.scene, c.tokens) for c in after_chunks if c.scene != edited
    ]


@given(scenes, some_paragraphs(), sizes)
@settings(max_examples=examples(40))
def test_ids_stay_when_text_that_says_something_new_is_put_before(
    told: Scenes, new: str, limits: tuple[int, int]
) -> None:
    before = split(document_of([told]), *limits)
    fresh = [f"zyxw {new}"]
    after = split(document_of([[fresh, *told]]), *limits)
    added = {chunk.text_hash for chunk in after if chunk.scene == 0}
    ids = {chunk.id for chunk in after}
    assert all(c.id in ids for c in before if c.text_hash not in added)


def test_an_id_depends_on_document_text_and_occurrence_alone() -> None:
    twice = document_of([[["The bell."], ["The bell."]]])
    first, second = split(twice, 40, 0)
    (once,) = split(document_of([[["Fog."], ["The bell."]]]), 40, 0)[1:]
    assert first.text == second.text
    assert first.id != second.id
    assert once.id == first.id
    other = replace(twice, id=DocumentId("other.md"))
    assert split(other, 40, 0)[0].id != first.id


def test_paragraphs_stay_whole_where_they_fit() -> None:
    told = [["one two three\n\nfour five\n\nsix seven eight nine\n\nten"]]
    chunks = split(document_of([told]), 5, 0)
    assert [chunk.text for chunk in chunks] == [
        "one two three\n\nfour five",
        "six seven eight nine\n\nten",
    ]


def test_a_long_paragraph_is_cut_at_the_ends_of_sentences() -> None:
    sentences = [
        "“Is it lit?”",
        "she said.",
        "He nodded.",
        "“Then *go*.”",
        "They went.",
    ]
    chunks = split(document_of([[[" ".join(sentences)]]]), 6, 0)
    assert len(chunks) > 1
    assert " ".join(chunk.text for chunk in chunks) == " ".join(sentences)
    for chunk in chunks:
        assert any(chunk.text.startswith(sentence) for sentence in sentences)
        assert any(chunk.text.endswith(sentence) for sentence in sentences)


def test_the_next_chunk_begins_with_the_last_pieces_of_the_one_before() -> None:
    pieces = [f"Number {n}." for n in range(40)]
    chunks = split(document_of([[["\n\n".join(pieces)]]]), 10, 2)
    assert len(chunks) > 4
    for one, two in pairwise(chunks):
        last = one.text.split("\n\n")[-1]
        assert two.text.startswith(f"{last}\n\n")


def test_after_an_edit_the_seams_behind_it_fall_where_they_fell() -> None:
    pieces = [f"The {n} frog sat by lamp {n * n} and wrote." for n in range(400)]
    before = {c.text for c in split(document_of([[["\n\n".join(pieces)]]]), 100, 0)}
    pieces[50] += " Then the rain came down, and nobody wrote anything for a while."
    after = {c.text for c in split(document_of([[["\n\n".join(pieces)]]]), 100, 0)}
    assert len(after) > 30
    assert len(after - before) <= 6


def test_no_chunk_crosses_a_scene_or_a_comment() -> None:
    told = [["One.", f"{NOTE}why?", "Two."], ["Three."]]
    chunks = split(document_of([told]), 500, 50)
    assert [(c.text, c.scene, c.kind) for c in chunks] == [
        ("One.", 0, "prose"),
        ("Two.", 0, "prose"),
        ("Three.", 1, "prose"),
        ("[note] why?", 0, "note"),
    ]


@pytest.mark.parametrize("told", [[[[]]], [[[""]]], [[["\n \n"]]], [[]]])
def test_nothing_makes_no_chunk(told: list[Scenes]) -> None:
    assert split(document_of(told), 500, 50) == ()


def test_a_word_of_a_million_letters_is_cut() -> None:
    chunks = split(document_of([[["x" * 1_000_000]]]), 500, 0, count_as_one_token)
    assert max(len(chunk.text) for chunk in chunks) <= 500 * 8
    assert "".join(chunk.text for chunk in chunks) == "x" * 1_000_000


def count_as_one_token(texts: Sequence[str]) -> list[int]:
    return [len(text.split()) for text in texts]


@pytest.fixture(scope="module")
def real_tokens() -> CountTokens:
    return LocalEmbedder(None, threads=1).count_tokens


CUT_WORD = "frog frog frog frog\nfrog\n" + "a" * 20 + " " + "aaaab" * 15


@example([[[CUT_WORD]]], 19)
@given(st.lists(scenes, min_size=1, max_size=2), st.integers(16, 80))
@settings(max_examples=examples(15))
def test_the_promises_hold_with_the_real_tokenizer(
    real_tokens: CountTokens, told: list[Scenes], size: int
) -> None:
    document = document_of(told)
    chunks = split(document, size, size // 4, real_tokens)
    check_promises(document, chunks, size, real_tokens)


@pytest.mark.parametrize("file", sorted(EXAMPLE.iterdir()), ids=lambda file: file.stem)
def test_a_real_chapter_is_cut_into_chunks_that_the_model_reads_whole(
    real_tokens: CountTokens, file: Path
) -> None:
    document = parse_document(DocumentId(file.name), file.read_bytes())
    chunks = split(document, 500, 50, real_tokens)
    check_promises(document, chunks, 500, real_tokens)
    for one, two in neighbours(document, chunks):
        repeated = document.text[two.span.start : one.span.end]
        assert real_tokens([repeated])[0] <= 50


def test_lines_are_those_of_the_file() -> None:
    text = "Title\n\nOne.\n\nTwo.\nThree."
    span = Span(7, len(text))
    document = replace(
        a_document(text=text),
        lines=LineIndex.of(text),
        chapters=(Chapter("", span, (Scene(span, (span,)),)),),
    )
    (chunk,) = split(document, 500, 0)
    assert (chunk.lines.first, chunk.lines.last) == (3, 6)
