"""Rules and borders in Word files end scenes, and a deleted paragraph mark joins."""

from pathlib import Path
from xml.sax.saxutils import escape

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lrwr.core.adapters.source.layout import is_scene_break
from lrwr.core.adapters.source.markdown import parse_front_matter
from lrwr.core.model.documents import Document
from tests.fakes.suite import examples
from tests.unit.source.pages import check_promises, outline, parse, scenes_of
from tests.unit.source.word_files import changed, with_body, with_notes

SAMPLE = Path(__file__).parents[3] / "examples/marsh-lantern/chapters"
V = 'xmlns:v="urn:schemas-microsoft-com:vml" xmlns:o="urn:schemas-microsoft-com:office:office"'
RULE = (
    f'<w:p><w:r><w:pict {V}><v:rect style="width:0;height:1.5pt" o:hralign="center"'
    ' o:hrstd="t" o:hr="t"/></w:pict></w:r></w:p>'
)
BOTTOM = (
    '<w:pBdr><w:bottom w:val="single" w:sz="6" w:space="1" w:color="auto"/></w:pBdr>'
)
TOP = BOTTOM.replace("bottom", "top")
NONE = BOTTOM.replace('"single"', '"none"')
BOX = (
    '<w:pBdr><w:top w:val="single"/><w:left w:val="single"/>'
    '<w:bottom w:val="single"/><w:right w:val="single"/></w:pBdr>'
)
DELETED = '<w:rPr><w:del w:id="1" w:author="N" w:date="2026-11-23T10:00:00Z"/></w:rPr>'


def read(body: str) -> Document:
    document = parse(with_body(body), "fog.docx")
    check_promises(document)
    return document


def p(text: str = "", look: str = "") -> str:
    runs = f'<w:r><w:t xml:space="preserve">{text}</w:t></w:r>' if text else ""
    return f"<w:p><w:pPr>{look}</w:pPr>{runs}</w:p>"


def scenes(body: str) -> list[list[str]]:
    document = read(body)
    return [
        scene for chapter in document.chapters for scene in scenes_of(chapter, document)
    ]


def heading(text: str) -> str:
    return p(text, '<w:outlineLvl w:val="0"/>')


def test_a_rule_is_a_scene_break() -> None:
    assert scenes(p("It rose.") + RULE + p("It fell.")) == [["It rose."], ["It fell."]]
    assert read(p("It rose.") + RULE + p("It fell.")).text == (
        "It rose.\n\n---\n\nIt fell."
    )


def test_an_empty_paragraph_with_a_border_is_a_scene_break() -> None:
    for border in (BOTTOM, TOP):
        body = p("It rose.") + p("", border) + p("It fell.")
        assert scenes(body) == [["It rose."], ["It fell."]]


def test_a_border_below_a_paragraph_ends_a_scene() -> None:
    body = p("It rose.") + p("It stood.", BOTTOM) + p("It fell.")
    assert scenes(body) == [["It rose.\n\nIt stood."], ["It fell."]]


def test_a_border_above_a_paragraph_begins_a_scene() -> None:
    body = p("It rose.") + p("It stood.", TOP) + p("It sat.", TOP) + p("It fell.")
    assert scenes(body) == [["It rose."], ["It stood.\n\nIt sat.\n\nIt fell."]]


def test_equal_borders_are_one_line_below_the_last_paragraph() -> None:
    body = p("It rose.", BOTTOM) + p("It stood.", BOTTOM) + p("It fell.")
    assert scenes(body) == [["It rose.\n\nIt stood."], ["It fell."]]


def test_boxes_and_removed_borders_are_no_breaks() -> None:
    for border in (BOX, NONE):
        body = p("It rose.") + p("Dear Nell,", border) + p("It fell.")
        assert scenes(body) == [["It rose.\n\nDear Nell,\n\nIt fell."]]
    assert scenes(p("It rose.") + p("", NONE) + p("It fell.")) == [
        ["It rose.\n\nIt fell."]
    ]


@pytest.mark.parametrize(
    "path", sorted(SAMPLE.glob("*.md")), ids=lambda path: path.stem
)
def test_a_chapter_that_pandoc_converts_keeps_its_scenes(path: Path) -> None:
    """pandoc writes every scene break as a rule."""
    text = path.read_text(encoding="utf-8")
    body = parse_front_matter(text).end
    blocks = [" ".join(block.split()) for block in text[body:].split("\n\n")]
    xml = "".join(
        RULE if is_scene_break(block)
        else heading(block.strip("# ")) if block.startswith("#") else p(escape(block))
        for block in blocks
    )  # fmt: skip
    written, converted = parse(text, path.name), parse(with_body(xml), "fog.docx")
    assert [len(chapter.scenes) for chapter in converted.chapters] == [
        len(chapter.scenes) for chapter in written.chapters
    ]


