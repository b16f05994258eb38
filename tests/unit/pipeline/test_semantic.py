import re
from collections.abc import Iterable, Sequence
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from lrwr.core.adapters.embed.local import LocalEmbedder
from lrwr.core.adapters.source.parser import parse_document
from lrwr.core.adapters.source.text import find_sentence_spans
from lrwr.core.model.chunks import ChunkKind
from lrwr.core.model.documents import Document, DocumentId
from lrwr.core.model.text import Span
from lrwr.pipeline.stages.semantic_splitter import (
    ChunkLimits,
    CutPlan,
    choose_cuts,
    plan_cuts,
)
from lrwr.pipeline.stages.units import (
    ChunkCut,
    SeamKey,
    collect_seam_sentences,
    compute_seam_distances,
    find_missing_seams,
)
from lrwr.pipeline.stages.windows import CountTokens
from tests.fakes.embedder import count_words
from tests.fakes.suite import examples
from tests.unit.pipeline.told import (
    NOTE,
    Scenes,
    document_of,
    homes_of,
    some_paragraphs,
)

EXAMPLE = Path(__file__).parents[3] / "examples/marsh-lantern/chapters"
SMALL = ChunkLimits(least=12, most=40, overlap=6)

turns = st.sampled_from(
    [
        "“Is it lit?”",
        '"Go!" said Nell Tallow.',
        "‘Why, it’s late,’ he said. ‘Come in.’",
        "— Demain, dit-elle.",
        "He nodded.",
        "“You,” she said, “are late. Sit. Eat. Then tell me about the lamp and rope.”",
        "Nobody spoke:",
        "The tide\nwent out\nover the flats\nand the bell\nwas still",
        "### A letter",
    ]
)
dialogue = st.lists(turns, min_size=1, max_size=12).map("\n\n".join)
parts = st.one_of(
    some_paragraphs(),
    dialogue,
    st.tuples(dialogue, some_paragraphs(), dialogue).map("\n\n".join),
    some_paragraphs().map(lambda text: NOTE + text),
    st.sampled_from(["", "霧", "\n\n", " \n x", "x" * 700, "Go.\nStay.\nWait.\nRun."]),
)
scenes = st.lists(st.lists(parts, max_size=4), min_size=1, max_size=4)
limits = st.integers(2, 40).flatmap(
    lambda most: st.builds(
        ChunkLimits,
        least=st.integers(1, most),
        most=st.just(most),
        overlap=st.integers(0, 9),
    )
)


def plan(
    document: Document, sizes: ChunkLimits = SMALL, count: CountTokens = count_words
) -> CutPlan:
    return plan_cuts(document, find_sentence_spans, count, sizes)


def bluntly(text: str) -> list[Span]:
    """Sentences that end at every mark, as if a tag were one of its own."""
    return [Span(*found.span()) for found in re.finditer(r"\S.*?[.?!]”?(?!\S)", text)]


def drawn(planned: CutPlan, salt: int = 0) -> dict[SeamKey, float]:
    """A distance for every seam, told by its sentences alone, from 0.1 to 1.1."""
    return {s.key: 0.1 + (int(s.key[:8], 16) ^ salt) / 2**32 for s in planned.seams}


def cuts_of(document: Document, sizes: ChunkLimits = SMALL) -> tuple[ChunkCut, ...]:
    planned = plan(document, sizes)
    return choose_cuts(planned, drawn(planned))


def far(planned: CutPlan, *beginnings: str) -> dict[SeamKey, float]:
    """Distances where the text turns to something else before these sentences."""
    return {
        seam.key: 1.2 if seam.after[0].startswith(beginnings) else 0.3
        for seam in planned.seams
    }


def texts(document: Document, cuts: Iterable[ChunkCut]) -> list[str]:
    return [document.text[c.span.start : c.span.end] for c in cuts]


