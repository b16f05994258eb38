"""Lengths of posts, as the platforms count them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lrwr.core.adapters.source.text import find_sentence_spans
from lrwr.core.evidence.limits import (
    LIMITS,
    Platform,
    divide_text,
    fits,
    measure_length,
    measure_parts,
    split_parts,
)

FAMILY = "👨‍👩‍👧‍👦"
LINK = "https://example.org/" + "a" * 80

# The cases of X follow the documented rules of twitter-text: Latin letters count 1,
# others and emoji 2, any address 23. The kinds of cases are those of its conformance
# file.


@pytest.mark.parametrize(
    ("platform", "text", "length"),
    [
        (Platform.X, "abc", 3),
        (Platform.X, "日本", 4),
        (Platform.X, FAMILY, 2),
        (Platform.X, f"see {LINK}", 27),
        (Platform.X, "a’b – “c”", 9),
        # Addresses with and without a scheme, several, and beside punctuation
        (Platform.X, "lamp.com", 23),
        (Platform.X, f"lamp.com, https://lamp.com/{'a' * 90} now", 52),
        (Platform.X, "(https://lamp.com/x).", 26),
        (Platform.X, "灯台lamp.com", 27),
        (Platform.X, "lamp.nosuchdomain", 17),
        (Platform.X, "hob@lamp.com", 12),
        # Weight 1: up to U+10FF, and the punctuation around quotation marks
        (Platform.X, "Маяк", 4),
        (Platform.X, "5′6″", 4),
        (Platform.X, "a\nb", 3),
        (Platform.X, "#fog @hob", 9),
        # Weight 2: everything else, also outside the basic plane
        (Platform.X, "…", 2),
        (Platform.X, "€", 2),
        (Platform.X, "등대지기", 8),
        (Platform.X, "\U00010000\U0010ffff", 4),
        # A composed character, and each emoji sequence as one
        (Platform.X, "e\u0301", 1),
        (Platform.X, "L🐱☺", 5),
        (Platform.X, "👍🏽", 2),
        (Platform.X, "🇳🇴", 2),
        (Platform.X, "❤️", 2),
        (Platform.BLUESKY, "🇳🇴👍🏽", 2),
        (Platform.MASTODON, "@hob@thole.example hi", 7),
        (Platform.MASTODON, "hob@thole.example", 17),
        (Platform.BLUESKY, "abc", 3),
        (Platform.BLUESKY, FAMILY, 1),
        (Platform.BLUESKY, "e\u0301", 1),
        (Platform.BLUESKY, LINK, 100),
        (Platform.MASTODON, f"see {LINK}", 27),
        (Platform.MASTODON, f"{FAMILY}日", 2),
    ],
)
def test_a_text_is_as_long_as_the_platform_counts(
    platform: Platform, text: str, length: int
) -> None:
    assert measure_length(text, platform) == length


def test_bluesky_limits_bytes_too() -> None:
    text = FAMILY * 130  # 25 bytes each
    assert measure_length(text, Platform.BLUESKY) == 130
    assert not fits(text, Platform.BLUESKY)


def test_lines_of_dashes_divide_parts() -> None:
    text = "One.\n\n---\n\nTwo.\nMore.\n***\n---\n Three. \n"
    parts = [text[span.start : span.end] for span in split_parts(text)]
    assert parts == ["One.", "Two.\nMore.", "Three."]
    lengths = measure_parts([*parts, "x" * 281], Platform.X)
    assert [one.part for one in lengths if one.is_too_long] == [4]
    assert lengths[3].characters == 281


@given(
    st.lists(
        st.sampled_from(
            ["a", "b ", ". ", "\n\n", "日", FAMILY, "é", f"{LINK} ", "x" * 99]
        ),
        max_size=60,
    ).map("".join),
    st.sampled_from(list(Platform)),
)
def test_no_part_is_over_its_limit_and_nothing_is_lost(
    text: str, platform: Platform
) -> None:
    parts = divide_text(text, platform, find_sentence_spans)
    assert all(fits(part, platform) for part in parts)
    assert "".join("".join(parts).split()) == "".join(text.split())


@pytest.mark.parametrize("platform", list(Platform))
def test_a_text_that_fits_is_one_part(platform: Platform) -> None:
    text = "One sentence. Another one.\n\nA paragraph."
    assert divide_text(text, platform, find_sentence_spans) == [text]
    long = "word " * LIMITS[platform].characters
    assert len(divide_text(long, platform, find_sentence_spans)) > 1
