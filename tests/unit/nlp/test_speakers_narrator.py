import re

from lrwr.core.model.cast import Mention
from lrwr.core.model.text import Span
from lrwr.core.nlp.dialogue.speakers import (
    NarratorEvidence,
    gather_narrator_evidence,
    infer_narrators,
)

NAMES = ("Nell", "Corin", "Hob")


def signs(text: str) -> NarratorEvidence:
    found = [
        Mention(match.group(), Span(match.start(), match.end()))
        for match in re.finditer("|".join(NAMES), text)
    ]
    return gather_narrator_evidence(text, [[Span(0, len(text))]], found)


def talk(caller: str, called: str) -> str:
    return (
        f"“You are late, {called},” said {caller}.\n\n“I know,” I said.\n\n"
        f"“Sit down, {called}.”\n\n“Thank you,” I said.\n\n"
        f"“Tea, {called}?” said {caller}.\n\n“Please,” I said."
    )


def test_the_narrator_is_the_one_whom_others_call() -> None:
    assert infer_narrators([signs(talk("Nell", "Hob"))]) == ["Hob"]


def test_one_clear_narrator_tells_every_document() -> None:
    quiet = signs("I walked on. Nell was asleep.")
    assert infer_narrators([signs(talk("Nell", "Hob")), quiet]) == ["Hob", "Hob"]


def test_a_story_may_have_several_narrators_by_turns() -> None:
    both = [signs(talk("Nell", "Hob")), signs(talk("Hob", "Corin"))]
    assert infer_narrators(both) == ["Hob", "Corin"]


def test_who_is_often_told_of_does_not_tell() -> None:
    text = talk("Nell", "Hob") + "\n\nHob ate. Hob slept. Hob rose. Hob sang."
    assert infer_narrators([signs(text)]) == [""]


def test_nobody_narrates_where_nobody_says_i() -> None:
    assert infer_narrators([signs("“Oh, Hob,” said Nell.")]) == [""]