def check_promises(
    document: Document, cuts: Sequence[ChunkCut], sizes: ChunkLimits, count: CountTokens
) -> None:
    homes = homes_of(document)
    lost = {
        i
        for home, *_ in homes
        for i in range(home.start, home.end)
        if not document.text[i].isspace()
    }
    words = texts(document, cuts)
    for chunk, text in zip(cuts, words, strict=True):
        assert text == text.strip() != ""
        place = (chunk.chapter, chunk.scene)
        assert (place, chunk.kind) in [
            (at, k) for h, at, k in homes if h.holds(chunk.span)
        ]
        inner = {i for i in range(*_ends(chunk.span)) if not document.text[i].isspace()}
        assert inner <= lost
        lost -= inner
    assert not lost
    places = [(c.kind is ChunkKind.NOTE, c.span.start) for c in cuts]
    assert places == sorted(places)
    for chunk, text, tokens in zip(cuts, words, count(words), strict=True):
        assert chunk.tokens == tokens
        assert tokens <= sizes.most or len(text) == 1
    check_leads(document, cuts, sizes, count)


def check_leads(
    document: Document, cuts: Sequence[ChunkCut], sizes: ChunkLimits, count: CountTokens
) -> None:
    homes = [home for home, *_ in homes_of(document)]
    for one, two in pairwise([None, *cuts]):
        assert two is not None
        if two.lead is None:
            continue
        assert one is not None
        assert one.span.holds(two.lead)
        assert two.lead.end == one.span.end
        assert document.text[two.lead.end : two.span.start].isspace()
        assert any(home.holds(two.lead) and home.holds(two.span) for home in homes)
        words = document.text[two.lead.start : two.lead.end]
        assert words == words.strip()
        assert count([words])[0] <= sizes.overlap


def _ends(span: Span) -> tuple[int, int]:
    return span.start, span.end


@given(st.lists(scenes, min_size=1, max_size=3), limits, st.integers(0, 2**32 - 1))
@settings(max_examples=examples(50))
def test_chunks_hold_every_word_once_at_its_place_and_no_more_than_fits(
    told: list[Scenes], sizes: ChunkLimits, salt: int
) -> None:
    document = document_of(told)
    planned = plan(document, sizes)
    cuts = choose_cuts(planned, drawn(planned, salt))
    check_promises(document, cuts, sizes, count_words)
    assert cuts == choose_cuts(plan(document, sizes), drawn(planned, salt))


@given(scenes, parts, st.data(), limits)
@settings(max_examples=examples(40))
def test_an_edit_in_one_scene_leaves_the_chunks_of_the_others_as_they_were(
    told: Scenes, new: str, data: st.DataObject, sizes: ChunkLimits
) -> None:
    edited = data.draw(st.integers(0, len(told) - 1))
    changed = [[new] if n == edited else scene for n, scene in enumerate(told)]
    documents = [document_of([told]), document_of([changed])]
    before, after = (
        [
            (text, c.kind, c.scene, c.tokens, c.lead and len(c.lead))
            for c, text in zip(cuts, texts(document, cuts), strict=True)
            if c.scene != edited
        ]
        for document in documents
        for cuts in [cuts_of(document, sizes)]
    )
    assert before == after


@given(st.lists(scenes, min_size=1, max_size=2), limits)
@settings(max_examples=examples(40))
def test_what_has_no_distance_is_cut_by_paragraphs_and_sizes(
    told: list[Scenes], sizes: ChunkLimits
) -> None:
    document = document_of(told)
    check_promises(document, choose_cuts(plan(document, sizes), {}), sizes, count_words)


@given(st.lists(st.integers(2, 30), min_size=60, max_size=120), st.data())
@settings(max_examples=examples(30))
def test_after_an_edit_the_chunks_far_from_it_are_as_they_were(
    lengths: list[int], data: st.DataObject
) -> None:
    told = [f"Lamp {n} " + "burned " * length for n, length in enumerate(lengths)]
    paragraphs = [" ".join(words.split()) + "." for words in told]
    place = data.draw(st.integers(0, len(told) - 1))
    new = [*paragraphs[:place], "Then rain fell on the marsh.", *paragraphs[place:]]
    sizes = ChunkLimits(least=20, most=60, overlap=10)
    before, after = (
        set(texts(document, cuts_of(document, sizes)))
        for document in (
            document_of([[["\n\n".join(paragraphs)]]]),
            document_of([[["\n\n".join(new)]]]),
        )
    )
    assert 1 <= len(after - before) <= 12


