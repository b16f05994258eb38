"""Which facts are told: whole statements that fit the question, each once."""

from dataclasses import replace

import pytest

from lrwr.core.adapters.source.text import find_sentence_spans
from lrwr.core.chat.context.conflicts import find_conflicts
from lrwr.core.chat.context.fact_selection import (
    MAX_FACT_CHARS,
    MaterialFocus,
    is_whole_statement,
    select_facts,
)
from lrwr.core.chat.context.items import UNNAMED, ContextItem, StoryFacet
from lrwr.core.chat.context.material import number_material
from lrwr.core.chat.state import RetrievalResult, TurnQuestion
from lrwr.core.model.choices import AnswerMode
from lrwr.core.model.facts import FactAbout
from lrwr.core.model.turns import AnswerIntent, SourceIntention
from tests.fakes.chatting import ONE, a_plan, a_story, found, passage
from tests.fakes.stories import Book, Stories

NELL = "Nell Tallow"


def focus_on(
    text: str,
    result: RetrievalResult,
    *intentions: SourceIntention,
    character: str = "",
) -> MaterialFocus:
    mode = AnswerMode.IN_CHARACTER if character else AnswerMode.ANALYTICAL
    question = TurnQuestion(text, mode, character)
    intent = AnswerIntent.IN_CHARACTER if character else AnswerIntent.ANALYTICAL
    return MaterialFocus.of(question, a_plan(*intentions, intent=intent), result)


def selected(text: str, *intentions: SourceIntention, character: str = "") -> list[str]:
    result = found(a_story(), NELL, "Corin Vale", speaker=NELL)
    focus = focus_on(text, result, *intentions, character=character)
    return [item.line or item.words for item in select_facts(result, focus)]


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("What colour are Nell's eyes?", {"Nell Tallow, eyes: grey"}),
        ("What is Corin's job?", {"Corin Vale, occupation: lantern-bearer"}),
        ("What does Nell wear?", set()),
    ],
)
def test_only_what_is_asked_of_somebody_is_told(text: str, lines: set[str]) -> None:
    assert {one for one in selected(text) if ", " in one and ":" in one} == lines


def test_all_is_told_of_somebody_of_whom_nothing_particular_is_asked() -> None:
    assert "Nell Tallow, eyes: grey" in selected("Who is Nell Tallow?")


def test_lines_are_told_by_what_they_say() -> None:
    lines = selected("What does Nell say of the ledger?", SourceIntention.DIALOGUE_OF)
    assert lines[-1:] == ["Nell Tallow"] or "Nell Tallow" in lines
    result = found(a_story(), speaker=NELL)
    focus = focus_on("What does Nell say of the ledger?", result)
    assert [item.words for item in select_facts(result, focus)] == ["I keep no ledger,"]


def test_a_character_who_answers_gets_lines_that_show_the_voice() -> None:
    result = found(a_story(), NELL, speaker=NELL)
    focus = focus_on("Would you lie to Mags?", result, character=NELL)
    lines = [i for i in select_facts(result, focus) if i.facet is StoryFacet.LINE]
    assert [line.words for line in lines] == [
        "The lamp must never go out,",
        "I keep no ledger,",
    ]


def a_note(statement: str, label: str = UNNAMED) -> ContextItem:
    return ContextItem(StoryFacet.LOOK, "PurpleFrog", label, statement)


@pytest.mark.parametrize(
    ("statement", "whole"),
    [
        ("PurpleFrog keeps the lamp on the post.", True),
        ("She came over the marsh alone.", True),
        ("Leave it blank.", False),
        ("Never name PurpleFrog's husband here.", False),
        ("No name, no town, no husband, no crime.", False),
        ("Her age too.", False),
        ("So was the tin.", False),
        ("PurpleFrog " + "waits and " * 40, False),
    ],
)
def test_a_fragment_or_an_instruction_of_the_author_is_no_fact(
    statement: str, whole: bool
) -> None:
    assert is_whole_statement(a_note(statement)) == whole


def test_a_value_is_a_fact_however_short() -> None:
    assert is_whole_statement(a_note("brown", "eyes"))
    assert not is_whole_statement(a_note("x" * (MAX_FACT_CHARS + 1), "eyes"))


def test_statements_that_contradict_each_other_are_pointed_out() -> None:
    text = (
        "Nell had brown eyes. There were nineteen rungs on the ladder.\n\n"
        "Nell had green eyes. There were twenty-one rungs on the ladder."
    )
    story = Stories(Book({ONE: f"# One\n\n{text}\n"}))
    story.name("Nell")
    for colour in ("brown", "green"):
        story.fact(
            ONE, f"Nell had {colour} eyes.", FactAbout.CHARACTER, "attribute", colour,
            "Nell", details=(("attribute", "eyes"),),
        )  # fmt: skip
    passages = [passage(story.book, ONE, one) for one in text.split("\n\n")]
    result = found(story, "Nell", passages=passages)
    material = number_material(result, story.book.all_texts(), find_sentence_spans)
    assert material.conflicts == (
        "Nell, eyes: brown [1]; green [2]",
        "rungs of the ladder: nineteen [1]; twenty-one [2]",
    )
    alone = replace(result, ranked_chunks=tuple(passages[:1]), character_profiles=())
    material = number_material(alone, story.book.all_texts(), find_sentence_spans)
    assert material.conflicts == ()


@pytest.mark.parametrize(
    ("attribute", "value", "other", "conflicts"),
    [
        ("eyes", "grey", "gray, like slate", False),
        ("hair", "blonde", "fair", False),
        ("born", "May 1801", "the third of May", False),
        ("born", "3 May 1801", "the fourth of May", True),
        ("age", "about forty", "42", False),
        ("age", "forty", "thirty", True),
        ("occupation", "eel fisher", "fisher", False),
        ("occupation", "eel fisher", "clerk", True),
    ],
)
def test_facts_are_compared_by_what_they_mean(
    attribute: str, value: str, other: str, conflicts: bool
) -> None:
    text = "She kept the lamp. So it was."
    story = Stories(Book({ONE: f"# One\n\n{text}\n"}))
    story.name("Nell")
    for words, stated in (("She kept the lamp.", value), ("So it was.", other)):
        story.fact(
            ONE, words, FactAbout.CHARACTER, "attribute", stated,
            "Nell", details=(("attribute", attribute),),
        )  # fmt: skip
    result = found(story, "Nell", passages=[])
    assert bool(find_conflicts(result, MaterialFocus())) == conflicts


def test_a_follow_up_is_read_as_the_plan_rewrites_it() -> None:
    result = found(a_story(), NELL)
    plan = replace(a_plan(), question="What colour are Nell's eyes?")
    focus = MaterialFocus.of(TurnQuestion("And of what colour?"), plan, result)
    assert [item.line for item in select_facts(result, focus)] == [
        "Nell Tallow, eyes: grey"
    ]
