import pytest

from lrwr.core.model.text import LineRange, Span
from tests.unit.source.pages import at, check_promises, outline, parse, scenes_of

PAGE = """---
title: The Fog
order: 2.5
---
# Chapter 7

The fog rose. %%check the tide table%%
Ada ran.

* * *

<!-- cut this?
It is slow. -->

“No,” she said.
"""


def test_spans_and_lines_are_those_of_the_file() -> None:
    document = parse(PAGE)
    (chapter,) = document.chapters
    first, second = chapter.scenes
    assert scenes_of(chapter, document) == [
        ["# Chapter 7\n\nThe fog rose.", "Ada ran."],
        ["“No,” she said."],
    ]
    assert [document.lines.lines_of(part) for part in first.parts] == [
        LineRange(5, 7),
        LineRange(8, 8),
    ]
    assert document.lines.lines_of(second.span) == LineRange(12, 15)
    assert [at(document, note) for note in document.notes] == [
        "%%check the tide table%%",
        "<!-- cut this?\nIt is slow. -->",
    ]
    assert chapter.span == Span(PAGE.index("# Ch"), PAGE.index("said.") + 5)
    assert (document.title, document.order, chapter.number) == ("The Fog", 2.5, 7)
    assert document.words == 10
    assert document.warnings == ()


def test_a_note_alone_between_breaks_joins_the_scene_before() -> None:
    document = parse("One.\n\n***\n\n%%why?%%\n\n***\n\nTwo.")
    (chapter,) = document.chapters
    assert scenes_of(chapter, document) == [["One."], ["Two."]]
    assert chapter.scenes[0].span.holds(document.notes[0])


def test_a_file_of_comments_alone_has_a_scene_without_words() -> None:
    document = parse("%%one%%\n\n<!-- two -->\n")
    assert [scene.parts for scene in document.chapters[0].scenes] == [()]
    assert document.words == 0


@pytest.mark.parametrize(
    "mark",
    ["***", "* * *", "*****", "---", "- - -", "___", "#", "##", "# # #", "⁂", "~",
     "•", "~~~", "<hr>", "<HR />", "   * * *", "        * * *", r"\*\*\*", "*", "❦"],
)  # fmt: skip
def test_writers_marks_end_a_scene(mark: str) -> None:
    document = parse(f"One.\n\n{mark}\n\nTwo.")
    assert scenes_of(document.chapters[0], document) == [["One."], ["Two."]]


@pytest.mark.parametrize(
    "block",
    ["```\n***\n# no\n```", "> ***", "- ***", "-", "—", "| a |\n|---|\n| b |", "* a *",
     "#hashtag", "...", "~~~ py\n#\n~~~"],
)  # fmt: skip
def test_what_only_looks_like_a_mark_ends_no_scene(block: str) -> None:
    document = parse(f"One.\n\n{block}\n\nTwo.")
    assert scenes_of(document.chapters[0], document) == [[f"One.\n\n{block}\n\nTwo."]]


def test_dashes_right_under_a_sentence_are_a_scene_break() -> None:
    document = parse("# Fog\n\nShe left.\n---\nHe stayed.")
    assert scenes_of(document.chapters[0], document) == [
        ["# Fog\n\nShe left."],
        ["He stayed."],
    ]
    assert outline(parse("Chapter 1\n---\n\nx\n\nThe Ash\n-------\n\ny")) == [
        ("Chapter 1", None, 1),
        ("The Ash", None, None),
    ]


def test_headings_in_code_quotes_and_comments_are_not_headings() -> None:
    document = parse(
        "# Chapter 1\n\n```\n# Chapter 2\n```\n\n> # Chapter 3\n\n%%\n# Chapter 4\n%%\n\nx"
    )
    assert outline(document) == [("Chapter 1", None, 1)]


def test_a_heading_is_told_without_its_marks_and_comments() -> None:
    document = parse("# Chapter 1: *The* [[Fog Bank|Fog]] %%rename%% {#one}\n\nx")
    assert outline(document) == [("Chapter 1: The Fog", None, 1)]


def test_wikilinks_stay_as_they_are() -> None:
    text = "She met [[Ada Byron|Ada]]."
    document = parse(text)
    assert scenes_of(document.chapters[0], document) == [[text]]


def test_percent_signs_in_prose_hide_nothing() -> None:
    text = "It was 100%% true.\n\nAll of it.\n\nIt was 50%% more."
    document = parse(text)
    assert document.notes == ()
    assert scenes_of(document.chapters[0], document) == [[text]]


def test_an_unclosed_comment_is_prose_and_said() -> None:
    document = parse("One.\n\n<!-- two\n\nThree.")
    assert document.notes == ()
    assert document.words == 3
    assert document.warnings == (
        "A comment opened on line 3 is never closed, so it is read as prose.",
    )


def test_thousands_of_unclosed_comments_cost_little_and_are_said_thrice() -> None:
    document = parse("<!-- x\n\ny %% z\n\n" * 5_000 + "<!-- %%")
    assert len(document.warnings) == 3
    assert document.notes == ()


def test_a_comment_in_code_is_code() -> None:
    assert parse("```\n<!-- x -->\n```\n\ny").notes == ()


@pytest.mark.parametrize(
    ("front", "warning"),
    [
        ("title: [Fog", "not valid YAML"),
        ("a: &a [x]\nb: *a", "not valid YAML"),
        ("a: " + "[" * 9000, "not valid YAML"),
        ("a: " + "x" * 70_000, "too long"),
        ("type: poem", "'poem' is unknown"),
        ("order: soon", "'soon' is not a number"),
        ("order: .inf", "not a number"),
    ],
)
def test_front_matter_that_cannot_be_read_is_said_and_is_no_prose(
    front: str, warning: str
) -> None:
    document = parse(f"---\n{front}\n---\nIt was.")
    assert warning in document.warnings[0]
    assert document.words == 2


@pytest.mark.parametrize(
    "text",
    ["---\nIt was dark.\n\n---\n\nIt was light.", "---\n\nIt was.", "---\ntitle: x\n\nIt."],
)  # fmt: skip
def test_a_scene_break_at_the_top_is_no_front_matter(text: str) -> None:
    document = parse(text)
    assert document.warnings == ()
    check_promises(document)


def test_front_matter_closed_by_dots_is_read() -> None:
    document = parse("---\ntitle: 1984\n# a comment\n...\nIt was.")
    assert (document.title, document.words) == ("1984", 2)