def test_a_chunk_ends_where_the_text_turns_to_something_else() -> None:
    told = [f"{name} one two three four." for name in "ABCDEFGHIJ"]
    document = document_of([[["\n\n".join(told)]]])
    planned = plan(document)
    for begins in (("D", "G"), ("C", "G"), ("D", "H")):
        cuts = choose_cuts(planned, far(planned, *begins))
        assert [text[0] for text in texts(document, cuts)] == ["A", *begins]


def test_the_end_of_a_paragraph_is_better_than_one_within() -> None:
    long = " ".join(f"S{n} one two three." for n in range(6))
    document = document_of([[[f"{long}\n\nNew one two three four five.\n\n{long}"]]])
    planned = plan(document)
    assert any(seam.after[0].startswith("S2") for seam in planned.seams)
    same = dict.fromkeys(drawn(planned), 0.5)
    second = texts(document, choose_cuts(planned, same))[1]
    assert second.startswith(("New", "S0"))


EXCHANGE = "“Is it lit?”\n\n“No,” said Nell.\n\n“Why?”\n\nHe laughed.\n\n“Rain.”"
LONG = "The marsh lay flat and grey under a sky without any birds at all, and far out on it the bell rang for no one."


def test_an_exchange_stays_whole_and_nothing_is_asked_about_it() -> None:
    document = document_of([[["\n\n".join([LONG, EXCHANGE, LONG, EXCHANGE, LONG])]]])
    planned = plan(document)
    assert {seam.after[0] for seam in planned.seams} == {LONG, "“Is it lit?”"}
    for beginning in ("“Is", LONG):
        cuts = texts(document, choose_cuts(planned, far(planned, beginning)))
        assert len(cuts) > 2
        assert sum(text.count(EXCHANGE) for text in cuts) == 2


def test_an_exchange_that_is_too_long_is_cut_between_turns_into_few_pieces() -> None:
    turns = [f"“Number {n}, and then?” said OchraMags." for n in range(12)]
    document = document_of([[["\n\n".join(turns)]]])
    planned = plan(document)
    assert len(planned.seams) == len(turns) - 1
    cuts = texts(document, choose_cuts(planned, dict.fromkeys(drawn(planned), 0.9)))
    assert [text.count("Number") for text in cuts] == [4, 4, 4]
    assert "\n\n".join(cuts) == "\n\n".join(turns)


def test_a_paragraph_of_dialogue_is_not_cut_where_it_fits() -> None:
    speech = "“I went. I saw it. It was wet.” He sat. “Then it sank. Ask her. Go.”"
    document = document_of([[[f"{LONG}\n\n{speech}\n\n{LONG}"]]])
    cuts = texts(document, cuts_of(document))
    assert any(speech in text for text in cuts)


def test_a_quotation_and_its_tag_stay_together() -> None:
    turns = [
        f"“Is {n} lit?” said PurpleFrog. The lamp was out again." for n in range(9)
    ]
    document = document_of([[[" ".join(turns)]]])
    planned = plan_cuts(document, bluntly, count_words, SMALL)
    assert len(planned.regions[0].sentences) == 27
    cuts = texts(document, choose_cuts(planned, far(planned, "said", "PurpleFrog")))
    assert len(cuts) > 2
    assert not any(text.startswith(("said", "PurpleFrog")) for text in cuts)


@pytest.mark.parametrize("announced", ["# The Lamp", "The notice said this:"])
def test_a_heading_or_an_announcement_ends_no_chunk(announced: str) -> None:
    told = [LONG, announced, LONG, announced, LONG, announced, LONG]
    document = document_of([[["\n\n".join(told)]]])
    for text in texts(document, cuts_of(document)):
        assert not text.endswith(announced)


def test_lines_that_each_end_a_sentence_are_paragraphs() -> None:
    lines = [f"Lamp {n} burned. All night." for n in range(9)]
    document = document_of([[["\n".join(lines)]]])
    cuts = texts(document, cuts_of(document))
    assert len(cuts) > 1
    assert all(text.startswith("Lamp") for text in cuts)


