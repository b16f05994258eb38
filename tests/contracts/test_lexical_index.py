import random
from collections.abc import Sequence

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lrwr.core.model.choices import Pipeline
from lrwr.core.model.chunks import ChunkId, ChunkKind, ScoredChunk, SearchScope
from lrwr.core.model.documents import DocumentId
from tests.fakes.libraries import Library
from tests.fakes.records import ONE, TWO, a_chunk, some_chunks, some_knowledge
from tests.fakes.suite import examples

EVERYTHING = SearchScope(kinds=frozenset(ChunkKind))
HARDENED = (
    '"', '""', "frog* OR", "text:frog", "NEAR(frog well)", "^frog", "-frog", "frog +",
    "a\0b", "\0", "", " ", "'", "…", "(", "frog AND NOT", "{frog}", "\\", "%", "\ud800",
    "🐸", "a" * 5000, "ＦＲＯＧ", "frog\u0301", "\u202efrog",
)  # fmt: skip


async def found(
    library: Library,
    words: Sequence[str],
    scope: SearchScope = EVERYTHING,
    limit: int = 99,
) -> list[ScoredChunk]:
    return await library.words.search_words(
        words, pipeline=Pipeline.NAIVE, scope=scope, limit=limit
    )


async def ids(
    library: Library, words: Sequence[str], scope: SearchScope = EVERYTHING
) -> set[ChunkId]:
    return {scored.chunk for scored in await found(library, words, scope)}


async def test_the_passage_with_the_rarer_word_comes_first(library: Library) -> None:
    chunks = some_chunks(
        ("The frog sat.", "The frog and the lantern.", "The frog ran.", "Nothing here.")
    )
    await library.keep(some_knowledge(chunks))
    scored = await found(library, ["frog", "lantern"])
    assert scored[0].chunk == chunks[1].id
    assert {one.chunk for one in scored} == {chunk.id for chunk in chunks[:3]}
    assert all(one.score >= 0.0 for one in scored)
    assert [one.score for one in scored] == sorted(
        (one.score for one in scored), reverse=True
    )


async def test_words_match_by_stem_case_and_accent(library: Library) -> None:
    chunks = some_chunks(("The Élise burned letters.", "Rain."))
    await library.keep(some_knowledge(chunks))
    for word in ("ELISE", "élise", "burning", "letter", "Burned"):
        assert await ids(library, [word]) == {chunks[0].id}, word


async def test_equal_passages_are_ordered_by_id(library: Library) -> None:
    for document in (ONE, TWO, DocumentId("3.md")):
        await library.keep_texts(document, ["The frog sat."])
    scored = await found(library, ["frog"])
    assert len({one.score for one in scored}) == 1
    assert [one.chunk for one in scored] == sorted(one.chunk for one in scored)


async def test_the_best_of_many_equal_passages_are_those_with_the_first_ids(
    library: Library,
) -> None:
    names = [DocumentId(f"{number}.md") for number in range(60)]
    for document in names:
        await library.keep_texts(document, ["The frog sat."])
    scored = await found(library, ["frog"])
    assert await found(library, ["frog"], limit=5) == scored[:5]
    one = scored[-1].chunk
    (chunk,) = await library.passages.chunks([one])
    alone = SearchScope(documents=frozenset({chunk.document}))
    assert [s.chunk for s in await found(library, ["frog"], alone, limit=5)] == [one]


async def test_notes_that_are_not_asked_for_displace_nothing(library: Library) -> None:
    text = a_chunk("A frog and a toad by the long wall.", document=ONE, start=9000)
    notes = [
        a_chunk(f"Frog {number}.", start=9 * number, kind=ChunkKind.NOTE)
        for number in range(40)
    ]
    await library.keep(some_knowledge([*notes, text]))
    assert [
        s.chunk for s in await found(library, ["frog"], SearchScope(), limit=3)
    ] == [text.id]


async def test_the_index_follows_the_records_at_once(library: Library) -> None:
    await library.keep_texts(ONE, ["The frog sat.", "Rain."])
    await library.keep_texts(ONE, ["The toad sat.", "Rain."])
    assert await found(library, ["frog"]) == []
    assert len(await found(library, ["toad"])) == 1
    await library.remove(ONE)
    assert await found(library, ["toad", "rain"]) == []


