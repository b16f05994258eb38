"""A person whom a question names only as a relative is not the one named."""

from dataclasses import replace

import pytest

from lrwr.core.bible.values import CharacterRelation
from lrwr.core.chat.extractive.question_parts import QuestionPart
from lrwr.core.chat.extractive.relatives import find_relative, select_asked_kin
from lrwr.core.chat.planning.rules import plan_by_rules
from lrwr.core.chat.state import RetrievalResult, TurnQuestion
from lrwr.core.model.facts import Certainty
from lrwr.core.model.turns import NO_CLEAR_ANSWER, SourceIntention
from lrwr.core.retrieval.retrievers import WordWeights
from tests.fakes.answered import answer
from tests.fakes.chatting import a_bible, a_plan, a_story, found, passage
from tests.fakes.stories import Book, Stories

CAST = (("Nell Tallow", "Nell"), ("Mags",), ("Corin Vale",))
FOG = "Nell spoke of the fog."
AUNT = "“The fog is a thief,” said Nell’s aunt at the door."


@pytest.mark.parametrize(
    ("question", "phrase"),
    [
        ("What does Nell's aunt say of the fog?", "Nell's aunt"),
        ("Who frightened Nell Tallow’s younger sister?", "Nell Tallow’s younger sister"),
        ("Where does Mags’ husband sleep?", "Mags’ husband"),
        ("Who is Nell's aunt?", ""),
        ("What is the name of Nell's aunt?", ""),
        ("Who was Nell's aunt on the other side?", ""),
        ("What does Nell's lamp show?", ""),
        ("What does Nell say of her aunt?", ""),
    ],
)  # fmt: skip
def test_a_relative_is_told_from_the_one_whose_relative_it_is(
    question: str, phrase: str
) -> None:
    relative = find_relative(question, CAST)
    assert (relative.phrase if relative else "") == phrase


async def test_no_line_of_somebody_is_shown_as_one_of_their_aunt() -> None:
    stories = Stories(Book({"1.md": f"# One\n\n{FOG}\n\n{AUNT}\n\n“The fog is late,” said Nell.\n"}))  # fmt: skip
    stories.name("Nell Tallow", "Nell")
    stories.says("1.md", "The fog is late,", "Nell Tallow")
    passages = [passage(stories.book, "1.md", words) for words in (FOG, AUNT)]
    result = found(stories, "Nell Tallow", speaker="Nell Tallow", passages=passages)
    question = TurnQuestion("What does Nell's aunt say of the fog?", cast=CAST[:1])
    plan = a_plan(SourceIntention.DIALOGUE_OF)
    said = await answer(stories, question, plan, result)
    assert said.lines[0] == (
        f"{NO_CLEAR_ANSWER}. No single name is known for Nell's aunt."
    )
    assert [citation.text for citation in said.citations] == [AUNT, FOG]
    own = replace(question, text="What does Nell say of the fog?")
    assert "The fog is late" in (await answer(stories, own, plan, result)).text


async def test_passages_with_the_relative_are_only_doubted_as_lines_of_theirs() -> None:
    stories = Stories(Book({"1.md": f"# One\n\n{AUNT}\n"}))
    stories.name("Nell Tallow", "Nell")
    result = found(stories, passages=[passage(stories.book, "1.md", AUNT)])
    for text, is_doubted in (
        ("What does Nell's aunt say of the fog?", True),
        ("What stood at the door of Nell's aunt?", False),
        ("What stood at the door of Nell's uncle?", False),
    ):
        question = TurnQuestion(text, cast=CAST[:1])
        said = await answer(stories, question, a_plan(), result)
        assert ("No single name is known" in said.text) is is_doubted


def _relation(target: str) -> CharacterRelation:
    bible = a_bible(a_story())
    evidence = (bible.quotes[0].evidence,)
    return CharacterRelation(
        "Nell Tallow", target, "aunt", "", evidence, Certainty.VERIFIED
    )


def test_a_relative_whose_name_is_known_is_meant_by_it() -> None:
    question = TurnQuestion("What does Nell's aunt say of the fog?")
    bible = a_bible(a_story())
    assert plan_by_rules(question, bible).question == ""
    known = replace(bible, relations=(_relation("Mags"),))
    plan = plan_by_rules(question, known)
    assert plan.question == "What does Mags say of the fog?"
    assert [entity.name for entity in plan.entities] == ["Mags"]
    several = replace(known, relations=(_relation("Mags"), _relation("Corin Vale")))
    assert plan_by_rules(question, several).question == ""


@pytest.mark.parametrize(
    ("question", "kind", "asked"),
    [
        ("Who is Nell's half-sister?", "sister", "half-sister"),
        ("Who is Nell’s eldest brother?", "brother", "eldest brother"),
        ("What is the name of Nell's younger aunt?", "aunt", "younger aunt"),
        ("Who is Nell's eldest brother?", "cousin", ""),
        ("Who is Nell's brother?", "half-brother", ""),
    ],
)
async def test_relatives_of_whom_one_is_asked_for_are_shown_with_a_doubt(
    question: str, kind: str, asked: str
) -> None:
    known = replace(_relation("Mags"), kind=kind)
    result = replace(found(a_story(), "Nell Tallow"), relations=(known,))
    said = await answer(a_story(), TurnQuestion(question), a_plan(), result)
    doubt = f"{NO_CLEAR_ANSWER}. No relation says who the {asked} is. Known relatives:"
    assert (doubt in said.text) is bool(asked)
    assert (f"{kind}: Mags" in said.text) is bool(asked)


def test_a_title_among_the_names_tells_who_is_whose_sister() -> None:
    part = QuestionPart(
        "Who is Hob's sister?",
        WordWeights({}),
        WordWeights({}),
        people=frozenset({"Hob"}),
    )
    brother = CharacterRelation("Nell", "Hob", "brother", "", (), Certainty.PROBABLE)
    result = RetrievalResult(relations=(brother,))
    cast = (("Nell", "Miss Tallow"), ("Hob",))
    ((item,),) = select_asked_kin(part, result, cast) or [()]
    assert item.about == "Hob’s sister"
    assert select_asked_kin(part, result, [("Nell", "Mr Tallow"), ("Hob",)]) == []