def test_a_scene_that_fits_is_one_chunk_and_nothing_is_asked() -> None:
    told = [["One.\n\nTwo two two two.", f"{NOTE}why?", "Three."], ["Four."]]
    document = document_of([told])
    planned = plan(document)
    assert planned.seams == ()
    cuts = choose_cuts(planned, {})
    found = [
        (t, c.scene, c.kind) for t, c in zip(texts(document, cuts), cuts, strict=True)
    ]
    assert found == [
        ("One.\n\nTwo two two two.", 0, "prose"),
        ("Three.", 0, "prose"),
        ("Four.", 1, "prose"),
        ("[note] why?", 0, "note"),
    ]
    assert all(chunk.lead is None for chunk in cuts)


def test_the_next_chunk_is_led_in_by_the_last_sentences_as_far_as_they_fit() -> None:
    first = f"{LONG} One. Two."
    second = f"{LONG} Far too many words for it. Three."
    third = f"{LONG} These are far too many words for it."
    document = document_of([[["\n\n".join([first, second, third, LONG])]]])
    planned = plan(document)
    cuts = choose_cuts(planned, far(planned, "The marsh"))
    leads = [c.lead and document.text[c.lead.start : c.lead.end] for c in cuts]
    assert leads == [None, "One. Two.", "Three.", None]


@pytest.mark.parametrize("told", [[[[]]], [[[""]]], [[["\n \n"]]], [[]]])
def test_nothing_makes_no_chunk(told: list[Scenes]) -> None:
    assert cuts_of(document_of(told)) == ()


def test_a_text_without_sentences_is_cut_at_line_ends() -> None:
    verse = "\n".join(["the tide goes out", "the lamp burns low"] * 9)
    document = document_of([[[verse]]])
    cuts = texts(document, cuts_of(document))
    assert len(cuts) > 1
    assert all(text.startswith("the") for text in cuts)
    assert "\n".join(cuts) == verse


def test_a_word_of_a_million_letters_is_cut() -> None:
    document = document_of([[["x" * 1_000_000]]])
    planned = plan(document, ChunkLimits(), lambda words: [1 for _ in words])
    cuts = texts(document, choose_cuts(planned, {}))
    assert max(map(len, cuts)) <= 250 * 8
    assert "".join(cuts) == "x" * 1_000_000


def test_tokens_of_a_whole_document_are_counted_in_one_call() -> None:
    asked = []

    def count(words: Sequence[str]) -> list[int]:
        asked.append(len(words))
        return count_words(words)

    plan(document_of([[[f"{LONG} {LONG}"] * 3] * 9] * 2), ChunkLimits(), count)
    assert asked == [108]


@pytest.fixture(scope="module")
def embedder() -> LocalEmbedder:
    return LocalEmbedder(None, threads=2)


@example([[["frog frog frog\nfrog\n" + "a" * 20 + " " + "aaaab" * 15]]], 19)
@given(st.lists(scenes, min_size=1, max_size=2), st.integers(16, 80))
@settings(max_examples=examples(15))
def test_the_promises_hold_with_the_real_tokenizer(
    embedder: LocalEmbedder, told: list[Scenes], most: int
) -> None:
    document = document_of(told)
    sizes = ChunkLimits(least=most // 3, most=most, overlap=most // 4)
    planned = plan(document, sizes, embedder.count_tokens)
    cuts = choose_cuts(planned, drawn(planned))
    check_promises(document, cuts, sizes, embedder.count_tokens)


async def test_a_real_chapter_is_cut_by_the_real_model(embedder: LocalEmbedder) -> None:
    name = "02-the-reeves-offer.md"
    document = parse_document(DocumentId(name), (EXAMPLE / name).read_bytes())
    planned = plan(document, ChunkLimits(), embedder.count_tokens)
    missing = find_missing_seams(planned.seams, {})
    sentences = collect_seam_sentences(missing)
    vectors = await embedder.embed(sentences)
    distances = compute_seam_distances(missing, sentences, vectors)
    assert set(distances) == {seam.key for seam in planned.seams}
    cuts = choose_cuts(planned, distances)
    check_promises(document, cuts, ChunkLimits(), embedder.count_tokens)
    begins = {document.text[c.span.start :][:20] for c in cuts}
    ends = [distances[s.key] for s in planned.seams if s.after[0][:20] in begins]
    others = [distances[s.key] for s in planned.seams if s.after[0][:20] not in begins]
    assert sum(ends) / len(ends) > sum(others) / len(others)
