"""The part of a passage that is shown has the sentences that fit the question."""

from hypothesis import given
from hypothesis import strategies as st

from lrwr.core.adapters.source.text import find_sentence_spans
from lrwr.core.model.text import Span
from lrwr.core.ports.models import SentenceRating
from lrwr.core.retrieval.excerpts import cut_excerpt, select_excerpts
from lrwr.core.retrieval.retrievers import WordWeights
from tests.fakes.records import a_chunk

SENTENCES = ("The fog came.", "Nobody spoke.", "Mags lit the lamp.", "It burned.")
TEXT = " ".join(SENTENCES)


def rated(text: str, *scores: float) -> list[SentenceRating]:
    """Rate the sentences of `SENTENCES` in `text`, in their order."""
    spans = [Span(text.index(one), text.index(one) + len(one) + 1) for one in SENTENCES]
    return [
        SentenceRating(span, score) for span, score in zip(spans, scores, strict=True)
    ]


def test_the_excerpt_holds_the_best_sentence() -> None:
    excerpt = cut_excerpt(TEXT, rated(TEXT, 0.1, 0.2, 0.9, 0.3), 30)
    shown = TEXT[excerpt.span.start : excerpt.span.end]
    assert shown == "Mags lit the lamp. It burned."
    assert TEXT[excerpt.best.start : excerpt.best.end] == "Mags lit the lamp."


def test_a_text_that_fits_is_shown_whole() -> None:
    excerpt = cut_excerpt(TEXT, rated(TEXT, 0.1, 0.2, 0.9, 0.3), 500)
    assert excerpt.span == Span(0, len(TEXT))


def test_a_sentence_longer_than_the_limit_is_shown_whole() -> None:
    excerpt = cut_excerpt(TEXT, rated(TEXT, 0.1, 0.2, 0.9, 0.3), 5)
    assert TEXT[excerpt.span.start : excerpt.span.end] == "Mags lit the lamp."


def test_a_heading_is_not_the_best_sentence() -> None:
    text = "# The lamp of Mags\n\nThe fog came."
    ratings = [SentenceRating(Span(0, 20), 0.9), SentenceRating(Span(20, 33), 0.1)]
    excerpt = cut_excerpt(text, ratings, 100)
    assert text[excerpt.best.start : excerpt.best.end] == "The fog came."


@given(st.lists(st.floats(-1, 1.5), min_size=4, max_size=4), st.integers(0, 80))
def test_an_excerpt_consists_of_whole_sentences(
    scores: list[float], limit: int
) -> None:
    excerpt = cut_excerpt(TEXT, rated(TEXT, *scores), limit)
    shown = TEXT[excerpt.span.start : excerpt.span.end]
    assert shown in TEXT and excerpt.span.holds(excerpt.best)
    assert TEXT[excerpt.best.start : excerpt.best.end] in SENTENCES
    assert len(shown) <= limit or shown in SENTENCES


def _rate(text: str, *scores: float) -> list[SentenceRating]:
    spans = find_sentence_spans(text)
    return [SentenceRating(s, v) for s, v in zip(spans, scores, strict=True)]


def test_an_excerpt_does_not_end_inside_open_speech() -> None:
    text = "The lamp was out. “You can say no. You will not.” Nell left. Rain fell."
    ratings = _rate(text, 0.9, 0.5, 0.1, 0.2, 0.1)
    limit = len("The lamp was out. “You can say no.")
    plain = cut_excerpt(text, ratings, limit)
    assert text[plain.span.start : plain.span.end].endswith("say no.")
    closed = cut_excerpt(text, ratings, limit, closes_speech=True)
    assert text[closed.span.start : closed.span.end] == "The lamp was out."
    assert closed.best == plain.best


def test_an_excerpt_that_cannot_close_its_speech_is_unchanged() -> None:
    text = "“You can say no. You will not.”"
    ratings = _rate(text, 0.9, 0.1)
    cut = cut_excerpt(text, ratings, 18, closes_speech=True)
    assert text[cut.span.start : cut.span.end] == "“You can say no."


async def test_a_quoted_phrase_is_in_the_excerpt() -> None:
    text = "Mags lit the lamp. Nobody came. " * 20 + "It was the third bell. The end."
    words = WordWeights.of(["mags", "lamp"], {}, 1)
    (excerpt,) = await select_excerpts(
        'When did Mags light the lamp at "the third bell"?',
        [a_chunk(text)],
        words,
        find_sentence_spans,
        None,
        limit=60,
    )
    assert "the third bell" in text[excerpt.span.start : excerpt.span.end]


async def test_a_sentence_that_is_likely_to_answer_is_in_the_excerpt() -> None:
    chunk = a_chunk(TEXT)
    at = TEXT.index("It burned.")
    words = WordWeights({"fog": 0.4, "burn": 0.3, "long": 0.3})
    (excerpt,) = await select_excerpts(
        "How long did it burn in the fog?",
        [chunk],
        words,
        find_sentence_spans,
        None,
        limit=20,
        find_favored=lambda _: [Span(at, at + 10)],
    )
    assert TEXT[excerpt.span.start : excerpt.span.end] == "It burned."