def test_a_line_below_a_heading_is_an_ornament() -> None:
    for line in (RULE, p("", BOTTOM)):
        body = heading("Chapter 1") + line + p("It rose.") + line + p("It fell.")
        body += line + heading("Chapter 2") + line + p("It stood.")
        assert scenes(body) == [
            ["Chapter 1\n\nIt rose."], ["It fell."], ["Chapter 2\n\nIt stood."]
        ]  # fmt: skip
    bordered = p("Chapter 1", f'{BOTTOM}<w:outlineLvl w:val="0"/>') + p("It rose.")
    assert scenes(bordered) == [["Chapter 1\n\nIt rose."]]


def test_a_style_may_have_the_border() -> None:
    style = (
        '<w:style w:type="paragraph" w:styleId="HorizontalLine"><w:name w:val="Line"/>'
        f"<w:pPr>{BOTTOM}</w:pPr></w:style></w:styles>"
    ).encode()

    def add_style(parts: dict[str, bytes]) -> None:
        styles = parts["word/styles.xml"]
        parts["word/styles.xml"] = styles.replace(b"</w:styles>", style)

    line = p("", '<w:pStyle w:val="HorizontalLine"/>')
    content = changed(with_body(p("It rose.") + line + p("It fell.")), add_style)
    document = parse(content, "fog.docx")
    assert document.text == "It rose.\n\n---\n\nIt fell."


def test_pictures_and_lines_in_text_are_no_breaks() -> None:
    picture = RULE.replace('o:hr="t"', "").replace('o:hrstd="t"', "")
    assert scenes(p("It rose.") + picture + p("It fell.")) == [["It rose.\n\nIt fell."]]
    off = RULE.replace('o:hr="t"', 'o:hr="f"')
    assert scenes(p("It rose.") + off + p("It fell.")) == [["It rose.\n\nIt fell."]]


def test_a_deleted_paragraph_mark_joins_the_paragraphs() -> None:
    document = read(p("It rose ", DELETED) + p("and fell.") + p("She ran."))
    assert document.text == "It rose and fell.\n\nShe ran."
    assert [document.lines.line_of(at) for at in (0, 20)] == [1, 2]


def test_the_joined_paragraph_has_the_style_of_the_last() -> None:
    body = p("Chapter ", DELETED) + heading("One") + p("It rose.")
    assert outline(read(body))[0][0] == "Chapter One"


def test_a_deleted_mark_at_the_end_or_before_a_table_loses_nothing() -> None:
    assert read(p("It rose.") + p("It fell.", DELETED)).text == "It rose.\n\nIt fell."
    table = f"<w:tbl><w:tr><w:tc>{p('one ', DELETED)}{p('two')}</w:tc></w:tr></w:tbl>"
    assert read(p("It rose.", DELETED) + table + p("End.")).text == (
        "It rose.\n\none two\n\nEnd."
    )


def test_a_deleted_mark_joins_in_footnotes_too() -> None:
    note = f"{p('one ', DELETED)}{p('two')}".removeprefix("<w:p>").removesuffix(
        "</w:p>"
    )
    reference = '<w:p><w:r><w:t>It rose.</w:t></w:r><w:r><w:footnoteReference w:id="3"/></w:r></w:p>'
    inner = note.replace("</w:t></w:r></w:p><w:p>", "</w:t></w:r></w:p><w:p>")
    content = with_notes(with_body(reference), "footnote", {3: "x"})

    def put(parts: dict[str, bytes]) -> None:
        part = parts["word/footnotes.xml"]
        parts["word/footnotes.xml"] = part.replace(
            b"<w:p><w:r><w:t>x</w:t></w:r></w:p>", f"<w:p>{inner}</w:p>".encode()
        )

    document = parse(changed(content, put), "fog.docx")
    assert document.text == "It rose.\n\n[note 1] one two"


PIECES = st.lists(
    st.sampled_from(
        [p("It rose."), p("It fell.", BOTTOM), p("It stood.", TOP), p("“No,” ", DELETED), p("", BOTTOM),
         p("", DELETED), RULE, heading("Chapter 1"), heading("Night"), p("* * *"), p(),
         p("Box", BOX), "<w:tbl><w:tr><w:tc><w:p/></w:tc></w:tr></w:tbl>"]
    ),
    max_size=12,
)  # fmt: skip


@settings(max_examples=examples(150))
@given(PIECES)
def test_any_order_keeps_the_promises(pieces: list[str]) -> None:
    document = read("".join(pieces))
    for word in ("It rose.", "It fell.", "It stood.", "“No,”", "Box"):
        assert document.text.count(word) == "".join(pieces).count(word)
