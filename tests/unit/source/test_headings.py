import pytest

from lrwr.core.adapters.source.layout import (
    HeadingKind,
    HeadingMeaning,
    derive_title_from_file_name,
    parse_heading,
    parse_heading_line,
)
from lrwr.core.model.text import format_chapter_title, parse_numeral
from tests.unit.source.pages import outline, parse, scenes_of
from tests.unit.source.word_files import word_file


@pytest.mark.parametrize(
    ("numeral", "number"),
    [("12", 12), ("12th", 12), ("XII", 12), ("xiv", 14), ("IIII", 4), ("twelve", 12),
     ("Twelfth", 12), ("twenty-first", 21), ("Ninety Nine", 99), ("LXVII", 67),
     ("0", 0), ("", None), ("fog", None), ("IVI", None)],
)  # fmt: skip
def test_numbers_are_read_as_chapters_write_them(
    numeral: str, number: int | None
) -> None:
    assert parse_numeral(numeral) == number


@pytest.mark.parametrize(
    ("title", "reading"),
    [
        (
            "CHAPTER XII. Alice's Evidence",
            HeadingMeaning(HeadingKind.CHAPTER, number=12),
        ),
        ("Chapter One: The Fog", HeadingMeaning(HeadingKind.CHAPTER, number=1)),
        ("chapter7", HeadingMeaning(HeadingKind.CHAPTER, number=7)),
        ("Ch. 4", HeadingMeaning(HeadingKind.CHAPTER, number=4)),
        (
            "VOLUME I, CHAPTER III",
            HeadingMeaning(HeadingKind.CHAPTER, volume=1, number=3),
        ),
        ("BOOK TWO--The Fog, CHAPTER 1. X", HeadingMeaning(HeadingKind.CHAPTER, 2, 1)),
        ("Chapter the Last", HeadingMeaning(HeadingKind.CHAPTER)),
        ("Volume II", HeadingMeaning(HeadingKind.GROUP, volume=2)),
        ("Book the First", HeadingMeaning(HeadingKind.GROUP, volume=1, rank=1)),
        ("Part 2: Ash", HeadingMeaning(HeadingKind.GROUP, volume=2, rank=2)),
        ("THE PREFACE", HeadingMeaning(HeadingKind.OPENING)),
        ("Prologue: Ash", HeadingMeaning(HeadingKind.OPENING)),
        ("Epilogue", HeadingMeaning(HeadingKind.NAMED)),
        ("Interlude II", HeadingMeaning(HeadingKind.NAMED)),
        ("IV. The Fog", HeadingMeaning(HeadingKind.OTHER, number=4)),
        ("Twelve", HeadingMeaning(HeadingKind.OTHER, number=12)),
        ("I Go to Styles", HeadingMeaning(HeadingKind.OTHER)),
        ("Introduction to Magic", HeadingMeaning(HeadingKind.OTHER)),
        ("Chapters of a Life", HeadingMeaning(HeadingKind.OTHER)),
        ("Participants", HeadingMeaning(HeadingKind.OTHER)),
    ],
)
def test_a_heading_says_what_it_announces(title: str, reading: HeadingMeaning) -> None:
    assert parse_heading(title) == reading


@pytest.mark.parametrize(
    ("line", "is_heading"),
    [("CHAPTER I.", True), ("Chapter One The Fog", True), ("CHAPTER I THE PERIOD", True),
     ("Part Two", True), ("Prologue", True), ("Volume I, Chapter 4", True),
     ("Part two of the plan was simple.", False), ("Book One was closed.", False),
     ("Prologue was over.", False), ("Chapter by chapter she read.", False),
     ("Part of it", False), ("Chapter 9 " + "and on " * 20, False)],
)  # fmt: skip
def test_a_line_of_prose_is_no_heading(line: str, is_heading: bool) -> None:
    assert (parse_heading_line(line) is not None) is is_heading


@pytest.mark.parametrize(
    ("name", "title"),
    [("42-volume-iii-chapter-vi", "Volume III Chapter VI"), ("07-the-fog", "The Fog"),
     ("Dorian Gray", "Dorian Gray"), ("the_fog", "The Fog"), ("2001", "2001")],
)  # fmt: skip
def test_a_file_name_makes_a_title(name: str, title: str) -> None:
    assert derive_title_from_file_name(name) == title


@pytest.mark.parametrize(
    ("number", "title", "shown"),
    [(12, "CHAPTER XII", ""), (6, "Chapter Six: Fog", " “Fog”"), (3, "", ""),
     (10, "CHAPTER 30", " “CHAPTER 30”"), (4, "Fog", " “Fog”"), (1, "I. The Period", " “The Period”"),
     (1, "I Am Born", " “I Am Born”"), (2, "2", ""), (2, "Chapter Two Rivers", " “Chapter Two Rivers”"),
     (0, "Prologue", " “Prologue”"), (9, "VOLUME I, CHAPTER IX", ""), (3, "Part One. Chapter 3: Ebb", " “Ebb”"),
     (20, "VOLUME II, CHAPTER II", " “VOLUME II, CHAPTER II”"), (1, "Book One", " “Book One”")],
)  # fmt: skip
def test_a_title_does_not_repeat_the_number_of_its_chapter(
    number: int, title: str, shown: str
) -> None:
    assert format_chapter_title(number, title) == shown


PROSE = "She went down to the water and stood there. " * 30


def test_a_heading_as_long_as_a_page_is_prose() -> None:
    document = parse(f"# Chapter 1\n\nIt rose.\n\n# {PROSE}\n\nIt fell.\n".encode())
    assert outline(document) == [("Chapter 1", None, 1)]
    assert PROSE.strip() in scenes_of(document.chapters[0], document)[0][0]


def test_a_heading_in_word_as_long_as_a_page_is_prose() -> None:
    document = parse(
        word_file(
            lambda d: [
                d.add_heading("Chapter 1", 1),
                d.add_paragraph("It rose."),
                d.add_heading(PROSE.strip(), 1),
            ]
        ),
        "fog.docx",
    )
    assert outline(document) == [("Chapter 1", None, 1)]
    assert PROSE.strip() in scenes_of(document.chapters[0], document)[0][0]


def test_a_title_as_long_as_a_page_is_cut() -> None:
    document = parse(f"---\ntitle: {PROSE}\n---\n\nIt rose.\n".encode())
    assert len(document.title) < 400
    assert document.title.startswith("She went down")
