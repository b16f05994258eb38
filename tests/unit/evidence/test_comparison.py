"""How close a statement is to a text, and which details differ."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lrwr.core.adapters.source.text import find_sentence_spans
from lrwr.core.attribution.details import find_numbers
from lrwr.core.evidence.comparison import DetailKind, compare_with_text

CAST = (
    ("Nell", "Nell Tallow"),
    ("Mr. Lusk", "Lusk"),
    ("Jack", "Jack Tallow"),
    ("Miss Bell",),
    ("Mr. Bell",),
)
TEXT = (
    "The fog came up at three. Nell carried fourteen cans of oil up the ladder before the"
    " bell rang. She did not look back at Mr. Lusk. Jack Tallow had been keeper for nine"
    " years. Mr. Bell closed the shutters of the house."
)


def differences(statement: str) -> list[tuple[str, str, str]]:
    compared = compare_with_text(statement, TEXT, find_sentence_spans, CAST)
    assert compared is not None
    return [(one.kind.value, one.stated, one.found) for one in compared.differences]


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        (
            "Nell carried twelve cans of oil up the ladder before the bell rang.",
            ("number", "twelve", "fourteen"),
        ),
        (
            "Jack carried fourteen cans of oil up the ladder before the bell rang.",
            ("name", "Jack", "Nell"),
        ),
        ("She did look back at Mr. Lusk.", ("negation", "", "not")),
        (
            "Mr. Lusk had been keeper for nine years.",
            ("name", "Mr. Lusk", "Jack Tallow"),
        ),
        (
            "Miss Bell closed the shutters of the house.",
            ("name", "Miss Bell", "Mr. Bell"),
        ),
        (
            "Nell Tallow did not carry fourteen cans of oil up the ladder.",
            ("negation", "not", ""),
        ),
        (
            "In the story Jack Tallow keeps the lamp as keeper for eleven years.",
            ("number", "eleven", "nine"),
        ),
    ],
)
def test_a_changed_detail_is_found_with_both_values(
    statement: str, expected: tuple[str, str, str]
) -> None:
    assert differences(statement)[0] == expected


@pytest.mark.parametrize(
    "statement",
    [
        "Nell carried fourteen cans of oil up the ladder before the bell rang.",
        "Nell Tallow carried fourteen cans of oil up the ladder.",
        "She carried fourteen cans of oil up the ladder before the bell rang.",
        "Jack had been keeper for nine years.",
        "Nell carried cans of oil up the ladder before the bell rang.",
        "Fog comes up from the sea at dawn.",
    ],
)
def test_what_agrees_or_says_less_has_no_differences(statement: str) -> None:
    assert differences(statement) == []


@pytest.mark.parametrize(
    "statement",
    [
        "Nell carried more than twelve cans of oil up the ladder before the bell rang.",
        "Nell carried almost fifteen cans of oil up the ladder before the bell rang.",
        "Nell carried about thirteen cans of oil up the ladder before the bell rang.",
        "Nell carried fewer than twenty cans of oil up the ladder before the bell.",
        "Up the ladder went more than twelve cans of oil that Nell carried.",
        "Over eight years Jack Tallow had been keeper.",
    ],
)
def test_a_hedged_number_that_fits_the_text_is_no_difference(statement: str) -> None:
    assert differences(statement) == []


@pytest.mark.parametrize(
    ("statement", "text"),
    [
        (
            "It was nothing less than a miracle that the bell rang at all.",
            "It was a miracle that the bell rang at all.",
        ),
        (
            "Without hesitation Nell climbed the ladder to the lamp room.",
            "Nell climbed the ladder to the lamp room.",
        ),
        (
            "Nell climbed the ladder to the lamp room without a moment’s hesitation.",
            "At once Nell climbed the ladder to the lamp room.",
        ),
        (
            "It was settled that Nell climbs the ladder to the lamp room.",
            "It was settled without any quarrel that Nell climbs the ladder to the lamp room.",
        ),
        (
            "It was three miles from Thole to the mill.",
            "It was two or three miles from Thole to the mill.",
        ),
        (
            "Jack has four: girls of six and eight, and two boys.",
            "“How many has Jack?” “Four. Two girls of six and eight, and two boys.”",
        ),
    ],
)
def test_words_that_affirm_or_count_a_list_are_no_differences(
    statement: str, text: str
) -> None:
    compared = compare_with_text(statement, text, find_sentence_spans, CAST)
    assert compared is not None
    assert compared.differences == ()


@pytest.mark.parametrize(
    ("statement", "text", "expected"),
    [
        (
            "Without oil Nell climbed the ladder to the lamp room.",
            "With oil Nell climbed the ladder to the lamp room.",
            ("negation", "Without", "With"),
        ),
        (
            "Nothing less would bring the mule across the marsh.",
            "Less would bring the mule across the marsh.",
            ("negation", "Nothing", ""),
        ),
        (
            "Before supper, up in that old room, Jack lit a lamp.",
            "Nell lit the lamp in the old room before anybody had supper. Jack slept.",
            ("name", "Jack", "Nell"),
        ),
        (
            "It was only twenty miles from Thole to the mill.",
            "It was only five-and-twenty miles from Thole to the mill.",
            ("number", "twenty", "five-and-twenty"),
        ),
        (
            "It was only twenty-two miles from Thole to the mill.",
            "It was only twenty miles from Thole to the mill.",
            ("number", "twenty-two", "twenty"),
        ),
    ],
)
def test_other_negations_and_swapped_names_are_found(
    statement: str, text: str, expected: tuple[str, str, str]
) -> None:
    compared = compare_with_text(statement, text, find_sentence_spans, CAST)
    assert compared is not None
    (one,) = compared.differences
    assert (one.kind.value, one.stated, one.found) == expected


@pytest.mark.parametrize(
    ("statement", "stated"),
    [
        ("Nell carried more than fifteen cans of oil up the ladder.", "fifteen"),
        ("Nell carried almost thirteen cans of oil up the ladder.", "thirteen"),
        ("Nell carried almost thirty cans of oil up the ladder.", "thirty"),
        ("Nell carried about forty cans of oil up the ladder.", "forty"),
        ("Nell carried fewer than twelve cans of oil up the ladder.", "twelve"),
    ],
)
def test_a_hedged_number_that_cannot_be_is_a_difference(
    statement: str, stated: str
) -> None:
    assert differences(statement)[0] == ("number", stated, "fourteen")


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("She is seven-and-twenty.", [27]),
        ("He was five and twenty years old.", [25]),
        ("It was his five-and-twentieth year.", [25]),
        ("There are between five and twenty mules.", [5, 20]),
        ("There are three and then twenty mules.", [3, 20]),
        ("Three hundred and six mules, and six and eight cats.", [306, 6, 8]),
        (
            "She was born in seventeen eighty-five, and left in eighteen-six.",
            [1785, 18, 6],
        ),
        ("In nineteen ten, or in eighteen hundred and six.", [1910, 1806]),
        ("At eleven thirty she had sixteen twenty-pound notes.", [11, 30, 16, 20]),
    ],
)
def test_numbers_in_other_orders_of_words_are_read(
    text: str, values: list[int]
) -> None:
    assert [value for value, _ in find_numbers(text)] == values


@pytest.mark.parametrize(
    ("statement", "text"),
    [
        (
            "Jack is Nell’s elder brother.",
            "Though the elder of Nell’s family, Jack had not the patience of his brother.",
        ),
        (
            "Jack will become engaged to Miss Bell.",
            "Not even Jack seemed engaged in what Miss Bell had said to Mr. Bell.",
        ),
    ],
)
def test_names_alone_do_not_make_a_sentence_deny_it(statement: str, text: str) -> None:
    compared = compare_with_text(statement, text, find_sentence_spans, CAST)
    assert compared is not None
    assert compared.differences == ()


def test_a_name_in_a_sentence_with_few_of_the_words_is_no_difference() -> None:
    statement = "Jack helps Miss Bell into the cart of the mill."
    text = "Jack drove to the mill every day, where Nell was out with the cart."
    compared = compare_with_text(statement, text, find_sentence_spans, CAST)
    assert compared is not None
    assert compared.share >= 0.5
    assert compared.differences == ()


def test_the_same_hedge_before_another_number_is_a_difference() -> None:
    text = "Hob had not slept more than four of them together since he took the rope."
    compared = compare_with_text(
        text.replace("four", "five"), text, find_sentence_spans, CAST
    )
    assert compared is not None
    (difference,) = compared.differences
    assert (difference.stated, difference.found) == ("five", "four")


def test_the_closest_sentence_is_found_and_headings_are_not_sentences() -> None:
    text = "# The fog came up\n\nIt was late. The fog came up at three."
    compared = compare_with_text("The fog came up at three.", text, find_sentence_spans)
    assert compared is not None
    assert text[compared.span.start : compared.span.end] == "The fog came up at three."
    assert compared.is_near
    assert compare_with_text("Anything.", "# Heading", find_sentence_spans) is None


@given(st.integers(0, 4), st.integers(1, 2))
def test_sentences_of_the_text_repeat_it_without_differences(
    at: int, size: int
) -> None:
    sentences = find_sentence_spans(TEXT)[at : at + size]
    statement = TEXT[sentences[0].start : sentences[-1].end]
    compared = compare_with_text(statement, TEXT, find_sentence_spans, CAST)
    assert compared is not None
    assert compared.is_near
    assert compared.differences == ()


def test_kinds_are_words_that_a_reader_understands() -> None:
    assert {kind.value for kind in DetailKind} == {
        "number",
        "name",
        "negation",
        "word",
        "quotation",
        "chapter",
    }
