"""A file with git conflict markers is not read until they are resolved."""

import pytest

from lrwr.core.model.errors import UnreadableDocument
from tests.unit.source.pages import parse

TWO_WAY = """\
# Chapter One

Nell lit the lamp.

<<<<<<< HEAD
Nell had grey eyes.
=======
Nell had blue eyes.
>>>>>>> other-branch

She ran.
"""
THREE_WAY = """\
<<<<<<< ours
grey
||||||| merged common ancestors
green
=======
blue
>>>>>>> theirs
"""
NESTED = """\
<<<<<<< ours
one
||||||| base
<<<<<<< inner ours
two
=======
three
>>>>>>> inner theirs
=======
four
>>>>>>> theirs
"""


@pytest.mark.parametrize("name", ["fog.md", "fog.txt", "fog.markdown"])
@pytest.mark.parametrize(
    ("text", "line"),
    [
        (TWO_WAY, 5),
        (TWO_WAY.replace("\n", "\r\n"), 5),
        (f"---\ntitle: Fog\n{THREE_WAY}---\nIt rose.", 3),
        (NESTED, 1),
        (f"{TWO_WAY}{THREE_WAY}", 5),
        ("<<<<<<<\n=======\n>>>>>>>", 1),
        (f"<<<<<<< a riddle\n\n{THREE_WAY}", 3),
    ],
)
def test_conflict_markers_make_a_file_unreadable(
    name: str, text: str, line: int
) -> None:
    with pytest.raises(UnreadableDocument) as caught:
        parse(text, name)
    assert f"git conflict markers (line {line})" in str(caught.value)
    assert "Resolve" in caught.value.hint


@pytest.mark.parametrize(
    "text",
    [
        "Chapter One\n=======\n\nIt rose.",
        "<<<<<<< the geese\n\nIt rose.",
        ">>>>>>> said the sign\n\nIt rose.",
        "It rose.\n>>>>>>> theirs\n=======\n<<<<<<< ours\n",
        "<<<<<<< ours\n>>>>>>> theirs\n",
        " <<<<<<< ours\n =======\n >>>>>>> theirs\n",
        "> <<<<<<< ours\n> =======\n> >>>>>>> theirs\n",
        "<<<<<<<<\n========\n>>>>>>>>\n",
        "<<<<<<<ours\n=======\n>>>>>>>theirs\n",
    ],
)
def test_single_marks_are_text(text: str) -> None:
    assert parse(text).text == text
    assert parse(text, "fog.txt").text == text


def test_many_open_markers_take_linear_time() -> None:
    text = "<<<<<<< a\n" * 200_000
    assert parse(text, "fog.txt").text == text
