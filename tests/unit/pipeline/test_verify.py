"""Which facts are kept: those whose words are there."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lrwr.core.model.facts import Certainty, Fact, FactAbout
from lrwr.core.model.text import Span
from lrwr.core.nlp.dialogue.quote_lookup import find_fuzzy_quote
from lrwr.pipeline.stages.verification import filter_verified_facts

TEXT = "The fog came in.   Nell lit the lamp."
WHOLE = Span(0, len(TEXT))


def fact(*spans: Span, value: str = "calm") -> Fact:
    return Fact(
        FactAbout.CHARACTER,
        "Nell",
        "personality_trait",
        value,
        spans,
        "scripted",
        Certainty.VERIFIED,
    )


def test_a_fact_that_rests_on_words_is_kept_once() -> None:
    one = fact(*find_fuzzy_quote("Nell lit the lamp", TEXT))
    assert filter_verified_facts([one, one], TEXT, WHOLE) == (one,)


@pytest.mark.parametrize(
    "spans",
    [
        (),
        (Span(3, 3),),
        (Span(5, 2),),
        (Span(-4, 3),),
        (Span(16, 19),),
        (Span(30, 90),),
        (Span(0, 3), Span(30, 90)),
    ],
)
def test_a_fact_that_rests_on_nothing_is_dropped(spans: tuple[Span, ...]) -> None:
    assert filter_verified_facts([fact(*spans)], TEXT, WHOLE) == ()


def test_words_outside_of_what_was_read_do_not_count() -> None:
    one = fact(*find_fuzzy_quote("The fog", TEXT))
    assert filter_verified_facts([one], TEXT, Span(10, len(TEXT))) == ()


@given(st.lists(st.builds(Span, st.integers(-5, 50), st.integers(-5, 50)), max_size=3))
def test_what_is_kept_can_be_shown(spans: list[Span]) -> None:
    for one in filter_verified_facts([fact(*spans)], TEXT, WHOLE):
        assert all(TEXT[span.start : span.end].strip() for span in one.spans)
