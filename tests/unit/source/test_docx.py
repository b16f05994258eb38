import pytest
from docx.document import Document as WordDocument

from lrwr.core.model.documents import Document
from lrwr.core.model.text import LineRange
from tests.unit.source.pages import at, check_promises, outline, parse, scenes_of
from tests.unit.source.word_files import (
    changed,
    paragraphs,
    with_body,
    with_notes,
    word_file,
)


def read(content: bytes, name: str = "fog.docx") -> Document:
    document = parse(content, name)
    check_promises(document)
    return document


def words(body: str) -> str:
    return read(with_body(body)).text


def p(runs: str) -> str:
    return f"<w:p>{runs}</w:p>"


def r(text: str, look: str = "") -> str:
    return f'<w:r><w:rPr>{look}</w:rPr><w:t xml:space="preserve">{text}</w:t></w:r>'


def write_book(document: WordDocument) -> None:
    document.add_heading("The Fog", 0)
    document.add_heading("Chapter 1", 1)
    document.add_paragraph("It rose.")
    document.add_paragraph("")
    document.add_paragraph("* * *")
    document.add_paragraph("It fell.")
    table = document.add_table(2, 2)
    table.cell(0, 0).text, table.cell(0, 1).text = "tide", "noon"
    table.cell(1, 0).text = "ebb\nlow"
    document.add_heading("Chapter 2", 1)
    document.add_heading("Night", 2)
    document.add_paragraph("She ran.")
    document.add_heading("Morning", 2)
    document.add_paragraph("She slept.")


def test_headings_tables_and_breaks_keep_their_place() -> None:
    document = read(word_file(write_book))
    assert document.text == (
        "The Fog\n\nChapter 1\n\nIt rose.\n\n* * *\n\nIt fell.\n\ntide | noon\n\n"
        "ebb low | \n\nChapter 2\n\nNight\n\nShe ran.\n\nMorning\n\nShe slept."
    ).replace("| \n", "| \n")
    assert document.title == "The Fog"
    assert outline(document) == [("Chapter 1", None, 1), ("Chapter 2", None, 2)]
    assert scenes_of(document.chapters[0], document) == [
        ["The Fog\n\nChapter 1\n\nIt rose."],
        ["It fell.\n\ntide | noon\n\nebb low |"],
    ]
    assert scenes_of(document.chapters[1], document) == [
        ["Chapter 2\n\nNight\n\nShe ran."],
        ["Morning\n\nShe slept."],
    ]


def test_lines_are_paragraph_numbers_and_a_row_counts_one() -> None:
    document = read(word_file(write_book))
    places = {
        words: document.lines.line_of(document.text.index(words))
        for words in ("The Fog", "It rose", "It fell", "tide", "ebb", "Chapter 2")
    }
    assert places == {
        "The Fog": 1,
        "It rose": 3,
        "It fell": 6,
        "tide": 7,
        "ebb": 8,
        "Chapter 2": 9,
    }


@pytest.mark.parametrize(
    ("runs", "text"),
    [
        (r("She ") + r("ran", "<w:i/>") + r("."), "She *ran*."),
        (r("a") + r(" b ", "<w:i/>") + r("c"), "a *b* c"),
        (r("one ", "<w:i/>") + r("two", "<w:i/>"), "*one two*"),
        (r("one", "<w:i/>") + r(" ") + r("two", "<w:i/>"), "*one two*"),
        (r("a", "<w:b/>") + r(" ") + r("b", "<w:i/>"), "**a** *b*"),
        (r("a", "<w:b/><w:i/>"), "***a***"),
        (r("a ", "<w:i/>") + r("b", "<w:i/><w:b/>") + r(" c"), "*a **b*** c"),
        (r("a", '<w:i w:val="0"/>'), "a"),
        (r(" ", "<w:i/>") + r("x"), "x"),
        (r("seen") + r("hidden", "<w:vanish/>"), "seen"),
        (r("a", '<w:rStyle w:val="Emphasis"/>'), "*a*"),
        (r("a", '<w:rStyle w:val="Strong"/><w:b w:val="false"/>'), "a"),
    ],
)
def test_italics_and_bold_are_marked_close_to_their_words(runs: str, text: str) -> None:
    assert words(p(runs)) == text


@pytest.mark.parametrize(
    ("runs", "text"),
    [
        ("<w:ins>" + r("new") + "</w:ins><w:del><w:r><w:delText>old</w:delText>"
         "</w:r></w:del>", "new"),
        ("<w:moveFrom>" + r("a") + "</w:moveFrom><w:moveTo>" + r("b") + "</w:moveTo>", "b"),
        ("<w:hyperlink>" + r("Ada") + "</w:hyperlink>" + r(" ran"), "Ada ran"),
        ("<w:r><w:instrText>PAGE</w:instrText></w:r>" + r("x"), "x"),
        ("<w:fldSimple>" + r("x") + "</w:fldSimple>", "x"),
        ("<w:r><w:t>a</w:t><w:br/><w:t>b</w:t></w:r>", "a\nb"),
        ('<w:r><w:t>a</w:t><w:br w:type="page"/><w:t>b</w:t></w:r>', "ab"),
        ("<w:r><w:t>a</w:t><w:tab/><w:t>b</w:t></w:r>", "a\tb"),
        ("<w:r><w:t>a</w:t><w:noBreakHyphen/><w:t>b</w:t></w:r>", "a-b"),
        ("<w:r><w:t>a\nb</w:t></w:r>", "a b"),
        ("<w:sdt><w:sdtPr/><w:sdtContent>" + r("x") + "</w:sdtContent></w:sdt>", "x"),
        (r("cafe\u0301"), "café"),
        ("<!-- x -->" + r("y"), "y"),
    ],
)  # fmt: skip
def test_a_paragraph_says_what_a_reader_sees(runs: str, text: str) -> None:
    assert words(p(runs)) == text


