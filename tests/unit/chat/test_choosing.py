"""Of all that was found, a question is told what it asks for, part by part."""

from dataclasses import replace

import pytest

from lrwr.core.bible.values import SceneSummary
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.facts import FactAbout
from lrwr.core.model.text import LineRange, Span
from lrwr.core.model.turns import SourceIntention
from tests.fakes.answered import answer
from tests.fakes.chatting import (
    ONE,
    TWO,
    a_bible,
    a_plan,
    a_story,
    found,
    paragraphs,
)
from tests.fakes.stories import Stories

NELL = "Nell Tallow"


@pytest.fixture
def story() -> Stories:
    return a_story()


async def test_two_questions_in_one_are_both_answered_each_of_its_own(
    story: Stories,
) -> None:
    story.fact(
        TWO, "Nobody had asked him.", FactAbout.CHARACTER, "attribute", "a long coat",
        "Corin Vale", details=(("attribute", "clothing"),),
    )  # fmt: skip
    result = found(story, NELL, "Corin Vale")
    asked = "What colour are Nell's eyes, and what occupation has Corin Vale?"
    said = await answer(story, asked, a_plan(SourceIntention.TRAITS), result)
    assert "grey" in said.text and "lantern-bearer" in said.text
    assert "coat" not in said.text


async def test_what_somebody_says_is_told_to_the_question_that_asks_for_it(
    story: Stories,
) -> None:
    result = found(story, "Mags", speaker=NELL)
    plan = a_plan(SourceIntention.TRAITS, SourceIntention.DIALOGUE_OF)
    asked = "Who is Mags, and what does Nell say about the lamp?"
    said = await answer(story, asked, plan, result)
    assert "The lamp must never go out," in said.text
    assert "I keep no ledger," not in said.text


async def test_how_two_stand_is_not_told_by_a_third(story: Stories) -> None:
    for kind, target in (("cousin", "Corin Vale"), ("aunt", "Mags")):
        story.fact(
            TWO, "Corin Vale came over the marsh", FactAbout.CHARACTER, "relationship", "",
            NELL, details=(("target", target), ("kind", kind)),
        )  # fmt: skip
    result = found(story, NELL, "Mags")
    plan = a_plan(SourceIntention.RELATIONSHIPS)
    said = await answer(
        story, "How do Nell and Mags stand to each other?", plan, result
    )
    assert "aunt" in said.text and "cousin" not in said.text


async def test_what_a_label_answers_needs_no_passage_beside(story: Stories) -> None:
    result = found(story, NELL, passages=paragraphs(story.book, ONE))
    said = await answer(
        story, "What colour are Nell’s eyes?", a_plan(SourceIntention.TRAITS), result
    )
    assert said.text == "Nell Tallow, eyes: grey (“Her eyes were grey as slate.”) [1]"


async def test_who_was_there_is_told_by_the_scene(story: Stories) -> None:
    bible = a_bible(story)
    scene = SceneSummary(
        DocumentId(ONE), Span(0, 400), LineRange(1, 9), 1, "One", 1,
        key_sentences=tuple(quote.evidence for quote in bible.quotes[:2]),
        present=(NELL, "Mags"),
    )  # fmt: skip
    result = replace(found(story, NELL), scenes=(scene,))
    plan = a_plan(SourceIntention.WHO_WAS_THERE)
    said = await answer(story, "Who was there when the lamp was lit?", plan, result)
    first, *_ = said.text.split("\n\n")
    assert first == ("Chapter 1, scene 1, who acts or speaks: Nell Tallow, Mags [1]")


async def test_a_number_of_relatives_is_not_answered_with_one(story: Stories) -> None:
    story.fact(
        TWO, "Corin Vale came over the marsh", FactAbout.CHARACTER, "relationship", "",
        NELL, details=(("target", "Corin Vale"), ("kind", "cousin")),
    )  # fmt: skip
    result = found(story, NELL, passages=paragraphs(story.book, ONE))
    plan = a_plan(SourceIntention.RELATIONSHIPS)
    said = await answer(story, "How many cousins does Nell have?", plan, result)
    assert "Corin Vale" not in said.text
