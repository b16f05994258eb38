"""What a draft has that its writer should look at."""

import pytest

from lrwr.core.bible.projection import StoryKnowledge
from lrwr.core.drafting.findings import (
    DraftContext,
    DraftFinding,
    FindingKind,
    find_named_people,
)
from lrwr.core.drafting.inspection import inspect_draft
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.facts import DIRECTED_DETAIL, CharacterField, FactAbout
from tests.fakes.stories import Book, Stories

FILES = {
    "1.md": "# One\n\nAda hated Ben for the lamp.\n",
    "2.md": "# Two\n\nAda met Ben at the road.\n",
    "3.md": "# Three\n\nAda helped Ben with the lamp.\n",
    "4.md": "# Four\n\nAda left Ben at the road.\n",
}
SENTENCES = {path: text.split("\n\n")[1].strip() for path, text in FILES.items()}


def know(**valences: str) -> StoryKnowledge:
    """Return what a language model says of Ada and Ben, by the number of the chapter."""
    stories = Stories(Book(FILES))
    stories.name("Ada")
    stories.name("Ben")
    for name, valence in valences.items():
        path = f"{name[-1]}.md"
        stories.fact(
            path,
            SENTENCES[path],
            FactAbout.CHARACTER,
            CharacterField.RELATIONSHIP,
            valence,
            "Ada",
            keeper="model",
            details=(("target", "Ben"), ("kind", ""), DIRECTED_DETAIL),
        )
    return stories.knowledge()


def find_abrupt(knowledge: StoryKnowledge, draft: str) -> list[DraftFinding]:
    context = DraftContext.of(knowledge, DocumentId(draft), None, is_revision=True)
    findings = inspect_draft(context).findings
    return [f for f in findings if f.kind is FindingKind.RELATION]


def test_allies_who_were_opponents_before_are_a_finding_with_both_places() -> None:
    knowledge = know(chapter_1="antagonist", chapter_3="ally")
    (finding,) = find_abrupt(knowledge, "3.md")
    assert "Ada and Ben: antagonist in chapter 1, ally here" in finding.text
    assert finding.quote == SENTENCES["3.md"]
    assert finding.place == "1.md:3"


def test_the_last_that_the_story_says_of_two_people_counts() -> None:
    knowledge = know(chapter_1="ally", chapter_2="antagonist", chapter_3="ally")
    (finding,) = find_abrupt(knowledge, "3.md")
    assert finding.place == "2.md:3"


@pytest.mark.parametrize(
    ("valences", "draft"),
    [
        ({"chapter_1": "antagonist", "chapter_2": "ally", "chapter_3": "ally"}, "3.md"),
        ({"chapter_1": "neutral", "chapter_3": "ally"}, "3.md"),
        (
            {"chapter_1": "antagonist", "chapter_2": "complex", "chapter_3": "ally"},
            "3.md",
        ),
        ({"chapter_3": "ally", "chapter_4": "antagonist"}, "3.md"),
        ({"chapter_1": "antagonist", "chapter_3": "ally"}, "4.md"),
    ],
    ids=[
        "changed before",
        "no opponents",
        "in between",
        "opponents later",
        "not in the draft",
    ],
)
def test_other_changes_of_a_relation_are_none(
    valences: dict[str, str], draft: str
) -> None:
    assert find_abrupt(know(**valences), draft) == []


def test_a_name_within_a_longer_word_names_nobody() -> None:
    people = {"Ann": "Ann Vale", "Hob": "BrineHob", "Mags": "OchraMags"}
    text = "Annabel met Hob and OchraMags."
    assert find_named_people(text, people) == {"BrineHob"}
