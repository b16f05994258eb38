"""What a plan leaves open, and what belongs to nothing."""

import pytest

from lrwr.core.bible.values import AliasForm, Bible, CharacterProfile, SceneSummary
from lrwr.core.drafting.board import Board, parse_board
from lrwr.core.drafting.folder import INTENT_TEMPLATE, DraftFile
from lrwr.core.drafting.plan_questions import (
    PlanMaterial,
    PlanStep,
    list_plan_questions,
    list_tidy_hints,
    may_be_same_name,
)
from lrwr.core.model.cast import Gender
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.facts import Certainty
from lrwr.core.model.text import LineRange, Span

BOARD = parse_board(
    "## One\n### Chapter 1\n#### Done ^done\n#### Next ^next\n- pov: Nell\n"
    "- people: Perdita Vane\n\nShe comes.\n## \n#### Loose ^loose\n"
)


def person(
    name: str, mentions: int = 5, gender: Gender = Gender.UNKNOWN
) -> CharacterProfile:
    sure = Certainty.CONFIRMED
    forms = (AliasForm(name, mentions, sure),)
    return CharacterProfile(name, forms, gender, sure, sure)


def scene(*present: str) -> SceneSummary:
    lines = LineRange(1, 9)
    return SceneSummary(
        DocumentId("1.md"), Span(0, 9), lines, 1, "", 1, present=present
    )


def ask(
    step: PlanStep, intent: str = INTENT_TEMPLATE, board: Board = BOARD
) -> list[tuple[str, str]]:
    material = PlanMaterial(
        board=board,
        board_path="drafts/board.md",
        written={"done"},
        intent=DraftFile("drafts/intent.md", intent),
        sheets=["Hob"],
        sheets_path="drafts/sheets",
        bible=Bible(characters=(person("Nell"),)),
    )
    return [(q.about, q.place) for q in list_plan_questions(step, material)]


def test_an_empty_intent_is_asked_for_line_by_line() -> None:
    questions = dict(ask(PlanStep.INTENT))
    assert list(questions) == [
        *("genre", "theme", "setting", "style", "length"),
        *("always", "never"),
    ]
    assert questions["theme"] == "drafts/intent.md:4"
    assert questions["never"] == "drafts/intent.md:11"
    done = INTENT_TEMPLATE.replace("- genre:", "- genre: mystery").replace(
        "## Never\n", "## Never\n\n- no dreams\n"
    )
    assert {"genre", "never"}.isdisjoint(dict(ask(PlanStep.INTENT, done)))
    assert len(ask(PlanStep.INTENT, "")) == 7


def test_people_without_a_sheet_are_asked_for_unless_the_story_has_them() -> None:
    place = "drafts/sheets/Perdita Vane.md"
    assert ask(PlanStep.SHEETS) == [("Perdita Vane", place)]


def test_scenes_without_a_part_or_chapter_are_asked_for() -> None:
    assert ask(PlanStep.PARTS) == [("Loose", "drafts/board.md:10")]
    assert ask(PlanStep.CHAPTERS) == [("Loose", "drafts/board.md:10")]


def test_a_book_without_parts_is_not_asked_for_them() -> None:
    board = parse_board("### Chapter 1\n#### Done ^done\n#### Next ^next\n")
    assert ask(PlanStep.PARTS, board=board) == []


def test_what_a_planned_card_lacks_is_asked_for() -> None:
    asked = [about for about, _ in ask(PlanStep.SCENES)]
    assert asked[:3] == ["Next, place", "Next, words", "Next, beats"]
    assert all(about.startswith("Loose, ") for about in asked[3:])
    assert len(asked) == 9


@pytest.mark.parametrize(
    ("name", "other", "same"),
    [
        ("Nell Tallow", "Nell", True),
        ("Catherine", "Catharine", True),
        ("Mags", "Maggs", False),
        ("Nell", "Hob", False),
        ("Nell Tallow", "Jack Tallow", False),
    ],
)
def test_names_that_may_be_one(name: str, other: str, same: bool) -> None:
    assert may_be_same_name(name, other) is same
    assert may_be_same_name(other, name) is same


def test_a_man_and_a_woman_are_no_duplicates() -> None:
    couple = (person("Mr. Vale", 5, Gender.MALE), person("Mrs. Vale", 5, Gender.FEMALE))
    bible = Bible(characters=couple, scenes=(scene("Mr. Vale", "Mrs. Vale"),))
    assert may_be_same_name("Mr. Vale", "Mrs. Vale")
    assert list_tidy_hints(Board(), bible, [], []) == []


def test_duplicates_and_orphans_are_listed_with_what_to_do() -> None:
    bible = Bible(
        characters=(
            *(person("Catherine"), person("Catharine"), person("Monday", 1)),
            person("Nell", 1),
        ),
        scenes=(scene("Catherine", "Catharine", "Nell"),),
    )
    hints = list_tidy_hints(BOARD, bible, ["Perdita Vane", "Zed"], ["next", "old"])
    assert [hint.remedy for hint in hints] == [
        'lrwr characters merge "Catherine" "Catharine"',
        'lrwr characters ignore "Monday"',
        "scenes/old",
        "sheets/Zed.md",
    ]
    assert list_tidy_hints(Board(), Bible(), [], []) == []
