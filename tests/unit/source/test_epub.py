"""EPUB books become documents with chapters, paragraphs with CFIs, and footnotes."""

import pytest

from lrwr.core.adapters.source.epub import EpubBook, read_epub
from lrwr.core.adapters.source.parser import parse_document
from lrwr.core.model.books import BookParagraphKind
from lrwr.core.model.documents import Document, DocumentFormat, DocumentId
from lrwr.core.model.errors import UnreadableDocument
from tests.unit.source.epub_files import CONTAINER, LANTERNS, build_epub, pack_files

ENCRYPTED = (
    '<encryption xmlns="urn:oasis:names:tc:opendocument:xmlns:container"'
    ' xmlns:enc="http://www.w3.org/2001/04/xmlenc#"><enc:EncryptedData>'
    '<enc:EncryptionMethod Algorithm="{}"/></enc:EncryptedData></encryption>'
)


def parse(content: bytes) -> Document:
    return parse_document(DocumentId("book.epub"), content)


def read(content: bytes) -> EpubBook:
    return read_epub(content, "book.epub")


def texts(book: EpubBook) -> list[str]:
    return [
        book.layout.text[p.span.start : p.span.end] for p in book.outline.paragraphs
    ]


def paragraphs(body: str, doctype: str = "") -> list[str]:
    return texts(read(build_epub({"one": body}, doctype=doctype)))


def refusal(content: bytes) -> str:
    with pytest.raises(UnreadableDocument) as caught:
        parse(content)
    return str(caught.value)


def chapters(document: Document) -> list[str]:
    return [chapter.title for chapter in document.chapters]


def test_a_book_is_a_document_with_chapters_and_numbered_paragraphs() -> None:
    document = parse(build_epub())
    assert document.format is DocumentFormat.EPUB
    assert document.title == "Lanterns"
    assert chapters(document) == ["Chapter 1. Ebb", "Chapter 2. Flood"]
    assert document.lines.line_of(document.text.index("Mags")) == 5


def test_the_outline_has_what_the_package_says() -> None:
    outline = read(build_epub()).outline
    assert (outline.title, outline.authors) == ("Lanterns", ("A. Writer",))
    assert (outline.language, outline.identifier) == ("en", "urn:uuid:1")


def test_chapters_are_those_of_the_navigation_not_of_headings() -> None:
    nav = (
        '<li><a href="one.xhtml">The Lamp</a></li>'
        '<li><a href="two.xhtml#there">The Sea</a></li>'
    )
    bodies = {"one": "<p>Nell lit it.</p>", "two": '<p id="there">It rose.</p>'}
    document = parse(build_epub(bodies, nav=nav))
    assert chapters(document) == ["The Lamp", "The Sea"]
    assert document.text == "Nell lit it.\n\nIt rose."


def test_an_ncx_is_read_where_there_is_no_navigation() -> None:
    point = (
        "<navPoint><navLabel><text>{}</text></navLabel><content src='{}'/></navPoint>"
    )
    ncx = point.format("Ebb", "one.xhtml") + point.format("Flood", "two.xhtml")
    bodies = {"one": "<p>Nell lit it.</p>", "two": "<p>It rose.</p>"}
    assert chapters(parse(build_epub(bodies, ncx=ncx))) == ["Ebb", "Flood"]


def test_a_part_without_a_target_begins_with_its_first_chapter() -> None:
    nav = (
        '<li><span>Part One</span><ol><li><a href="one.xhtml">Chapter 1</a></li>'
        '<li><a href="two.xhtml">Chapter 2</a></li></ol></li>'
    )
    book = read(build_epub(nav=nav))
    assert [(e.title, e.depth) for e in book.outline.toc] == [
        ("Part One", 1),
        ("Chapter 1", 2),
        ("Chapter 2", 2),
    ]
    assert [c.volume for c in parse(build_epub(nav=nav)).chapters] == [1, 1]


