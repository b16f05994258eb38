"""What is read at once: whole scenes where they fit, and never of two chapters."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby, pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lrwr.core.adapters.source.text import find_sentence_spans
from lrwr.core.model.chunks import Chunk, ChunkKind
from lrwr.core.model.documents import Document
from lrwr.core.ports.models import EXCERPTS_PER_CALL, EXTRACTION_WINDOW_TOKENS, Excerpt
from lrwr.pipeline.stages.semantic_splitter import ChunkLimits, choose_cuts, plan_cuts
from lrwr.pipeline.stages.windows import (
    batch_excerpts,
    build_classify_excerpts,
    build_extract_excerpts,
)
from tests.fakes.embedder import count_words
from tests.fakes.records import a_document, some_chunks
from tests.fakes.suite import examples
from tests.unit.pipeline.told import NOTE, Scenes, document_of

SIZE = 10

paragraphs = st.sampled_from(
    ["Nell lit it.", "The oil was low. It smoked.\nThe glass was black.", "é 霧 🐸 —"]
)
parts = paragraphs | paragraphs.map(lambda text: NOTE + text)

story = st.lists(
    st.lists(
        st.lists(st.integers(1, 14), min_size=1, max_size=6), min_size=1, max_size=4
    ),
    min_size=1,
    max_size=3,
)
"""Chapters of scenes of passages, each of so many tokens."""


def nobody(text: str) -> tuple[str, ...]:
    return ()


def words_in(text: str) -> tuple[str, ...]:
    return tuple(sorted(set(text.split())))


def passages_of(told: Sequence[Sequence[Sequence[int]]]) -> list[Chunk]:
    """Passages that follow one another, in these chapters and scenes."""
    places = [
        (chapter, scene, tokens)
        for chapter, scenes in enumerate(told)
        for scene, passages in enumerate(scenes)
        for tokens in passages
    ]
    chunks = some_chunks(f"{n}:{tokens}" for n, (*_, tokens) in enumerate(places))
    return [
        replace(chunk, chapter=chapter, scene=scene, tokens=tokens)
        for chunk, (chapter, scene, tokens) in zip(chunks, places, strict=True)
    ]


def document_with(chunks: Sequence[Chunk]) -> Document:
    return a_document(text="\n".join(chunk.text for chunk in chunks))


def windows(chunks: Sequence[Chunk]) -> list[Excerpt]:
    return build_extract_excerpts(document_with(chunks), chunks, nobody, size=SIZE)


def held(window: Excerpt, chunks: Sequence[Chunk]) -> list[Chunk]:
    return [chunk for chunk in chunks if window.span.holds(chunk.span)]


def sizes_of_windows(told: Sequence[Sequence[Sequence[int]]]) -> list[list[list[int]]]:
    """For each chapter the passages of its windows, by their tokens."""
    chunks = passages_of(told)
    cut: list[list[list[int]]] = [[] for _ in told]
    for window in windows(chunks):
        inside = held(window, chunks)
        cut[inside[0].chapter].append([chunk.tokens for chunk in inside])
    return cut


@given(story)
def test_every_passage_is_in_one_window(told: list[list[list[int]]]) -> None:
    chunks = passages_of(told)
    found = windows(chunks)
    assert [one for window in found for one in held(window, chunks)] == chunks
    text = document_with(chunks).text
    for window in found:
        assert window.text == text[window.span.start : window.span.end]


@given(story)
def test_a_window_is_of_one_chapter_and_no_larger_than_it_may_be(
    told: list[list[list[int]]],
) -> None:
    chunks = passages_of(told)
    for window in windows(chunks):
        inside = held(window, chunks)
        assert len({chunk.chapter for chunk in inside}) == 1
        assert sum(chunk.tokens for chunk in inside) <= SIZE or len(inside) == 1


@given(story)
def test_a_scene_is_cut_only_where_it_is_larger_than_a_window(
    told: list[list[list[int]]],
) -> None:
    chunks = passages_of(told)
    found = windows(chunks)
    for _, one in groupby(chunks, key=lambda chunk: (chunk.chapter, chunk.scene)):
        scene = list(one)
        if sum(chunk.tokens for chunk in scene) <= SIZE:
            assert any(
                all(window.span.holds(chunk.span) for chunk in scene)
                for window in found
            )


@given(story, story, st.integers(0, 2))
def test_an_edit_changes_no_window_of_another_chapter(
    told: list[list[list[int]]], other: list[list[list[int]]], edited: int
) -> None:
    changed = [*told]
    changed[edited % len(told)] = other[0]
    cut = [sizes_of_windows(one) for one in (told, changed)]
    for chapter in range(len(told)):
        if chapter != edited % len(told):
            assert cut[0][chapter] == cut[1][chapter]


def test_scenes_are_read_together_while_they_fit() -> None:
    found = windows(passages_of([[[3, 3], [4], [4]], [[1]]]))
    assert [window.text for window in found] == [
        "0:3\n1:3\n2:4",
        "3:4",
        "4:1",
    ]


def test_a_scene_that_is_too_long_is_cut_between_its_passages() -> None:
    found = windows(passages_of([[[6, 4, 5, 5, 6]]]))
    assert [window.text for window in found] == ["0:6\n1:4", "2:5\n3:5", "4:6"]


def test_a_window_says_whom_it_names_and_where_it_stands() -> None:
    told = document_of([[["Nell lit it."], ["Corin slept."]]])
    document = replace(
        told,
        title="The Lamp",
        chapters=(replace(told.chapters[0], title="Two"),),
    )
    chunks = [
        replace(chunk, span=part, text=document.text[part.start : part.end], scene=n)
        for n, (scene, chunk) in enumerate(
            zip(document.chapters[0].scenes, some_chunks("ab"), strict=True)
        )
        for part in scene.parts
    ]
    (window,) = build_extract_excerpts(
        document, chunks, words_in, size=EXTRACTION_WINDOW_TOKENS
    )
    assert window.known == words_in(window.text)
    assert window.where == "The Lamp, Two, scene 1"
    first, second = build_classify_excerpts(document, chunks, words_in)
    assert (first.known, second.known) == (("Nell", "it.", "lit"), ("Corin", "slept."))
    assert second.where == "The Lamp, Two, scene 2"


def test_what_stands_before_a_passage_is_shown_beside_it_and_in_no_window() -> None:
    chunks = [
        replace(chunk, lead=lead)
        for chunk, lead in zip(some_chunks(["one", "two"]), ("", "one"), strict=True)
    ]
    document = document_with(chunks)
    excerpts = build_classify_excerpts(document, chunks, nobody)
    assert [one.before for one in excerpts] == ["", "one"]
    (window,) = build_extract_excerpts(document, chunks, nobody)
    assert (window.before, window.text) == ("", "one\ntwo")


def test_the_authors_comments_are_not_read() -> None:
    said, noted = some_chunks(["said", "noted"])
    chunks = [said, replace(noted, kind=ChunkKind.NOTE)]
    document = document_with(chunks)
    assert [one.text for one in build_classify_excerpts(document, chunks, nobody)] == [
        "said"
    ]
    assert [one.text for one in build_extract_excerpts(document, chunks, nobody)] == [
        "said"
    ]


@settings(max_examples=examples(40))
@given(st.lists(st.lists(st.lists(parts, max_size=4), min_size=1), max_size=3))
def test_no_word_of_a_comment_is_in_what_is_read(told: list[Scenes]) -> None:
    document = document_of(told)
    plan = plan_cuts(document, find_sentence_spans, count_words, ChunkLimits(2, 20, 4))
    chunks = [
        replace(
            chunk,
            span=one.span,
            text=document.text[one.span.start : one.span.end],
            chapter=one.chapter,
            scene=one.scene,
            kind=one.kind,
            tokens=one.tokens,
        )
        for one in choose_cuts(plan, {})
        for chunk in some_chunks(["x"])
    ]
    for window in build_extract_excerpts(document, chunks, nobody, size=60):
        assert NOTE.strip() not in window.text
        told_there = {
            at for at, one in enumerate(window.text, window.span.start) if one.strip()
        }
        for note in document.notes:
            assert told_there.isdisjoint(range(note.start, note.end))
        for at in told_there:
            assert window.text[at - window.span.start] == document.text[at]
        for chunk in chunks:
            if window.span.holds(chunk.span) and chunk.kind is ChunkKind.PROSE:
                assert chunk.text in window.text


@pytest.mark.parametrize(
    "total", [0, 1, EXCERPTS_PER_CALL, EXCERPTS_PER_CALL + 1, 5 * EXCERPTS_PER_CALL - 1]
)
def test_calls_are_as_few_as_can_be_and_all_about_as_long(total: int) -> None:
    chunks = some_chunks(str(n) for n in range(total))
    excerpts = build_classify_excerpts(document_with(chunks), chunks, nobody)
    calls = list(batch_excerpts(excerpts))
    assert [one for call in calls for one in call] == excerpts
    assert len(calls) == -(-total // EXCERPTS_PER_CALL)
    sizes = sorted(map(len, calls))
    assert all(size <= EXCERPTS_PER_CALL for size in sizes)
    assert not sizes or sizes[-1] - sizes[0] <= 1
    assert all(one.span.end <= two.span.start for one, two in pairwise(excerpts))
