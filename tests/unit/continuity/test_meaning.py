import pytest
from hypothesis import given
from hypothesis import strategies as st

from lrwr.core.continuity.values import (
    are_values_incompatible,
    classify_hues,
    normalize_value_meaning,
    parse_age_range,
    parse_date_parts,
    parse_value_number,
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
    assert not are_values_incompatible(attribute, one, other)
    assert not are_values_incompatible(attribute, other, one)


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
    assert are_values_incompatible(attribute, one, other)


@given(SHADES, COLOURS, SHADES, COLOURS, st.sampled_from(["eyes", "hair"]))
def test_to_differ_is_mutual_and_never_true_of_one_meaning(
    shade: str, colour: str, other_shade: str, other: str, attribute: str
) -> None:
    one, two = shade + colour, other_shade + other
    assert are_values_incompatible(attribute, one, two) == are_values_incompatible(
        attribute, two, one
    )
    assert not are_values_incompatible(attribute, one, one)
    if normalize_value_meaning(attribute, one) == normalize_value_meaning(
        attribute, two
    ):
        assert not are_values_incompatible(attribute, one, two)


@given(st.text(max_size=40))
def test_any_text_is_read_as_some_meaning_or_none(text: str) -> None:
    assert (
        classify_hues("eyes", text) == classify_hues("eyes", text.upper())
        or not text.isascii()
    )
    assert isinstance(normalize_value_meaning("age", text), str)
    assert not are_values_incompatible("number", text, text)
    assert not are_values_incompatible("born", text, text)


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
    assert parse_value_number(text) == number


def test_an_age_is_a_span_of_years() -> None:
    assert parse_age_range("twelve") == (12, 12)
    assert parse_age_range("about forty") == (37, 43)
    assert parse_age_range("nearly forty") == (38, 40)
    assert parse_age_range("old") is None


def test_a_date_is_what_is_said_of_it() -> None:
    assert parse_date_parts("the twenty-first of May, 1801") == {
        "day": 21,
        "month": 4,
        "year": 1801,
    }
    assert parse_date_parts("a Tuesday") == {"weekday": 1}
    assert parse_date_parts("in the spring") == {}
