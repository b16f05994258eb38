from collections.abc import Callable

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from lrwr.core.model.documents import DocumentId
from lrwr.core.model.text import LineIndex, LineRange, Span
from lrwr.core.model.turns import Citation
from lrwr.core.ports.stores import DocumentText
from lrwr.core.retrieval import anchors
from lrwr.core.retrieval import anchors as alignment
from lrwr.core.retrieval.anchors import (
    AnchoredCitation,
    Freshness,
    anchor_citations,
    find_citation_in_place,
    find_most_similar_span,
    find_nearest_quote,
)

ONE, TWO, THREE = (DocumentId(f"ch/{n}.md") for n in (1, 2, 3))

BOOK = (
    "# One\n\nNell Tallow climbed the ladder, nineteen rungs of it. Her eyes were grey"
    " as slate.\n\n“The lamp must never go out,” said Nell. “Not once.”\n\n"
    "Mags opened the ledger and looked at the page for a long time. The eels were"
    " counted twice, and nobody asked her why.\n\n***\n\n“The fog is only weather,”"
    " said Mags.\n"
)
LADDER = "Nell Tallow climbed the ladder, nineteen rungs of it."
LEDGER = "Mags opened the ledger and looked at the page for a long time."
SENTENCES = (
    LADDER,
    "Her eyes were grey as slate.",
    "“The lamp must never go out,” said Nell.",
    LEDGER,
    "The eels were counted twice, and nobody asked her why.",
)

odd_text = st.text(st.characters(codec=None), max_size=200)
"""Whatever a text may hold, half a surrogate pair too."""

edits = st.text(st.sampled_from("abc XYZ.,“”\n-—é"), max_size=120)


def texts(**by_name: str) -> dict[DocumentId, DocumentText]:
    ids = {"one": ONE, "two": TWO, "three": THREE}
    return {
        ids[name]: DocumentText(text, LineIndex.of(text))
        for name, text in by_name.items()
    }


def cited(words: str, text: str = BOOK, document: DocumentId = ONE) -> Citation:
    start = text.index(words)
    span = Span(start, start + len(words))
    return Citation(1, document, span, LineIndex.of(text).lines_of(span), words, 1)


def alone(citation: Citation, **by_name: str) -> AnchoredCitation:
    (found,) = anchor_citations([citation], texts(**by_name))
    check(found, texts(**by_name))
    return found


def check(found: AnchoredCitation, present: dict[DocumentId, DocumentText]) -> None:
    """What is said to stand in the text does, letter for letter."""
    if found.now is None:
        assert found.freshness is Freshness.GONE
        return
    own, span = present[found.now.document], found.now.span
    assert own.text[span.start : span.end] == found.now.text
    assert own.lines.lines_of(span) == found.now.lines
    assert found.freshness in (Freshness.CURRENT, Freshness.EDITED)
    assert 0.0 < found.similarity <= 1.0


def test_words_that_stand_where_they_stood_are_current_and_have_not_moved() -> None:
    found = alone(cited(LEDGER), one=BOOK)
    assert (found.freshness, found.moved, found.changed) == ("current", False, False)
    assert found.now is not None
    assert (found.now.span, found.similarity) == (cited(LEDGER).span, 1.0)


@given(st.sampled_from(SENTENCES), edits, st.data())
def test_an_edit_elsewhere_leaves_words_current_where_they_are_now(
    words: str, edit: str, data: st.DataObject
) -> None:
    was = cited(words)
    outside = [*range(was.span.start + 1), *range(was.span.end, len(BOOK) + 1)]
    at = data.draw(st.sampled_from(outside))
    around = (edit[-1:] if at == was.span.start else "") + (
        edit[:1] if at == was.span.end else ""
    )
    assume(not any(letter.isalnum() for letter in around))
    text = BOOK[:at] + edit + BOOK[at:]
    found = alone(was, one=text)
    assert found.freshness is Freshness.CURRENT
    assert found.now is not None
    shift = len(edit) if at <= was.span.start else 0
    assert found.now.span.start == was.span.start + shift
    assert found.now.text == words


@given(st.sampled_from(SENTENCES), edits)
def test_words_that_are_taken_out_are_never_said_to_stand(
    words: str, instead: str
) -> None:
    text = BOOK.replace(words, instead)
    found = alone(cited(words), one=text)
    assert found.changed


@pytest.mark.parametrize(
    ("was", "now"),
    [
        (LADDER, "Nell Tallow climbed the ladder, ninety rungs of it."),
        (LADDER, "Nell Tallow climbed the old ladder, nineteen rungs of it, slowly."),
        (LEDGER, "Mags opened her ledger and stared at the page for a while."),
        (SENTENCES[1], "Her eyes were brown as slate."),
        (SENTENCES[2], "“The lamp must not ever go out,” said Nell."),
    ],
)
def test_an_edited_sentence_is_found_whole_as_it_reads_now(was: str, now: str) -> None:
    found = alone(cited(was), one="Before all that.\n\n" + BOOK.replace(was, now))
    assert found.freshness is Freshness.EDITED
    assert found.now is not None
    assert found.now.text == now
    assert 0.6 <= found.similarity < 1.0


def test_a_sentence_that_goes_on_now_is_shown_to_its_end() -> None:
    longer = LEDGER[:-1] + ", as if the fog had written it."
    found = alone(cited(LEDGER), one=BOOK.replace(LEDGER, longer))
    assert found.now is not None
    assert (found.freshness, found.now.text) == ("edited", longer)


