from collections.abc import Mapping

from hypothesis import given
from hypothesis import strategies as st

from lrwr.core.adapters.source.text import find_sentence_spans
from lrwr.core.model.text import (
    extract_content_words,
    normalize_word,
    split_highlighted_words,
    stem_lightly,
)
from lrwr.core.retrieval.retrievers import (
    WordWeights,
    select_excerpt,
)

sentences = st.lists(
    st.lists(
        st.sampled_from(
            ["frog", "lamp", "tide", "Mags", "the", "and", "a", "ledger", "burned"]
        ),
        min_size=1,
        max_size=12,
    ).map(lambda words: " ".join(words).capitalize() + "."),
    min_size=1,
    max_size=8,
)
questions = st.lists(
    st.sampled_from(["frog", "lamps", "tides", "mags", "pony"]), max_size=4
).map(" ".join)


def weights(
    question: str, counts: Mapping[str, int] | None = None, total: int = 10
) -> WordWeights:
    return WordWeights.of(extract_content_words(question), counts or {}, total)


def test_a_rare_word_weighs_more_than_a_common_one() -> None:
    known = weights("frog pony lamp", {"frog": 9, "lamp": 1}).weights
    assert known["pony"] > known["lamp"] > known["frog"] > 0


def test_coverage_is_the_share_of_the_weight_that_is_there() -> None:
    sought = weights("frog lamp", {"frog": 5, "lamp": 5})
    assert sought.coverage("Nothing here.") == 0.0
    assert sought.coverage("A FROG’s tale.") == 0.5
    assert sought.coverage("Frogs and lamps.") == 1.0
    assert weights("").coverage("Anything.") == 0.0


@given(st.text(), st.text(), st.integers(1, 50))
def test_coverage_lies_between_nought_and_one(
    question: str, text: str, total: int
) -> None:
    sought = weights(question, total=total)
    assert 0.0 <= sought.coverage(text) <= 1.0
    assert sought.coverage("") == 0.0
    assert sought.coverage(question) >= (0.999 if sought.weights else 0.0)


@given(st.text(), st.lists(st.text("frogslamp", min_size=1, max_size=5)))
def test_highlights_join_to_the_text_and_mark_forms_of_the_words(
    text: str, words: list[str]
) -> None:
    pieces = split_highlighted_words(text, words)
    assert "".join(piece for piece, _ in pieces) == text
    assert all(piece for piece, _ in pieces)
    stems = {stem_lightly(word) for word in words}
    for piece, hit in pieces:
        if hit:
            assert stem_lightly(normalize_word(piece)) in stems


def test_what_was_asked_for_stands_out() -> None:
    text = "Mags’s frogs, the Frog."
    assert split_highlighted_words(text, ["mags", "frog"]) == [
        ("Mags’s", True),
        (" ", False),
        ("frogs", True),
        (", the ", False),
        ("Frog", True),
        (".", False),
    ]


@given(sentences, questions, st.integers(1, 200))
def test_an_excerpt_is_whole_sentences_within_the_limit(
    told: list[str], question: str, limit: int
) -> None:
    text = " ".join(told)
    start, end = select_excerpt(
        text, weights(question), find_sentence_spans, limit=limit
    )
    assert 0 <= start < end <= len(text)
    spans = find_sentence_spans(text)
    if len(text) <= limit:
        assert (start, end) == (0, len(text))
        return
    assert start in {span.start for span in spans}
    assert end in {span.end for span in spans}
    alone = [span for span in spans if (span.start, span.end) == (start, end)]
    assert end - start <= limit or alone


def test_an_excerpt_shows_where_the_words_are() -> None:
    text = "Rain fell. " * 20 + "The frog lit the lamp. " + "Rain fell. " * 20
    start, end = select_excerpt(
        text, weights("frog lamp"), find_sentence_spans, limit=60
    )
    assert "The frog lit the lamp." in text[start:end]


def test_an_excerpt_of_nothing_is_nothing() -> None:
    assert select_excerpt("", weights("frog"), find_sentence_spans, limit=60) == (0, 0)
    assert select_excerpt(
        "   " * 50, weights("frog"), find_sentence_spans, limit=60
    ) == (
        0,
        150,
    )
