"""The characters that a language model is shown, and the names it says are none."""

import json
import re
from collections.abc import Sequence

import pytest

from lrwr.core.adapters.analyst.model import ModelAnalyst
from lrwr.core.canon.decision import NameConfirmed
from lrwr.core.model.cast import Alias, Cast, Character, Gender
from lrwr.core.model.facts import Certainty, CharacterField
from lrwr.core.model.text import Span
from lrwr.core.nlp.names.evidence import gather_name_evidence
from lrwr.core.ports.models import ChatMessage, ReplyShape
from lrwr.pipeline.stages.windows import (
    MAX_CAST_CHARS,
    MAX_CAST_LINES,
    build_cast_finder,
    build_name_finders,
)
from tests.fakes.chat_models import ScriptedChat
from tests.fakes.story_desks import StoryDesk

NOTE = "---\naliases: [Mags, the Widow]\n---\n# OchraMags\n\nEyes: brown.\n"
CHAPTER = (
    "# One\n\n“It is late,” said Nell. Reckoning came slowly. “Is it?” said Mags.\n\n"
    "“Reckoning,” said Nell, “waits for nobody.” Reckoning nodded. Reckoning"
    " smiled. “I know,” said Reckoning.\n\nNell looked at Reckoning and laughed.\n"
)
PASSAGE = {
    "content": "dialogue",
    "function": "plot_event",
    "tag": "none",
    "present": [],
    "references": [],
}
NOTHING = ("scenes", "people", "relations", "world", "events", "told", "gaps")


class Reader:
    """Says of the first passage of chapters that hold `where` what `reply` has."""

    def __init__(self, where: str = "One", **reply: object) -> None:
        self.reply = reply
        self.where = where

    def __call__(
        self, messages: Sequence[ChatMessage], shape: ReplyShape | None
    ) -> str:
        assert shape is not None
        if shape.name == "Passages":
            return json.dumps({"passages": [{**PASSAGE, "id": n} for n in range(1, 9)]})
        reply = self.reply if self.where in messages[-1].text else {}
        return json.dumps({**{kind: [] for kind in NOTHING}, **reply})


def known_in(chat: ScriptedChat) -> list[list[str]]:
    """Return what each extraction prompt lists as known."""
    return [
        re.findall(r"^Known: (.*)$", messages[-1].text, re.MULTILINE)
        for messages, shape in chat.asked
        if shape and shape.name == "Extracted"
    ]


@pytest.fixture
async def book(story: StoryDesk) -> StoryDesk:
    story.write("characters/mags.md", NOTE)
    await story.ingest()
    story.write("story/1.md", CHAPTER)
    return story


async def ingest(desk: StoryDesk, reader: Reader) -> ScriptedChat:
    chat = ScriptedChat(answer=reader)
    desk.analyst = ModelAnalyst(chat)
    await desk.ingest()
    return chat


async def test_a_model_is_shown_the_cast_with_aliases(book: StoryDesk) -> None:
    chat = await ingest(book, Reader())
    (known, *_), *_ = known_in(chat)
    assert "OchraMags = Mags = the Widow" in known
    assert "Nell" in known


async def test_a_passage_is_not_read_again_when_the_cast_grows(book: StoryDesk) -> None:
    await ingest(book, Reader())
    book.write("characters/corin.md", "# Corin Vale\n\nEyes: grey.\n")
    again = await ingest(book, Reader())
    assert again.asked == []


