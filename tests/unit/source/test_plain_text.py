from lrwr.core.model.text import LineRange
from tests.unit.source.pages import at, check_promises, outline, parse, scenes_of

BOOK = """THE FOG
by Ada

VOLUME THE FIRST

CHAPTER I.
THE HARBOUR

It rose.

* * *

It fell.

CHAPTER II. Ash

Chapter by chapter it went on.
Part two of the plan was simple.

Epilogue

End.
"""


def test_chapters_are_told_by_their_lines() -> None:
    document = parse(BOOK, "the-fog.txt")
    assert outline(document) == [
        ("", None, 0),
        ("CHAPTER I. THE HARBOUR", 1, 1),
        ("CHAPTER II. Ash", 1, 2),
        ("Epilogue", 1, None),
    ]
    assert document.title == "The Fog"
    first = document.chapters[1]
    assert scenes_of(first, document) == [
        ["VOLUME THE FIRST\n\nCHAPTER I.\nTHE HARBOUR\n\nIt rose."],
        ["It fell."],
    ]
    assert document.lines.lines_of(first.scenes[1].span) == LineRange(13, 13)
    assert at(document, document.chapters[0].span) == "THE FOG\nby Ada"
    check_promises(document)


def test_numerals_alone_are_chapters_where_they_count_up() -> None:
    document = parse("I\n\nOne.\n\nII.\n\nTwo.\n\nIII\n\nThree.", "fog.txt")
    assert [number for _, _, number in outline(document)] == [1, 2, 3]


def test_a_numeral_that_does_not_count_is_prose() -> None:
    document = parse("“Who?”\n\nI\n\n“You?”\n\nV", "fog.txt")
    assert outline(document) == [("Fog", None, None)]


def test_numerals_under_chapters_are_scenes() -> None:
    text = "Chapter 1\n\n1\n\nOne.\n\n2\n\nTwo.\n\nChapter 2\n\n1\n\nA.\n\n2\n\nB."
    document = parse(text, "fog.txt")
    assert [
        (n, len(c.scenes))
        for (_, _, n), c in zip(outline(document), document.chapters, strict=True)
    ] == [(1, 2), (2, 2)]


def test_marks_of_markdown_and_comments_mean_nothing_in_plain_text() -> None:
    document = parse("# Not a heading\n\n%%prose%%\n\n<!-- prose -->", "fog.txt")
    assert document.notes == ()
    assert outline(document) == [("Fog", None, None)]
