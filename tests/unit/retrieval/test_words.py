import pytest
from hypothesis import given
from hypothesis import strategies as st

from lrwr.core.model.text import (
    STOP_WORDS,
    WORD_PATTERN,
    contains_stem,
    extract_capitalized_words,
    extract_content_words,
    normalize_word,
    stem_lightly,
    stem_word,
)


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("Who is OchraMags?", ["ochramags"]),
        ("What does PurpleFrog value?", ["purplefrog", "value"]),
        ("Frog’s lamp, and the frog's LAMP", ["frog", "lamp"]),
        ("Who was he?", ["who", "was", "he"]),
        ("the fo'c'sle isn’t lit", ["fo'c'sle", "isn’t", "lit"]),
        ("灯 は ça", ["灯", "は", "ça"]),
        ("?! …", []),
        ("", []),
    ],
)
def test_the_words_that_carry_meaning_are_found(
    question: str, words: list[str]
) -> None:
    assert extract_content_words(question) == words


@given(st.text())
def test_content_words_are_plain_and_each_named_once(text: str) -> None:
    words = extract_content_words(text)
    assert len(set(words)) == len(words)
    assert not set(words) & STOP_WORDS or set(words) <= STOP_WORDS


@pytest.mark.parametrize(
    ("words", "stem"),
    [
        ("lamp lamps", "lamp"),
        ("walk walks walked walking walkingly", "walk"),
        ("box boxes boxed", "box"),
        ("sing", "sing"),
        ("red", "red"),
        ("is", "is"),
    ],
)
def test_forms_of_one_word_share_a_stem(words: str, stem: str) -> None:
    assert {stem_lightly(word) for word in words.split()} == {stem}


@given(st.text("abcdeings", max_size=12))
def test_a_stem_begins_its_word_and_is_not_too_short(word: str) -> None:
    stem = stem_lightly(word)
    assert word.startswith(stem)
    assert len(stem) >= min(3, len(word))


@pytest.mark.parametrize(
    ("word", "plain"),
    [("Mags’s", "mags"), ("frog's", "frog"), ("James'", "james"), ("don’t", "don’t")],
)
def test_a_possessive_ending_is_dropped(word: str, plain: str) -> None:
    assert normalize_word(word) == plain


def test_a_name_begins_with_a_capital_of_any_alphabet() -> None:
    assert extract_capitalized_words("Wer ist Über und über bei Zoë?") == [
        "über",
        "zoë",
    ]
    assert extract_capitalized_words("Is it about über und ähnlich?") == []


@given(
    text=st.text("abesSIiΣσİ’'_ing .\u0307", max_size=30),
    question=st.text("abesiσ’'ng", max_size=6),
)
def test_a_stem_is_found_wherever_a_word_of_the_text_has_it(
    text: str, question: str
) -> None:
    stem = stem_lightly(question)
    stems = {stem_word(word) for word in WORD_PATTERN.findall(text)}
    assert contains_stem(text, text.lower(), stem) == (stem in stems)
