from hypothesis import given
from hypothesis import strategies as st

from lrwr.core.model.text import Span
from lrwr.core.nlp.dialogue.quote_lookup import find_verbatim

TEXT = "Nell Tallow—the cooper’s *eldest*—kept a “blue”\n  boat."


def said(quote: str) -> str | None:
    place = find_verbatim(quote, TEXT)
    return TEXT[place.start : place.end] if place else None


def test_what_is_typed_in_several_ways_may_differ_and_nothing_else() -> None:
    assert said("the cooper's eldest") == "the cooper’s *eldest"
    assert said('KEPT A "BLUE" BOAT') == "kept a “blue”\n  boat"
    assert said("Tallow-the cooper’s") == "Tallow—the cooper’s"
    assert said("kept a green boat") is None
    assert said("kept a blue boat") is None
    assert said("the cooper … boat") is None


def test_half_a_word_and_no_words_are_no_quote() -> None:
    assert said("oper’s eldest") is None
    assert said("kept a “blue” bo") is None
    assert said("") is None
    assert said("“—”") is None


@given(st.text("ab .,’“”*—\n", max_size=40), st.data())
def test_whole_words_of_a_text_are_always_found_and_stand_where_it_says(
    text: str, data: st.DataObject
) -> None:
    whole = f"zz {text} zz"
    start = data.draw(st.sampled_from([0, len(whole) - 2]))
    assert find_verbatim(whole[start : start + 2], whole) == Span(0, 2)
    assert find_verbatim(whole, whole) == Span(0, len(whole))


@given(st.text(max_size=30), st.text(max_size=60))
def test_a_place_lies_in_the_text_whatever_is_looked_for(quote: str, text: str) -> None:
    place = find_verbatim(quote, text)
    assert place is None or 0 <= place.start < place.end <= len(text)
