import pytest

from lrwr.core.model.errors import UnreadableDocument
from tests.unit.source.pages import parse

STORY = "“Café,” she said.\nÅsa naïve.\n"


@pytest.mark.parametrize(
    "encoding",
    ["utf-8", "utf-8-sig", "utf-16", "utf-32"],
)
def test_unicode_files_read_the_same_whatever_their_form(encoding: str) -> None:
    document = parse(STORY.encode(encoding), "a.txt")
    assert document.text == STORY
    assert document.warnings == ()


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf_16_without_a_mark_is_a_guess_and_said_to_be(encoding: str) -> None:
    document = parse(STORY.encode(encoding), "a.txt")
    assert document.text == STORY
    assert document.warnings == ("Read as UTF-16, although it has no byte order mark.",)


def test_lines_of_different_encodings_are_each_read_as_what_they_are() -> None:
    pasted = "“Encore à l’été,” dit-elle.\n"
    document = parse(STORY.encode() + pasted.encode("cp1252"), "a.txt")
    assert document.text == STORY + pasted
    assert document.warnings == (
        "Some lines are UTF-8 and others Windows-1252; each is decoded separately.",
    )


@pytest.mark.parametrize(
    ("content", "text", "warning"),
    [
        (STORY.encode("cp1252"), STORY, "Read as Windows-1252"),
        (b"caf\xe9 \x81", "café \x81", "Read as Latin-1"),
        (("“é” " * 9).encode() + b"\xff", "“é” " * 9 + "�", "not UTF-8"),
        (b"\xef\xbb\xbfa\xff", "a�", "not UTF-8"),
        ("a".encode("utf-16") + b"b", "a�", "not UTF-16"),
    ],
)
def test_other_bytes_are_read_as_well_as_can_be_and_said(
    content: bytes, text: str, warning: str
) -> None:
    document = parse(content, "a.txt")
    assert document.text == text
    assert warning in document.warnings[0]


def test_lines_are_those_of_an_editor() -> None:
    document = parse(b"one\r\ntwo\rthree\nfour\x0bfour\x0cfour", "a.txt")
    assert document.text == "one\ntwo\nthree\nfour\x0bfour\x0cfour"
    assert document.lines.line_of(len(document.text) - 1) == 4


def test_letters_and_their_accents_become_one() -> None:
    assert parse("cafe\u0301").text == "café"


@pytest.mark.parametrize("content", [b"", b"\xef\xbb\xbf", b" \n\n", b"\xff\xfe"])
@pytest.mark.parametrize("name", ["a.md", "a.txt"])
def test_an_empty_file_is_an_empty_document(content: bytes, name: str) -> None:
    document = parse(content, name)
    assert (document.chapters, document.words) == ((), 0)
    assert document.warnings == ("The file is empty.",)


@pytest.mark.parametrize(
    "content",
    [
        b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR",
        b"PK\x03\x04\x14\0\0\0 story",
        b"text with one \0 in it",
        b"\x01\x02\x03\xff" * 50,
        b"a\0b\0\0\0",
        b"\xff\xfea\0\0\0",
    ],
)
@pytest.mark.parametrize("name", ["a.md", "a.txt"])
def test_bytes_that_are_no_text_are_refused(content: bytes, name: str) -> None:
    with pytest.raises(UnreadableDocument, match="is not a text file") as caught:
        parse(content, name)
    assert caught.value.hint