def test_every_paragraph_has_the_cfi_of_its_element() -> None:
    body = "<h1>One</h1><div>Loose <b>words</b><p>Inner.</p>tail<hr/></div>"
    book = read(build_epub({"one": body}))
    assert [p.cfi for p in book.outline.paragraphs] == [
        "/6/2!/4/2",
        "/6/2!/4/4/1",
        "/6/2!/4/4/4",
        "/6/2!/4/4/5",
        "/6/2!/4/4/6",
    ]
    assert texts(book) == ["One", "Loose words", "Inner.", "tail", "---"]


def test_a_footnote_stands_at_the_end_and_belongs_to_its_reference() -> None:
    body = (
        '<p>A lamp<a epub:type="noteref" href="#n1">1</a> burned.</p><p>Later.</p>'
        '<aside epub:type="footnote" id="n1"><p>Of oil.</p></aside>'
    )
    book = read(build_epub({"one": body}))
    assert texts(book) == ["A lamp burned.", "Later.", "[note 1] Of oil."]
    note = book.outline.paragraphs[2]
    assert (note.kind, note.anchor) == (BookParagraphKind.NOTE, 0)
    assert book.outline.notes_of([0]) == [2]
    (chapter,) = parse(build_epub({"one": body})).chapters
    assert note.span in chapter.scenes[0].parts


@pytest.mark.parametrize(
    "opening",
    [
        "A lamp{}, they say.",
        "\n  A\n <i>lamp</i>{}, they say.",
        "A lamp {} they say.",
        "One line<br/>\n and a lamp{}.",
        "{}Begins so.",
    ],
)
def test_a_footnote_knows_the_word_after_which_its_reference_stands(
    opening: str,
) -> None:
    mark = '<a epub:type="noteref" href="#n1">1</a>'
    body = (
        f"<p>Before.</p><p>{opening.format(mark)}</p>"
        '<aside epub:type="footnote" id="n1"><p>Of oil.</p></aside>'
    )
    book = read(build_epub({"one": body}))
    note = book.outline.paragraphs[2]
    before = book.layout.text[: note.reference]
    assert note.reference is not None
    if opening.startswith("{"):
        assert note.reference == book.outline.paragraphs[1].span.start
    else:
        assert before.endswith("lamp")


def test_footnotes_are_in_the_order_of_their_references() -> None:
    body = (
        '<p>One<a epub:type="noteref" href="#b">1</a> and'
        ' two<a epub:type="noteref" href="#a">2</a>.</p>'
        '<aside epub:type="footnote" id="a"><p>Second.</p></aside>'
        '<aside epub:type="footnote" id="b"><p>First.</p></aside>'
        '<aside epub:type="footnote" id="c"><p>Alone.</p></aside>'
    )
    book = read(build_epub({"one": body}))
    assert texts(book)[1:] == ["[note 1] Alone.", "[note 2] First.", "[note 3] Second."]
    references = [note.reference for note in book.outline.paragraphs[1:]]
    assert references == [None, 3, 11]


def test_page_numbers_of_the_printed_edition_are_left_out() -> None:
    body = (
        '<p>The paths, <span epub:type="pagebreak" id="p177">177</span> he saw, were'
        ' well<span role="doc-pagebreak">178</span>kept.</p>'
        '<div epub:type="pagebreak" id="p179">179</div><p>It rained.</p>'
    )
    assert paragraphs(body) == ["The paths, he saw, were wellkept.", "It rained."]
    nav = '<li><a href="one.xhtml#p179">The Rain</a></li>'
    document = parse(build_epub({"one": body}, nav=nav))
    assert chapters(document) == ["The Rain"]
    assert read(build_epub({"one": body}, nav=nav)).outline.toc[0].paragraph == 1


def test_pictures_are_their_alternative_text() -> None:
    shown = paragraphs('<p>See <img src="x.png" alt="a  heron"/>.</p>')
    assert shown == ["See [picture: a heron] ."]


def test_line_breaks_are_kept_and_other_white_space_is_not() -> None:
    assert paragraphs("<p>Two\n  words<br/>and   a line</p>") == [
        "Two words\nand a line"
    ]


