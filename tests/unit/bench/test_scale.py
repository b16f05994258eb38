"""Libraries of made books, and the growth of costs from one size to the next."""

from pathlib import Path

import pytest

from bench.books import write_book, write_books
from bench.report import Line
from bench.scale import TOLERANCE, compare_growth

CHAPTER = """# Chapter {number}

“The lamp,” said Nell, “is out.” Nell and Hob went up the old stair of Tallowgate with
the spare wick, and Mr. Hob swore at Tallowgate, as Nell knew that he would.
"""


@pytest.fixture
def novel(tmp_path: Path) -> Path:
    folder = tmp_path / "novel" / "chapters"
    folder.mkdir(parents=True)
    for number in (1, 2):
        text = CHAPTER.format(number=number)
        (folder / f"{number}.md").write_text(text, encoding="utf-8")
    return folder.parent


def made(novel: Path, folder: str, number: int) -> list[str]:
    target = novel.parent / folder
    write_book(novel, target, number)
    return [path.read_text(encoding="utf-8") for path in sorted(target.glob("*.md"))]


def test_a_book_has_people_and_places_of_its_own(novel: Path) -> None:
    first, second = (made(novel, f"book-{number}", number) for number in (1, 2))
    assert first != second
    for chapter in (*first, *second):
        assert not {"Nell", "Hob", "Tallowgate"} & set(chapter.split())
        assert chapter.startswith("# Chapter ") and "Mr. " in chapter
        assert len(chapter.split()) == len(CHAPTER.split())
    name = first[0].split("said ")[1].split(",")[0]
    assert all(chapter.count(name) == 3 for chapter in first)


def test_the_same_number_makes_the_same_book(novel: Path) -> None:
    assert made(novel, "once", 7) == made(novel, "again", 7)


def test_books_are_written_until_there_are_enough_words(novel: Path) -> None:
    words = 2 * len(CHAPTER.split())
    assert write_books([novel], novel.parent / "library", 3 * words - 1) == 3
    folders = sorted(path.name for path in (novel.parent / "library").iterdir())
    assert folders == ["book-000", "book-001", "book-002"]


def test_a_ratio_that_rises_is_not_met() -> None:
    figures = {
        "small": {"ask": (1.0, "CPU s"), "search": (2.0, "CPU ms")},
        "large": {"ask": (3.0, "CPU s"), "search": (3.0, "CPU ms")},
    }
    baseline = {"ask: large ÷ small": 2.0, "search: large ÷ small": 1.5}
    lines = compare_growth(figures, baseline)
    assert [(line.name, line.value) for line in lines] == [
        ("ask: large ÷ small", 3.0),
        ("search: large ÷ small", 1.5),
    ]
    assert [line.verdict for line in lines] == ["NOT MET", "met"]
    assert all(line.required for line in lines)
    assert lines[0].goal == 2.0 * TOLERANCE


def test_a_ratio_that_was_never_recorded_has_no_goal() -> None:
    figures = {"small": {"ask": (1.0, "CPU s")}, "large": {"ask": (9.0, "CPU s")}}
    (line,) = compare_growth(figures, {})
    assert line == Line("scale", "ask: large ÷ small", 9.0, "x", required=True)