async def test_no_more_than_the_limit_is_returned(library: Library) -> None:
    await library.keep_texts(ONE, [f"The frog {n}." for n in range(9)])
    assert len(await found(library, ["frog"], limit=4)) == 4
    assert await found(library, ["frog"], limit=0) == []


async def test_no_words_find_nothing(library: Library) -> None:
    await library.keep_texts(ONE, ["The frog sat."])
    assert await found(library, []) == []


async def test_a_scope_is_kept(library: Library) -> None:
    one = some_chunks(("A frog.", "Another frog.", "More frog."))
    two = some_chunks(("A frog elsewhere.",), document=TWO)
    note = a_chunk("Is it a frog?", document=TWO, start=99, kind=ChunkKind.NOTE)
    await library.keep(some_knowledge(one))
    await library.keep(some_knowledge([*two, note]))
    frog = ["frog"]
    only_two = SearchScope(documents=frozenset({TWO}))
    assert await ids(library, frog, only_two) == {two[0].id}
    assert await ids(library, frog, SearchScope(documents=frozenset())) == set()
    assert await ids(library, frog, SearchScope(kinds=frozenset())) == set()
    notes = SearchScope(kinds=frozenset({ChunkKind.NOTE}))
    assert await ids(library, frog, notes) == {note.id}
    until = SearchScope(until={ONE: one[1].span.end})
    assert await ids(library, frog, until) == {one[0].id, one[1].id, two[0].id}
    both = SearchScope(
        documents=frozenset({ONE}), until={ONE: one[0].span.end, TWO: 999}
    )
    assert await ids(library, frog, both) == {one[0].id}


async def test_a_scope_of_thousands_of_documents_is_kept(library: Library) -> None:
    await library.keep_texts(ONE, ["A frog."])
    names = frozenset(DocumentId(f"ü\"{n}'.md") for n in range(3000))
    assert await ids(library, ["frog"], SearchScope(documents=names)) == set()
    assert len(await ids(library, ["frog"], SearchScope(documents=names | {ONE}))) == 1


@pytest.mark.parametrize("word", HARDENED)
async def test_no_word_is_taken_for_a_query_language(
    library: Library, word: str
) -> None:
    await library.keep_texts(ONE, ["The frog sat by the well.", "Rain fell."])
    assert len(await found(library, [word, "rain"])) in (1, 2)
    frequencies, total = await library.words.document_frequencies(
        [word, "rain"], pipeline=Pipeline.NAIVE
    )
    assert (frequencies["rain"], total) == (1, 2)


@settings(
    max_examples=examples(60),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(words=st.lists(st.text(max_size=12), max_size=6))
async def test_any_words_at_all_can_be_searched_for(
    library: Library, words: list[str]
) -> None:
    await library.keep_texts(ONE, ["The frog sat by the well."])
    assert len(await found(library, words)) <= 1


async def test_a_thousand_words_can_be_searched_for(library: Library) -> None:
    await library.keep_texts(ONE, ["The frog sat.", "Rain."])
    words = [f"word{n}" for n in range(2000)]
    assert len(await found(library, [*words, "frog"])) == 1


async def test_frequencies_count_passages_by_stem(library: Library) -> None:
    await library.keep_texts(ONE, ["Frogs and frogs.", "One frog.", "Rain."])
    frequencies, total = await library.words.document_frequencies(
        ["frog", "frogs", "rain", "toad"], pipeline=Pipeline.NAIVE
    )
    assert frequencies == {"frog": 2, "frogs": 2, "rain": 1, "toad": 0}
    assert total == 3


async def test_frequent_words_do_not_change_which_passages_are_best(
    library: Library,
) -> None:
    dice = random.Random(1)
    shares = {"said": 0.9, "mister": 0.5, "frog": 0.25, "lamp": 0.1, "marsh": 0.02}
    texts = [
        " ".join(
            [word for word, share in shares.items() if dice.random() < share] * 2
            + ["rain"] * dice.randrange(1, 9)
            + [str(number)]
        )
        for number in range(400)
    ]
    await library.keep(some_knowledge(some_chunks(texts)))
    for words in (
        ["said", "frog"],
        ["said", "mister", "frog", "lamp"],
        ["mister", "marsh"],
        ["said", "mister", "lamp", "marsh"],
    ):
        every = await found(library, words, limit=999)
        for limit in (1, 5, 20, 60):
            assert await found(library, words, limit=limit) == every[:limit], words