@pytest.mark.parametrize(
    "shape",
    [
        lambda words: words.replace(" ", "\n", 3),
        lambda words: words.replace("“", '"').replace("”", '"'),
        lambda words: f"*{words}*",
        lambda words: words.replace(", ", ",  "),
    ],
)
@pytest.mark.parametrize("words", SENTENCES)
def test_the_same_words_in_another_shape_are_current_as_they_stand(
    words: str, shape: Callable[[str], str]
) -> None:
    text = "New.\n\n" + BOOK.replace(words, shape(words))
    found = alone(cited(words), one=text)
    assert found.freshness is Freshness.CURRENT


@pytest.mark.parametrize(
    ("was", "now"),
    [("Nell did", "Nell didn't"), ("rung 1", "rung 12"), ("the boat", "the boathouse")],
)
def test_words_that_go_on_beyond_the_quote_are_other_words(was: str, now: str) -> None:
    found = alone(cited(was, was + "."), one=now + ".")
    assert found.changed


def test_of_several_occurrences_the_nearest_counts_and_of_two_the_former() -> None:
    text = "“Yes.” “Yes.” “Yes.”"
    places = [
        find_nearest_quote("“Yes.”", text, near) for near in (0, 3, 4, 7, 10, 11, 999)
    ]
    assert places == [0, 0, 7, 7, 7, 14, 14]
    assert find_nearest_quote("ab.", "ab. ab. ab.", 2) == 0
    assert find_nearest_quote("ab.", "ab. ab. ab.", 6) == 4
    assert find_nearest_quote("none", text, 3) is None


def test_a_renamed_file_is_followed_before_any_other_that_has_the_words() -> None:
    was = cited(LEDGER)
    found = alone(was, two=f"Front.\n\n{BOOK}", three=BOOK)
    assert found.now is not None
    assert (found.now.document, found.now.span) == (THREE, was.span)
    assert found.moved
    short = cited("Not once.")
    assert alone(short, two=BOOK).freshness is Freshness.CURRENT
    assert alone(short, two=f"x {BOOK}").freshness is Freshness.GONE


def test_a_passage_that_moved_to_another_file_is_found_there() -> None:
    left = BOOK.replace(LEDGER, "Mags closed the ledger and looked at the page, too.")
    found = alone(cited(LEDGER), one=left, two=f"# Two\n\n{LEDGER}\n")
    assert found.now is not None
    assert (found.freshness, found.now.document) == ("current", TWO)
    assert found.now.lines == LineRange(3, 3)


def test_a_few_common_words_are_not_looked_for_in_other_files() -> None:
    said = cited("“Not once.”")
    left = BOOK.replace(" “Not once.”", "")
    assert alone(said, one=left, two="“Not once.”").freshness is Freshness.GONE


def test_a_renamed_file_with_an_edited_passage_is_found_by_likeness() -> None:
    edited = BOOK.replace("nineteen rungs", "ninety rungs")
    found = alone(cited(LADDER), two="# Two\n\nNothing here.\n", three=edited)
    assert found.now is not None
    assert (found.freshness, found.now.document) == ("edited", THREE)


def test_where_there_is_no_text_at_all_the_words_are_gone() -> None:
    assert alone(cited(LEDGER)).freshness is Freshness.GONE
    assert alone(cited(LEDGER), one="").freshness is Freshness.GONE


def test_each_citation_is_answered_in_its_place() -> None:
    every = [cited(words) for words in SENTENCES]
    text = BOOK.replace(LADDER, "").replace("grey", "brown")
    found = anchor_citations(every, texts(one=text))
    assert [one.citation for one in found] == every
    assert [str(one.freshness) for one in found] == [
        *("gone", "edited"),
        *("current",) * 3,
    ]


def test_beyond_its_reach_only_the_neighbourhood_is_aligned() -> None:
    far = "Nobody came. " * 1_000
    edited = LEDGER.replace("opened", "shut").replace("long", "good long")
    near, away = f"{edited} {far}", f"{far}{edited}"
    for text, reach, found in (
        (near, 0, True), (away, 0, False), (away, 10**6, True),
    ):  # fmt: skip
        assert (
            find_most_similar_span(LEDGER, text, 0, reach=reach) is not None
        ) is found
    assert len(LEDGER) * alignment.NEIGHBOURHOOD_CHARS < anchors.MAX_ALIGNMENT_WORK


@given(odd_text, odd_text, st.integers(0, 300), st.integers(0, 300))
def test_nothing_raises_whatever_the_texts_hold(
    words: str, text: str, start: int, size: int
) -> None:
    was = Citation(1, ONE, Span(start, start + size), LineRange(1, 1), words, None)
    for present in (texts(one=text), texts(two=text), texts(one=words, two=text)):
        (found,) = anchor_citations([was], present)
        check(found, present)
        assert anchor_citations([was], present) == [found]
        if kept := find_citation_in_place(was, present):
            assert kept == found


@given(odd_text.filter(str.strip), odd_text, odd_text)
def test_words_that_stand_alone_on_their_lines_are_found(
    words: str, before: str, after: str
) -> None:
    was = Citation(1, ONE, Span(0, len(words)), LineRange(1, 1), words, None)
    found = alone(was, one=f"{before}\n\n{words}\n\n{after}")
    assert found.freshness is Freshness.CURRENT
