"""In character without a model: their own lines, or the plain word that there is none."""

from dataclasses import replace

import pytest

from lrwr.core.chat.state import TurnQuestion
from lrwr.core.model.choices import AnswerMode
from lrwr.core.model.facts import Certainty
from lrwr.core.model.turns import SourceIntention
from tests.fakes.answered import answer
from tests.fakes.chatting import ONE, TWO, a_plan, a_story, found, paragraphs
from tests.fakes.stories import Book, Stories

NELL = "Nell Tallow"
AS_NELL = TurnQuestion("What of the lamp?", AnswerMode.IN_CHARACTER, NELL)


@pytest.fixture
def story() -> Stories:
    return a_story()


async def test_in_character_only_their_own_lines_are_said(story: Stories) -> None:
    result = found(story, NELL, speaker=NELL, passages=paragraphs(story.book, ONE))
    said = await answer(story, AS_NELL, a_plan(SourceIntention.TRAITS), result)
    assert said.text == "“The lamp must never go out,” [1]"
    assert said.citations[0].text == "The lamp must never go out,"


async def test_in_character_lines_of_others_and_of_nobody_are_not_theirs(
    story: Stories,
) -> None:
    result = found(story, NELL, speaker="Mags")
    fog = replace(AS_NELL, text="What of the fog?")
    said = await answer(story, fog, a_plan(), result)
    assert said.text == ("No line of Nell Tallow is about this.")
    (quote,) = result.lines
    words = replace(quote.evidence, certainty=Certainty.NOT_EVALUATED)
    guessed = replace(quote, speaker=NELL, evidence=words)
    said = await answer(story, fog, a_plan(), replace(result, lines=(guessed,)))
    assert said.citations == ()


async def test_in_character_a_line_must_name_whom_the_question_names(
    story: Stories,
) -> None:
    cast = ((NELL, "Nell"), ("Corin Vale", "Corin"))
    result = found(story, NELL, speaker=NELL)
    about = replace(AS_NELL, text="Do you keep a ledger for Corin?", cast=cast)
    said = await answer(story, about, a_plan(), result)
    assert said.text == "No line of Nell Tallow is about this."
    about = replace(AS_NELL, text="Do you keep a ledger, Nell?", cast=cast)
    said = await answer(story, about, a_plan(), result)
    assert said.text == "“I keep no ledger,” [1]"


async def test_in_character_what_they_never_speak_of_is_not_answered(
    story: Stories,
) -> None:
    question = replace(AS_NELL, text="Do you love the sea?")
    result = found(story, NELL, speaker=NELL, unknown=["love", "sea"])
    said = await answer(story, question, a_plan(), result)
    assert said.text.startswith("No line of Nell Tallow is about this")
    assert said.gaps == ()


async def test_in_character_a_probable_line_is_no_answer_beside_a_verified_one() -> (
    None
):
    story = a_story()
    result = found(story, NELL, speaker=NELL)
    lamp = next(one for one in result.lines if "lamp" in one.evidence.text)
    probable = replace(lamp.evidence, certainty=Certainty.PROBABLE)
    words = "Mags opened the ledger and looked at the page"
    span = story.book.span(ONE, words)
    sure = replace(lamp.evidence, spans=(span,), text=words)
    lines = (replace(lamp, evidence=probable), replace(lamp, evidence=sure))
    question = replace(AS_NELL, text="What of the lamp and the ledger?")
    said = await answer(story, question, a_plan(), replace(result, lines=lines))
    assert [one.text for one in said.citations] == [words]


async def test_the_words_that_ask_choose_no_line() -> None:
    words = "I think that the fog is thinking of us,"
    told = Stories(Book({ONE: f"# One\n\n“{words}” said Nell Tallow.\n"}))
    told.name(NELL, "Nell")
    told.name("Corin Vale")
    told.says(ONE, words, NELL)
    asked = replace(AS_NELL, text="What do you think of Corin Vale?")
    said = await answer(told, asked, a_plan(), found(told, NELL, speaker=NELL))
    assert said.citations == ()


