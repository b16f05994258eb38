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


async def phrases(
    library: Library, texts: Sequence[str], scope: SearchScope = EVERYTHING
) -> list[ChunkId]:
    found = await library.words.search_phrases(
        texts, pipeline=Pipeline.NAIVE, scope=scope, limit=99
    )
    assert all(scored.score >= 0.0 for scored in found)
    return [scored.chunk for scored in found]


async def test_the_words_of_a_phrase_are_adjacent_and_in_order(
    library: Library,
) -> None:
    chunks = some_chunks(
        (
            "She was not of the sea.",
            "The sea was of no use to her.",
            "Of the deep sea she said nothing.",
        )
    )
    await library.keep(some_knowledge(chunks))
    assert await phrases(library, ["of the sea"]) == [chunks[0].id]


async def test_a_phrase_matches_by_stem_and_without_case(library: Library) -> None:
    chunks = some_chunks(("She BURNED Letters all night.", "Letters burn."))
    await library.keep(some_knowledge(chunks))
    assert await phrases(library, ["burning letter"]) == [chunks[0].id]


async def test_any_of_several_phrases_is_found_and_more_of_them_first(
    library: Library,
) -> None:
    chunks = some_chunks(
        ("The red door.", "The red door and the brass bell.", "A bell of brass.")
    )
    await library.keep(some_knowledge(chunks))
    found = await phrases(library, ["red door", "brass bell"])
    assert found == [chunks[1].id, chunks[0].id]


async def test_no_phrase_finds_nothing(library: Library) -> None:
    await library.keep_texts(ONE, ["The frog."])
    assert await phrases(library, []) == []


async def test_a_scope_is_kept_for_phrases(library: Library) -> None:
    one = some_chunks(("The red door.",))
    two = some_chunks(("Behind the red door.",), document=TWO)
    await library.keep(some_knowledge(one))
    await library.keep(some_knowledge(two))
    only = SearchScope(documents=frozenset({TWO}))
    assert await phrases(library, ["red door"], only) == [two[0].id]


@pytest.mark.parametrize("word", HARDENED)
async def test_no_phrase_is_read_as_query_syntax(library: Library, word: str) -> None:
    await library.keep_texts(ONE, ["The frog trimmed the lantern."])
    await phrases(library, [f"{word} frog", "the lantern"])


@settings(
    max_examples=examples(60),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(texts=st.lists(st.text(max_size=20), max_size=4))
async def test_any_text_can_be_a_phrase(library: Library, texts: list[str]) -> None:
    await phrases(library, texts)
