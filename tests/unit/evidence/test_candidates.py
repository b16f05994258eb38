"""Moments of the timeline as evidence for a text."""

from lrwr.core.bible.values import TextEvidence, TimelineMoment, TimelineMomentKind
from lrwr.core.evidence.candidates import (
    list_fitting_moments,
    split_brief,
    spread_moments,
)
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.facts import Certainty
from lrwr.core.model.text import LineRange, Span


def build_moment(chapter: int, text: str, *characters: str) -> TimelineMoment:
    evidence = TextEvidence(
        DocumentId("a.md"),
        (Span(0, 9),),
        text,
        LineRange(1, 1),
        chapter,
        "",
        1,
        "rules",
        Certainty.CONFIRMED,
    )
    return TimelineMoment(TimelineMomentKind.EVENT, text, characters, evidence)


def test_of_each_chapter_the_moment_that_fits_the_brief_comes_first() -> None:
    moments = [
        build_moment(1, "Hob and Jack and Lusk eat.", "Hob", "Jack", "Lusk"),
        build_moment(1, "The lantern goes out.", "Nell"),
        build_moment(2, "The lantern is lit.", "Nell"),
    ]
    chosen = spread_moments(moments, 2, "Nell and the lantern")
    assert [moment.text for moment in chosen] == [
        "The lantern goes out.",
        "The lantern is lit.",
    ]


def test_a_moment_without_two_words_of_the_brief_does_not_fit_it() -> None:
    moments = [
        build_moment(1, "Hob eats.", "Hob"),
        build_moment(1, "Nell eats.", "Nell"),
        build_moment(2, "The lantern is lit.", "Nell"),
    ]
    assert list_fitting_moments(moments, "Nell and the lantern") == moments[2:]


def test_each_sentence_about_the_story_is_searched_alone() -> None:
    brief = (
        "My novel of 9 words: Nell keeps the lantern. Hob rings the bell. Thank you."
    )
    assert split_brief(brief) == [
        brief,
        "Nell keeps the lantern.",
        "Hob rings the bell.",
    ]
    assert split_brief("How the lantern is lit") == ["How the lantern is lit"]