async def test_a_name_that_a_model_read_as_no_person_leaves_the_cast(
    book: StoryDesk,
) -> None:
    await ingest(book, Reader())
    assert "Reckoning" in await book.people()
    book.write("story/1.md", f"{CHAPTER}\nIt rained.\n")
    await ingest(book, Reader(not_people=["Reckoning", "Mags", "the sky"]))
    assert "Reckoning" not in await book.people()
    assert "OchraMags" in await book.people()  # a note outranks a model
    facts = [
        one
        for one in await book.library.story.facts()
        if one.fact.field == CharacterField.NOT_A_PERSON
    ]
    sources = {(one.fact.subject, one.fact.keeper, one.document) for one in facts}
    assert sources == {
        ("Mags", "scripted", "story/1.md"),
        ("Reckoning", "scripted", "story/1.md"),
    }
    book.write("story/2.md", CHAPTER.replace("One", "Two"))
    later = await ingest(book, Reader())
    assert "Reckoning" not in str(known_in(later))
    assert "Reckoning" not in await book.people()
    book.decide(NameConfirmed("Reckoning"))
    await book.ingest()
    assert "Reckoning" in await book.people()


async def test_a_name_that_is_a_person_elsewhere_stays(book: StoryDesk) -> None:
    book.write("story/2.md", CHAPTER.replace("One", "Two"))
    reader = Reader(not_people=["Reckoning"])
    await ingest(book, reader)
    assert "Reckoning" not in await book.people()
    trait = {
        "who": "Reckoning", "kind": "trait", "what": "", "value": "patient",
        "quote": "waits for nobody",
    }  # fmt: skip
    book.write("story/2.md", CHAPTER.replace("One", "Two") + "\nIt rained.\n")
    await ingest(book, Reader("Two", people=[trait]))
    assert "Reckoning" in await book.people()


def test_the_cast_in_a_prompt_is_bounded_and_begins_with_those_who_are_there() -> None:
    def person(number: int) -> Character:
        forms = [f"Person{number} {'x' * (number % 40)}", f"P{number}q"]
        aliases = tuple(Alias(form, 1, Certainty.VERIFIED) for form in forms)
        unknown = Gender.UNKNOWN, Certainty.NOT_EVALUATED
        return Character(forms[0], aliases, *unknown, Certainty.VERIFIED)

    cast = Cast(tuple(person(number) for number in range(200)))
    lines = build_cast_finder(cast)("P150q met P90q.")
    assert [line.split()[0] for line in lines[:2]] == ["Person90", "Person150"]
    assert len(lines) <= MAX_CAST_LINES
    assert sum(map(len, lines)) <= MAX_CAST_CHARS


def test_known_names_are_people_and_no_days_pronouns_or_places() -> None:
    text = (
        "“It is late,” said Nell. “Is it?” Holmes asked. Savoy lay before them, and on"
        " Friday She came to Quebec. Fridays were long. Quebec slept; Quebec was cold."
        " GreyAnsel nodded. Day 720 came. “Friday,” said Nell. Quebec smiled."
    )
    names, _ = build_name_finders(
        gather_name_evidence(text, [Span(0, len(text))]).to_json()
    )
    assert {"Nell"} <= set(names(text)) <= {"Nell", "Holmes", "GreyAnsel"}


def test_a_cast_marks_who_may_be_no_person_and_has_no_weekday() -> None:
    def person(name: str, certainty: Certainty) -> Character:
        alias = Alias(name, 1, Certainty.VERIFIED)
        unknown = Gender.UNKNOWN, Certainty.NOT_EVALUATED
        return Character(name, (alias,), *unknown, certainty)

    sure, unsure = Certainty.VERIFIED, Certainty.PROBABLE
    cast = Cast(
        (person("Nell", sure), person("Reckoning", unsure), person("Friday", unsure))
    )
    assert build_cast_finder(cast)("Nell") == ("Nell", "Reckoning (a person?)")


async def test_an_estimate_counts_the_cast_that_prompts_show(book: StoryDesk) -> None:
    chat = ScriptedChat(answer=Reader())
    book.analyst = ModelAnalyst(chat)
    estimated = await book.ingest(dry_run=True)
    assert chat.asked == []
    report = await book.ingest()
    assert known_in(chat)
    assert estimated.usage.calls == report.usage.calls == len(chat.asked)
    assert estimated.usage.prompt_tokens == pytest.approx(
        report.usage.prompt_tokens, rel=0.005
    )
