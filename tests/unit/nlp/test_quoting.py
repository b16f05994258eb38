"""Quotes are found as people and models copy them, and invented ones are not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lrwr.core.nlp.dialogue.quote_lookup import find_fuzzy_quote

TEXT = (
    "Nell Tallow climbed the ladder, nineteen rungs of it. “I don’t *mind* the fog,”\n"
    "she told OchraMags — who had not asked — “but the lamp must never go out… Not"
    " once. Not tonight.” Her father’s coat hung by the door, grey and stiff with salt."
    " The well-kept ledger lay on the desk. In the yard, Mrs. Gannet’s dog began to"
    " bark at nothing; then it stopped."
)


def found(quote: str, text: str = TEXT) -> list[str]:
    return [text[span.start : span.end] for span in find_fuzzy_quote(quote, text)]


@pytest.mark.parametrize(
    ("quote", "words"),
    [
        ("nineteen rungs of it", "nineteen rungs of it"),
        ("NELL TALLOW", "Nell Tallow"),
        ("I don't mind the fog", "I don’t *mind* the fog"),
        ('"I don\'t mind the fog," she told', "I don’t *mind* the fog,”\nshe told"),
        ("OchraMags - who had not asked -", "OchraMags — who had not asked"),
        ("OchraMags--who had not asked", "OchraMags — who had not asked"),
        ("never go out... Not once", "never go out… Not once"),
        ("“Her father's coat”", "Her father’s coat"),
        ("the  well-kept\n ledger", "The well-kept ledger"),
        ("  …dog began to bark.", "dog began to bark"),
    ],
)
def test_marks_dashes_space_emphasis_and_capitals_may_differ(
    quote: str, words: str
) -> None:
    assert found(quote) == [words]


@pytest.mark.parametrize(
    ("quote", "words"),
    [
        ("coat hung by the door, and stiff with salt", "coat hung by the door, grey and stiff with salt"),
        ("The ledger lay on the desk", "ledger lay on the desk"),
        ("climbed the old ladder, nineteen rungs of it", "climbed the ladder, nineteen rungs of it"),
        ("Mrs Gannet's dog begun to bark at nothing", "Mrs. Gannet’s dog began to bark at nothing"),
    ],
)  # fmt: skip
def test_a_word_may_differ_and_the_text_has_the_last_word(
    quote: str, words: str
) -> None:
    assert found(quote) == [words]


@pytest.mark.parametrize(
    ("quote", "words"),
    [
        ("climbed the ladder … the lamp must never go out", ["climbed the ladder", "the lamp must never go out"]),
        ("the fog ... her father's coat [...] stopped", ["the fog", "Her father’s coat", "stopped"]),
    ],
)  # fmt: skip
def test_a_quote_with_an_ellipsis_is_found_part_by_part(
    quote: str, words: list[str]
) -> None:
    assert found(quote) == words


@pytest.mark.parametrize(
    "quote",
    [
        "",
        "…",
        "—",
        "“ ”",
        "rung",
        "the lamp went out and nobody lit it again",
        "her eyes were green as the sea in summer",
        "her father's coat ... climbed the ladder",
        "climbed the ladder ... and drowned in the harbour at dawn",
        "Nell Hallow",
    ],
)
def test_what_the_text_has_not_is_not_found(quote: str) -> None:
    assert found(quote) == []


def test_the_first_place_counts() -> None:
    text = "The fog. The fog again."
    assert find_fuzzy_quote("the fog", text)[0].start == 0


def test_letters_whose_lower_case_is_longer_keep_their_place() -> None:
    text = "İİİ “Ångström’s” lamp and the İstanbul boat"
    assert found("angstrom", text) == []
    assert found("Ångström's lamp", text) == ["Ångström’s” lamp"]
    assert found("boat", text) == ["boat"]


@given(st.text(), st.text())
def test_any_quote_may_be_looked_for_in_any_text(quote: str, text: str) -> None:
    for span in find_fuzzy_quote(quote, text):
        assert 0 <= span.start < span.end <= len(text)


@given(st.data())
def test_every_run_of_words_is_found_as_it_stands(data: st.DataObject) -> None:
    words = TEXT.split()
    start = data.draw(st.integers(0, len(words) - 1))
    end = data.draw(st.integers(start + 1, len(words)))
    quote = " ".join(words[start:end])
    assert len(find_fuzzy_quote(quote, TEXT)) == any(one.isalnum() for one in quote)


PLAIN = st.text("abcde ", min_size=1).map(lambda one: f"x{one}x")


@given(PLAIN, PLAIN, PLAIN)
def test_a_quote_is_found_between_other_words(
    before: str, quote: str, after: str
) -> None:
    text = f"{before} q{quote}q {after}"
    span = find_fuzzy_quote(f"q{quote}q", text)[0]
    assert text[span.start : span.end] == f"q{quote}q"