async def test_what_is_only_probably_theirs_says_so(story: Stories) -> None:
    result = found(story, NELL, speaker=NELL)
    lamp = next(one for one in result.lines if "lamp" in one.evidence.text)
    words = replace(lamp.evidence, certainty=Certainty.PROBABLE)
    probable = replace(result, lines=(replace(lamp, evidence=words),))
    said = await answer(story, AS_NELL, a_plan(), probable)
    assert said.text == (
        "No line of dialogue can be attributed to Nell Tallow with certainty. Probable lines:\n\n"
        "“The lamp must never go out,” [1]"
    )
    assert said.gaps == ()


async def test_a_greeting_is_returned_and_is_no_gap(story: Stories) -> None:
    result = found(story, NELL, speaker=NELL)
    hello = replace(AS_NELL, text="Good evening, Nell. How are you?")
    said = await answer(story, hello, a_plan(), result)
    first, second = said.text.split("\n\n")
    assert first.startswith("Nell Tallow greets nobody in the text.")
    assert second == "“The lamp must never go out,” [1]"
    assert said.gaps == ()


async def test_a_name_that_is_all_of_a_question_is_what_they_speak_of() -> None:
    story = a_story()
    story.says(TWO, "I keep no ledger,", NELL)
    result = found(story, NELL, "Corin Vale", speaker=NELL)
    ledger = replace(AS_NELL, text="What do you think of the ledger?")
    said = await answer(story, ledger, a_plan(), result)
    assert "I keep no ledger," in said.text


async def test_a_line_that_shares_little_with_the_question_is_no_answer(
    story: Stories,
) -> None:
    result = found(story, NELL, speaker=NELL)
    sea = "Do you love the sea, storms, gulls, herring, ships and never a lamp?"
    said = await answer(story, replace(AS_NELL, text=sea), a_plan(), result)
    assert said.text.startswith("No line of Nell Tallow is about this")


@pytest.mark.parametrize(
    ("words", "question", "is_shown"),
    [
        ("Corin Vale is a good man,", "What do you think of Corin Vale?", True),
        ("I never liked Corin Vale,", "What do you think of Corin Vale?", True),
        ("Corin Vale brought the oil,", "What do you think of Corin Vale?", False),
        (
            "I was twelve when the lamp fell,",
            "How old were you when the lamp fell?",
            True,
        ),
        ("We let the old lamp fall,", "How old were you when the lamp fell?", False),
    ],
)
async def test_in_character_a_line_must_be_of_the_kind_asked_for(
    words: str, question: str, is_shown: bool
) -> None:
    told = Stories(Book({ONE: f"# One\n\n“{words}” said Nell Tallow.\n"}))
    told.name(NELL, "Nell")
    told.name("Corin Vale")
    told.says(ONE, words, NELL)
    cast = ((NELL, "Nell"), ("Corin Vale", "Corin"))
    asked = replace(AS_NELL, text=question, cast=cast)
    said = await answer(told, asked, a_plan(), found(told, NELL, speaker=NELL))
    assert (words in said.text) is is_shown


async def test_where_enough_is_surely_theirs_nothing_is_guessed(story: Stories) -> None:
    result = found(story, NELL, speaker=NELL)
    lamp = next(one for one in result.lines if "lamp" in one.evidence.text)
    words = "Mags opened the ledger and looked at the page"
    ladder = "Nell Tallow climbed the ladder, nineteen rungs of it"
    lines = [lamp]
    for text, certainty in (
        (words, Certainty.VERIFIED),
        (ladder, Certainty.PROBABLE),
    ):
        span = story.book.span(ONE, text)
        evidence = replace(lamp.evidence, spans=(span,), text=text)
        lines.append(replace(lamp, evidence=replace(evidence, certainty=certainty)))
    asked = replace(AS_NELL, text="What of the lamp, the ledger and the ladder?")
    said = await answer(story, asked, a_plan(), replace(result, lines=tuple(lines)))
    assert ladder not in said.text
    assert len(said.citations) == 2
