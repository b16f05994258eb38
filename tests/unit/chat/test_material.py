"""What was found is told as it is: sure where it is sure, with its place in words."""

from dataclasses import replace

import pytest

from lrwr.core.bible.values import SceneSummary, TimelineMomentKind
from lrwr.core.chat.context.items import (
    StoryFacet,
    build_quote_item,
    collect_context_items,
)
from lrwr.core.chat.extractive.writer import format_item_body
from lrwr.core.chat.state import RetrievalResult
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.facts import Certainty
from lrwr.core.model.text import LineRange, Span
from tests.fakes.chatting import ONE, a_bible, a_story


def test_to_whom_somebody_speaks_is_told_where_it_is_sure() -> None:
    fog = next(q for q in a_bible(a_story()).quotes if "fog" in q.evidence.text)
    sure = replace(fog, addressee_certainty=Certainty.VERIFIED)
    assert build_quote_item(sure).head == "Mags, to Nell Tallow"
    guessed = replace(fog, addressee_certainty=Certainty.PROBABLE)
    assert build_quote_item(guessed).head == "Mags"


def test_a_line_that_is_not_surely_theirs_is_told_as_probable() -> None:
    fog = next(q for q in a_bible(a_story()).quotes if "fog" in q.evidence.text)
    words = replace(fog.evidence, certainty=Certainty.PROBABLE)
    guessed = replace(fog, addressee="", evidence=words)
    assert build_quote_item(guessed).head == "Mags, probably"


@pytest.mark.parametrize("facet", [StoryFacet.LOOK, StoryFacet.RELATION])
def test_a_fact_that_is_not_sure_is_told_as_probable(facet: StoryFacet) -> None:
    fog = next(q for q in a_bible(a_story()).quotes if "fog" in q.evidence.text)
    for certainty, told in (
        (Certainty.PROBABLE, "Mags, life: dead, probably"),
        (Certainty.VERIFIED, "Mags, life: dead"),
    ):
        words = replace(fog.evidence, certainty=certainty)
        line = build_quote_item(replace(fog, evidence=words))
        fact = replace(line, facet=facet, statement="Mags, life: dead")
        assert format_item_body(fact, ()) == told


@pytest.mark.parametrize(
    ("title", "place"),
    [
        ("Chapter One: The Ferry", "Chapter 1 “The Ferry”"),
        ("CHAPTER VII", "Chapter 1 “CHAPTER VII”"),
        ("Chapter Two: The Ferry", "Chapter 1 “Chapter Two: The Ferry”"),
        ("The Ferry", "Chapter 1 “The Ferry”"),
        ("", "Chapter 1"),
    ],
)
def test_a_chapter_that_tells_its_number_is_not_numbered_again(
    title: str, place: str
) -> None:
    moment = a_bible(a_story()).timeline[0]
    words = replace(moment.evidence, chapter_title=title)
    told = replace(moment, kind=TimelineMomentKind.EVENT, evidence=words)
    (piece,) = collect_context_items(RetrievalResult(moments=(told,)))
    assert piece.about == place


def test_a_scene_tells_who_is_in_it() -> None:
    quotes = a_bible(a_story()).quotes
    scene = SceneSummary(
        DocumentId(ONE), Span(0, 400), LineRange(1, 9), 1, "One", 2,
        key_sentences=(quotes[0].evidence,), present=("Mags", "Nell Tallow"),
    )  # fmt: skip
    present, recap = collect_context_items(RetrievalResult(scenes=(scene,)))
    assert (present.facet, recap.facet) == (StoryFacet.PRESENT, StoryFacet.RECAP)
    assert present.line == ("Chapter 1, scene 2, who acts or speaks: Mags, Nell Tallow")
