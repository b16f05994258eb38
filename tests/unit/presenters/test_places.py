import pytest

from lrwr.app.presenters.citations import describe_story_place, format_place
from lrwr.core.model.text import LineRange


@pytest.mark.parametrize(
    ("document", "lines", "told"),
    [
        ("a/01.md", LineRange(3, 3), "a/01.md:3"),
        ("a/01.md", LineRange(3, 5), "a/01.md:3-5"),
        ("a/02.DOCX", LineRange(12, 12), "a/02.DOCX, paragraph 12"),
        ("a/02.docx", LineRange(12, 14), "a/02.docx, paragraphs 12-14"),
        ("a\n01.md", LineRange(1, 1), "a␊01.md:1"),
    ],
)
def test_a_place_is_told_as_its_program_counts(
    document: str, lines: LineRange, told: str
) -> None:
    assert format_place(document, lines) == told


@pytest.mark.parametrize(
    ("chapter", "title", "scene", "told"),
    [
        (3, "Fog", 2, "chapter 3 “Fog”, scene 2"),
        (3, "", 1, "chapter 3, scene 1"),
        (0, "Preface", 1, "before chapter 1 “Preface”"),
        (None, "OchraMags", None, "character note, OchraMags"),
    ],
)
def test_a_place_in_the_story_is_told_in_words(
    chapter: int | None, title: str, scene: int | None, told: str
) -> None:
    assert describe_story_place("character", chapter, title, scene) == told