def test_text_boxes_follow_their_paragraph() -> None:
    box = f"<w:pict><w:txbxContent>{p(r('boxed'))}</w:txbxContent></w:pict>"
    document = read(with_body(p(r("one") + f"<w:r>{box}</w:r>") + p(r("two"))))
    assert document.text == "one\n\nboxed\n\ntwo"
    assert document.lines.numbers == (1, 1, 2)


def test_a_contents_table_made_by_word_is_left_out() -> None:
    style = '<w:pPr><w:pStyle w:val="TOC1"/></w:pPr>'
    added = b'<w:style w:styleId="TOC1"><w:name w:val="toc 1"/></w:style></w:styles>'

    def change(parts: dict[str, bytes]) -> None:
        xml = parts["word/styles.xml"]
        parts["word/styles.xml"] = xml.replace(b"</w:styles>", added)

    content = changed(with_body(p(style + r("Chapter 1\t3")) + p(r("x"))), change)
    document = read(content)
    assert (document.text, document.lines.numbers) == ("x", (2,))


@pytest.mark.parametrize(
    "style",
    [
        b'<w:style w:styleId="berschrift1"><w:name w:val="heading 1"/></w:style>',
        b'<w:style w:styleId="berschrift1"><w:name w:val="Mine"/><w:pPr>'
        b'<w:outlineLvl w:val="0"/></w:pPr></w:style>',
        b'<w:style w:styleId="berschrift1"><w:name w:val="Mine"/>'
        b'<w:basedOn w:val="Heading1"/></w:style>',
    ],
)
def test_headings_are_known_by_style_in_any_language(style: bytes) -> None:
    def change(parts: dict[str, bytes]) -> None:
        xml = parts["word/styles.xml"]
        parts["word/styles.xml"] = xml.replace(b"</w:styles>", style + b"</w:styles>")

    look = '<w:pPr><w:pStyle w:val="berschrift1"/></w:pPr>'
    body = p(look + r("Nebel")) + p(r("x")) + p(look + r("Asche")) + p(r("y"))
    document = read(changed(with_body(body), change))
    assert [title for title, _, _ in outline(document)] == ["Nebel", "Asche"]


def test_a_paragraph_with_an_outline_level_is_a_heading() -> None:
    look = '<w:pPr><w:outlineLvl w:val="0"/></w:pPr>'
    document = read(with_body(p(look + r("Fog")) + p(r("x"))))
    assert outline(document) == [("Fog", None, None)]


def test_without_heading_styles_words_tell_chapters() -> None:
    document = read(paragraphs("Chapter One", "It rose.", "Chapter Two", "It fell."))
    assert [number for _, _, number in outline(document)] == [1, 2]


def note_ref(kind: str, name: int) -> str:
    return f'<w:r><w:{kind}Reference w:id="{name}"/></w:r>'


def test_a_footnote_belongs_to_the_scene_that_refers_to_it() -> None:
    head = '<w:pPr><w:pStyle w:val="Heading1"/></w:pPr>'
    body = (
        p(head + r("Chapter 1"))
        + p(r("One.") + note_ref("footnote", 2))
        + p(r("***"))
        + p(r("Two.") + note_ref("endnote", 1))
        + p(head + r("Chapter 2"))
        + p(r("Three.") + note_ref("footnote", 1))
    )
    content = with_notes(
        with_body(body), "footnote", {1: "late", 2: "early", 9: "lost"}
    )
    document = read(with_notes(content, "endnote", {1: "end"}))
    assert document.text.endswith(
        "Three.\n\n[note 1] early\n\n[note 2] late\n\n[note 3] end"
    )
    assert [scenes_of(c, document) for c in document.chapters] == [
        [["Chapter 1\n\nOne.", "[note 1] early"], ["Two.", "[note 3] end"]],
        [["Chapter 2\n\nThree.", "[note 2] late"]],
    ]
    assert document.lines.numbers[-3:] == (2, 6, 4)
    assert document.notes == ()


def test_comments_are_notes_that_stand_on_the_paragraph_they_comment() -> None:
    def write(document: WordDocument) -> None:
        document.add_paragraph("One.")
        second = document.add_paragraph("Two.")
        document.add_comment(second.runs, text="Is it?", author="Ada")

    document = read(word_file(write))
    assert document.text == "One.\n\nTwo.\n\nIs it?"
    (note,) = document.notes
    assert at(document, note) == "Is it?"
    assert document.lines.lines_of(note) == LineRange(2, 2)
    assert scenes_of(document.chapters[0], document) == [["One.\n\nTwo."]]
    assert document.words == 2


def test_a_word_file_without_words_is_an_empty_document() -> None:
    for content in (paragraphs(), paragraphs("", " "), b""):
        document = read(content)
        assert (document.text, document.chapters) == ("", ())
        assert document.lines.line_of(0) == 1
        assert document.warnings == ("The file is empty.",)


def test_a_strict_word_file_reads_like_any_other() -> None:
    def change(parts: dict[str, bytes]) -> None:
        for name, xml in parts.items():
            xml = xml.replace(
                b"http://schemas.openxmlformats.org/wordprocessingml/2006/main",
                b"http://purl.oclc.org/ooxml/wordprocessingml/main",
            )
            parts[name] = xml.replace(
                b"http://schemas.openxmlformats.org/officeDocument/2006/relationships",
                b"http://purl.oclc.org/ooxml/officeDocument/relationships",
            )

    assert read(changed(paragraphs("It rose."), change)).text == "It rose."
