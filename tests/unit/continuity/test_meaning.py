import pytest
from hypothesis import given
from hypothesis import strategies as st

from lrwr.core.continuity.normalize import (
    ages,
    date,
    differ,
    hues,
    meaning_key,
    number_of,
)

COLOURS = st.sampled_from(
    ["grey", "gray", "blue", "brown", "green", "hazel", "black", "red", "fair", "white"]
)
SHADES = st.sampled_from(["", "dark ", "light ", "steel-", "very "])


@pytest.mark.parametrize(
    ("attribute", "one", "other"),
    [
        ("eyes", "grey", "gray"),
        ("eyes", "grey", "steel-grey"),
        ("eyes", "hazel", "brown"),
        ("eyes", "black", "brown"),
        ("eyes", "blue", "blue-grey"),
        ("eyes", "dark", "blue"),
        ("eyes", "wide", "blue"),
        ("hair", "auburn", "red"),
        ("hair", "golden", "fair"),
        ("hair", "curly", "black"),
        ("number", "twelve", "12"),
        ("number", "many", "12"),
        ("born", "May 1801", "the third of May"),
    ],
)
def test_values_that_may_be_one_do_not_differ(
    attribute: str, one: str, other: str
) -> None:
    assert not differ(attribute, one, other)
    assert not differ(attribute, other, one)


@pytest.mark.parametrize(
    ("attribute", "one", "other"),
    [
        ("eyes", "grey", "green"),
        ("eyes", "grey, like the sea", "brown"),
        ("hair", "jet black", "fair"),
        ("number", "nineteen", "twenty-one"),
        ("born", "3 May 1801", "the fourth of May"),
        ("born", "a Monday", "on a Tuesday"),
    ],
)
def test_values_of_other_classes_differ(attribute: str, one: str, other: str) -> None:
    assert differ(attribute, one, other)


@given(SHADES, COLOURS, SHADES, COLOURS, st.sampled_from(["eyes", "hair"]))
def test_to_differ_is_mutual_and_never_true_of_one_meaning(
    shade: str, colour: str, other_shade: str, other: str, attribute: str
) -> None:
    one, two = shade + colour, other_shade + other
    assert differ(attribute, one, two) == differ(attribute, two, one)
    assert not differ(attribute, one, one)
    if meaning_key(attribute, one) == meaning_key(attribute, two):
        assert not differ(attribute, one, two)


@given(st.text(max_size=40))
def test_any_text_is_read_as_some_meaning_or_none(text: str) -> None:
    assert hues("eyes", text) == hues("eyes", text.upper()) or not text.isascii()
    assert isinstance(meaning_key("age", text), str)
    assert not differ("number", text, text)
    assert not differ("born", text, text)


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("twelve", 12),
        ("twenty-one", 21),
        ("one-and-thirty", 31),
        ("19", 19),
        ("nobody knows", None),
        ("12 or 13", None),
    ],
)
def test_numbers_are_read_in_words_and_digits(text: str, number: int | None) -> None:
    assert number_of(text) == number


def test_an_age_is_a_span_of_years() -> None:
    assert ages("twelve") == (12, 12)
    assert ages("about forty") == (37, 43)
    assert ages("nearly forty") == (38, 40)
    assert ages("old") is None


def test_a_date_is_what_is_said_of_it() -> None:
    assert date("the twenty-first of May, 1801") == {
        "day": 21,
        "month": 4,
        "year": 1801,
    }
    assert date("a Tuesday") == {"weekday": 1}
    assert date("in the spring") == {}
