from collections.abc import Sequence

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lrwr.core.model.choices import Pipeline
from lrwr.core.model.chunks import ChunkId, ChunkKind, SearchScope
from tests.contracts.test_lexical_index import HARDENED
from tests.fakes.libraries import Library
from tests.fakes.records import ONE, TWO, some_chunks, some_knowledge
from tests.fakes.suite import examples

EVERYTHING = SearchScope(kinds=frozenset(ChunkKind))
FAR = " and then the rain went on falling on the roof for a very long while indeed "


async def pairs(
    library: Library, words: Sequence[str], scope: SearchScope = EVERYTHING
) -> list[ChunkId]:
    found = await library.words.search_pairs(
        words, pipeline=Pipeline.NAIVE, scope=scope, limit=99
    )
    assert all(scored.score >= 0.0 for scored in found)
    return [scored.chunk for scored in found]


async def test_only_words_that_stand_close_make_a_pair(library: Library) -> None:
    chunks = some_chunks(
        (
            "The frog trimmed the lantern.",
            f"The frog sat{FAR}by the lantern.",
            "The lantern was the frog's.",
            "A frog.",
        )
    )
    await library.keep(some_knowledge(chunks))
    found = await pairs(library, ["frog", "lantern"])
    assert set(found) == {chunks[0].id, chunks[2].id}


async def test_a_pair_matches_by_stem(library: Library) -> None:
    chunks = some_chunks(("She burned the letters.", "Rain."))
    await library.keep(some_knowledge(chunks))
    assert await pairs(library, ["burning", "letter"]) == [chunks[0].id]


async def test_one_word_makes_no_pair(library: Library) -> None:
    await library.keep_texts(ONE, ["The frog sat with a frog."])
    assert await pairs(library, ["frog"]) == []
    assert await pairs(library, ["frog", "frog"]) == []
    assert await pairs(library, []) == []


async def test_a_scope_is_kept_for_pairs(library: Library) -> None:
    one = some_chunks(("The frog trimmed the lantern.",))
    two = some_chunks(("The frog broke the lantern.",), document=TWO)
    await library.keep(some_knowledge(one))
    await library.keep(some_knowledge(two))
    only = SearchScope(documents=frozenset({TWO}))
    assert await pairs(library, ["frog", "lantern"], only) == [two[0].id]


@pytest.mark.parametrize("word", HARDENED)
async def test_no_word_of_a_pair_is_taken_for_a_query_language(
    library: Library, word: str
) -> None:
    await library.keep_texts(ONE, ["The frog trimmed the lantern."])
    await pairs(library, [word, "frog", "lantern"])
    assert len(await pairs(library, ["frog", "lantern", word])) == 1


@settings(
    max_examples=examples(60),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(words=st.lists(st.text(max_size=12), max_size=12))
async def test_any_words_at_all_can_be_paired(
    library: Library, words: list[str]
) -> None:
    await pairs(library, words)
