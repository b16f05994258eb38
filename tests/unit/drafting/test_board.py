"""The board: Markdown that the writer edits, and the cards that are read from it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lrwr.core.drafting.board import (
    Board,
    SceneCard,
    ScenePlace,
    parse_board,
    parse_scene_place,
    render_board,
    slugify,
)
from lrwr.core.model.errors import NotFound

BOARD = """\
---
tags: plan
---
# The Lamp

Notes of mine.

## Part One

### Chapter 3: Fog

#### The tide bell ^ch3-s1
- pov: Nell Tallow
- people: Hob, [[characters/Mags|OchraMags]]
- place: the Strake
- words: 1,200
- file: chapters/03.md:4-90

Nell rows out.
Hob follows.

##### She finds the bell
It is cracked.
##### He cuts the rope

#### The tide bell
- Mood: grim
- a list item that is no field

```
#### no scene
```
<!--
#### nor this
-->
### Chapter 4
#### After ^x9
"""


def test_headings_are_parts_chapters_scenes_and_beats() -> None:
    board = parse_board(BOARD)
    assert board.title == "The Lamp"
    first, second, third = board.cards
    assert first == SceneCard(
        id="ch3-s1",
        title="The tide bell",
        chapter="Chapter 3: Fog",
        part="Part One",
        pov="Nell Tallow",
        people=("Hob", "OchraMags"),
        place="the Strake",
        words=1200,
        at=ScenePlace("chapters/03.md", 4, 90),
        summary="Nell rows out. Hob follows.",
        beats=("She finds the bell It is cracked.", "He cuts the rope"),
        line=12,
    )
    assert first.cast == ("Nell Tallow", "Hob", "OchraMags")
    assert (second.id, second.summary) == (
        "the-tide-bell",
        "- a list item that is no field",
    )
    assert (third.id, third.chapter, third.part) == ("x9", "Chapter 4", "Part One")


def test_a_scene_is_named_by_its_id_or_a_title_that_only_it_has() -> None:
    board = parse_board(BOARD)
    assert board.index("^CH3-S1") == 0
    assert board.index("after") == 2
    assert board.index("the-tide-bell") == 1
    with pytest.raises(NotFound, match="Several scenes") as several:
        board.index("The tide bell")
    assert "ch3-s1 or the-tide-bell" in several.value.hint
    with pytest.raises(NotFound, match="no scene ch3-s2") as missing:
        board.index("ch3-s2")
    assert "Did you mean ch3-s1?" in missing.value.hint


def test_scenes_of_the_same_title_have_ids_of_their_own() -> None:
    board = parse_board("#### Fog\n#### Fog\n#### Fog ^fog\n####  \n#### 雨\n")
    assert [card.id for card in board.cards] == [
        "fog-2",
        "fog-3",
        "fog",
        "scene",
        "scene-2",
    ]


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("", None),
        ("chapters/1.md", ScenePlace("chapters/1.md")),
        ("`chapters/1.md:7`", ScenePlace("chapters/1.md", 7, 7)),
        ("a:b.md:7-9", ScenePlace("a:b.md", 7, 9)),
    ],
)
def test_a_file_may_have_lines(text: str, place: ScenePlace | None) -> None:
    assert parse_scene_place(text) == place
    assert parse_scene_place(str(place or "")) == place


def test_marks_of_comments_in_titles_hide_no_scene() -> None:
    cards = [SceneCard(id="", title=title) for title in ("%%%", "<!-- Fog", "%% -->")]
    assert len(parse_board(render_board(Board(tuple(cards)))).cards) == 3


WORDS = st.lists(
    st.text("abcXYZ'’-#*^<!%:“”é", min_size=1, max_size=8), max_size=5
).map(" ".join)
NAMES = st.text("abcdefNH ", min_size=1, max_size=12).map(str.strip).filter(bool)


@st.composite
def cards(draw: st.DrawFn) -> SceneCard:
    return SceneCard(
        id="",
        title=draw(WORDS),
        chapter=draw(NAMES),
        part="Part One",
        pov=draw(NAMES | st.just("")),
        people=tuple(dict.fromkeys(draw(st.lists(NAMES, max_size=3)))),
        place=draw(NAMES),
        words=draw(st.integers(0, 90_000)),
        at=draw(st.none() | st.just(ScenePlace("chapters/1.md", 3, 8))),
        summary=draw(WORDS),
        beats=tuple(draw(st.lists(NAMES, max_size=3))),
    )


@given(st.lists(cards(), max_size=5))
def test_a_board_that_lrwr_writes_is_read_as_it_was(drawn: list[SceneCard]) -> None:
    board = parse_board(render_board(Board(tuple(drawn))))
    assert len(board.cards) == len(drawn)
    assert parse_board(render_board(board)) == board


@given(st.text())
def test_any_text_is_a_board_and_ids_are_unique_file_names(text: str) -> None:
    ids = [card.id for card in parse_board(text + "\n#### " + text).cards]
    assert len({name.casefold() for name in ids}) == len(ids)
    assert all((name and name == slugify(name)) or name.isascii() for name in ids)
    assert all(set("/\\. ").isdisjoint(name) for name in ids)
