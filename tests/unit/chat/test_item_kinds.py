"""Facts of another kind than a question asks for are no answer to it."""

from dataclasses import replace

import pytest

from lrwr.core.bible.values import (
    BibleClaim,
    TextEvidence,
    TimelineMoment,
    TimelineMomentKind,
    WorldElement,
)
from lrwr.core.chat.context.items import ContextItem, StoryFacet
from lrwr.core.chat.extractive.item_kinds import drop_body_alone, is_beside_question
from lrwr.core.chat.extractive.question_parts import QuestionPart
from lrwr.core.chat.state import RetrievalResult, TurnQuestion
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.facts import RULES_KEEPER, Certainty
from lrwr.core.model.turns import QuestionEntity, SourceIntention
from lrwr.core.retrieval.retrievers import WordWeights
from tests.fakes.answered import answer
from tests.fakes.chatting import ONE, a_bible, a_plan, a_story, found, paragraphs
from tests.fakes.stories import Book, Stories

SURE = Certainty.VERIFIED


@pytest.fixture
def story() -> Stories:
    return a_story()


def evidence(book: Book, *sentences: str) -> TextEvidence:
    spans = tuple(book.span(ONE, sentence) for sentence in sentences)
    document = book.documents[DocumentId(ONE)]
    lines = document.lines.lines_of(spans[0])
    text = " … ".join(sentences)
    place = document.id, spans, text, lines, 1, "One", 1
    return TextEvidence(*place, RULES_KEEPER, SURE)


def with_connection(story: Stories) -> RetrievalResult:
    """Return a place that is connected with Mags by a sentence about the ledger."""
    words = evidence(story.book, "Mags opened the ledger")
    connection = BibleClaim("Mags", (words,), SURE)
    place = WorldElement("Half House", (), (), (connection,), SURE)
    return replace(found(story, passages=paragraphs(story.book, ONE)), world=(place,))


async def test_who_is_seen_at_a_place_does_not_answer_what_somebody_does_there(
    story: Stories,
) -> None:
    plan = replace(
        a_plan(SourceIntention.SETTING),
        entities=(QuestionEntity("Half House", 1.0),),
    )
    result = with_connection(story)
    told = await answer(story, "Who opened Half House?", plan, result)
    assert "concerns" not in told.text
    assert "Closest passages:" in told.text
    told = await answer(story, "Who is at Half House?", plan, result)
    assert told.text.startswith("Half House, concerns: Mags")


async def test_when_somebody_does_something_is_answered_by_an_event_with_them(
    story: Stories,
) -> None:
    plan = a_plan(SourceIntention.WHEN)
    climbs, opens = "Nell Tallow climbed the ladder", "Mags opened the ledger"
    passages = paragraphs(story.book, ONE)

    async def ask(question: str, *sentences: str) -> str:
        words = evidence(story.book, *sentences)
        moment = TimelineMoment(TimelineMomentKind.EVENT, words.text, (), words)
        result = replace(found(story, passages=passages), moments=(moment,))
        return (await answer(story, question, plan, result)).lines[0]

    assert (await ask("When did Mags open the ledger?", opens)).startswith("Chapter 1")
    silent = "No clear answer found. None of these passages clearly says when."
    assert await ask("When did Nell open the ledger?", opens) == silent
    assert await ask("When did Mags climb the ladder?", climbs, opens) == silent


async def test_what_somebody_says_in_a_chapter_is_their_lines_under_any_name(
    story: Stories,
) -> None:
    bible = a_bible(story)
    lines = tuple(q for q in bible.quotes if q.speaker == "Nell Tallow")
    result = replace(
        found(story, passages=paragraphs(story.book, ONE)[2:3]), lines=lines
    )
    question = TurnQuestion(
        "What does Bird say in chapter 1?", cast=(("Nell Tallow", "Nell", "Bird"),)
    )
    plan = replace(a_plan(SourceIntention.DIALOGUE_OF), chapters=(1,))
    told = await answer(story, question, plan, result)
    assert "Nell Tallow: “The lamp must never go out,” [1]" in told.text


async def test_no_line_answers_a_question_that_only_names_a_verb_of_saying(
    story: Stories,
) -> None:
    result = found(story, speaker="Nell Tallow", passages=paragraphs(story.book, ONE))
    plan = a_plan(SourceIntention.DIALOGUE_OF)
    question = "Who sees the lamp of Nell, and what does she answer?"
    told = await answer(story, question, plan, result)
    assert told.text.startswith(("No clear answer", "Closest passages"))


@pytest.mark.parametrize(
    ("question", "is_beside"),
    [
        ("What does the boy say to Nell about the fog?", True),
        ("What does Nell say about the fog?", False),
        ("What does Nell Tallow say to the boy about the fog?", False),
        ("What is said about the fog?", False),
    ],
)
def test_lines_of_the_hearer_do_not_answer_what_is_said_to_them(
    question: str, is_beside: bool
) -> None:
    part = QuestionPart(question, WordWeights({"fog": 1.0}), WordWeights({}))
    line = ContextItem(StoryFacet.LINE, "Nell Tallow", "", "", ())
    assert is_beside_question(part, line) is is_beside


def test_a_nose_and_eyes_do_not_say_who_somebody_is() -> None:
    part = QuestionPart("Who is Nell?", WordWeights({}), WordWeights({}))
    looks = [
        (ContextItem(StoryFacet.LOOK, "Nell", label, "grey", ()),)
        for label in ("eyes", "hair", "nose")
    ]
    assert drop_body_alone(part, looks) == []
    age = (ContextItem(StoryFacet.LOOK, "Nell", "age", "twelve", ()),)
    assert drop_body_alone(part, [*looks, age]) == [*looks, age]