def test_named_entities_of_html_are_characters() -> None:
    xhtml = '<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.1//EN" "xhtml11.dtd">'
    assert paragraphs("<p>&ldquo;No&rdquo; &amp; &eacute;</p>", xhtml) == ["“No” & é"]
    assert paragraphs("<p>a &nonsense; b</p>") == ["a &nonsense; b"]


def test_entities_that_the_file_declares_are_resolved() -> None:
    declared = '<!DOCTYPE html [<!ENTITY lamp "Lantern">]>'
    assert paragraphs("<p>A &lamp;.</p>", declared) == ["A Lantern."]


def test_an_entity_bomb_is_not_expanded() -> None:
    levels = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))
    bomb = f'<!DOCTYPE html [<!ENTITY l0 "lol">{levels}]>'
    assert len("".join(paragraphs("<p>Nell &l9;</p>", bomb))) < 100


def test_a_file_on_the_disk_is_not_read_as_an_entity(tmp_path: object) -> None:
    secret = f'<!DOCTYPE html [<!ENTITY x SYSTEM "file://{__file__}">]>'
    assert "EPUB books become" not in "".join(paragraphs("<p>a &x; b</p>", secret))


def test_html_that_is_not_well_formed_is_read() -> None:
    body = "<p>First <br>line<p>Second <a id='x'/>line</p>"
    assert paragraphs(body) == ["First\nline", "Second line"]


def test_a_generated_list_of_chapters_is_no_text() -> None:
    body = (
        '<nav epub:type="toc"><ol><li><a href="#e">The End</a></li></ol></nav><p>A.</p>'
    )
    assert paragraphs(body) == ["A."]


def test_a_missing_file_of_the_book_is_a_warning() -> None:
    book = read(build_epub({**LANTERNS, "three": "<p>Gone.</p>"}))
    assert book.outline.warnings == ()
    files = {"META-INF/container.xml": CONTAINER, "OPS/book.opf": package_with_ghost()}
    files["OPS/one.xhtml"] = "<html><body><p>Here.</p></body></html>"
    document = parse(pack_files(files))
    assert document.warnings == (
        "OPS/ghost.xhtml is missing or damaged; its text is left out.",
    )


def package_with_ghost() -> str:
    items = "".join(
        f'<item id="{name}" href="{name}.xhtml" media-type="application/xhtml+xml"/>'
        for name in ("one", "ghost")
    )
    return (
        f"<package><metadata/><manifest>{items}</manifest>"
        '<spine><itemref idref="one"/><itemref idref="ghost"/></spine></package>'
    )


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"plain text", "book.epub is not an e-book in EPUB format"),
        (b"PK\x03\x04broken", "book.epub is damaged"),
        (build_epub()[:-200], "book.epub is damaged"),
        (pack_files({"a": "b"}), "it lacks META-INF/container.xml"),
        (pack_files({"META-INF/container.xml": CONTAINER}), "it lacks OPS/book.opf"),
        (pack_files({"META-INF/container.xml": "<a/>"}), "names no package"),
        (pack_files({"META-INF/container.xml": b"<\0a/>"}), "book.epub is damaged"),
        (build_epub({"one": "<p> </p>"}), "book.epub has no text"),
        (build_epub({"one": '<img alt="page 1"/>'}), "book.epub has no text"),
        (build_epub({"one": f"<p>{'a' * 9_000_000}</p>"}), "too large when unpacked"),
    ],
)
def test_what_is_no_readable_book_is_refused_with_a_reason(
    content: bytes, reason: str
) -> None:
    assert reason in refusal(content)


@pytest.mark.parametrize(
    ("algorithm", "is_protected"),
    [
        ("http://www.w3.org/2001/04/xmlenc#aes256-cbc", True),
        ("http://ns.adobe.com/adept/xmlenc#aes128-cbc", True),
        ("http://www.idpf.org/2008/embedding", False),
    ],
)
def test_drm_is_refused_and_obfuscated_fonts_are_not(
    algorithm: str, is_protected: bool
) -> None:
    extra = {"META-INF/encryption.xml": ENCRYPTED.format(algorithm)}
    content = build_epub(extra=extra)
    if is_protected:
        assert "protected with DRM" in refusal(content)
    else:
        assert parse(content).words
