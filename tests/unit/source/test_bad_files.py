import io
import random
import struct
import zipfile
from collections.abc import Callable

import pytest

from lrwr.core.adapters.source import docx_text
from lrwr.core.adapters.source.parser import ManuscriptParser, parse_document
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.errors import ExitCode, UnreadableDocument
from tests.fakes.suite import examples
from tests.unit.source.pages import check_promises, parse
from tests.unit.source.word_files import changed, paragraphs, with_notes, zipped

GOOD = paragraphs("Chapter 1", "It rose.", "It fell.")
OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 600


def with_part(name: str, xml: bytes) -> bytes:
    return changed(GOOD, lambda parts: parts.__setitem__(name, xml))


def without(name: str) -> bytes:
    return changed(GOOD, lambda parts: parts.pop(name))


def with_flag_of_a_password() -> bytes:
    content = bytearray(GOOD)
    at = content.index(b"PK\x01\x02")
    content[at + 8] |= 1
    return bytes(content)


def with_lying_size() -> bytes:
    """A part that says it is small and unpacks to 300 MB."""
    content = bytearray(zipped({"word/document.xml": bytes(300_000_000)}))
    for mark, offset in ((b"PK\x01\x02", 24), (b"PK\x03\x04", 22)):
        struct.pack_into("<I", content, content.index(mark) + offset, 1000)
    return bytes(content)


def with_entities() -> bytes:
    bomb = b'<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]>'
    return changed(
        GOOD,
        lambda parts: parts.__setitem__(
            "word/document.xml", bomb + parts["word/document.xml"]
        ),
    )


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: b"Once upon a time", "is not a Word document"),
        (lambda: b"{\\rtf1 Once}", "is not a Word document"),
        (lambda: OLE, "old format"),
        (lambda: OLE + "EncryptedPackage".encode("utf-16-le"), "password"),
        (with_flag_of_a_password, "password"),
        (lambda: GOOD[:2000], "is damaged"),
        (lambda: b"PK\x03\x04", "is damaged"),
        (lambda: zipped({}), "is damaged"),
        (lambda: zipped({"a.txt": b"x"}), "is damaged"),
        (lambda: without("word/document.xml"), "is damaged"),
        (lambda: without("[Content_Types].xml"), "is damaged"),
        (lambda: with_part("word/document.xml", b"<w:document>"), "is damaged"),
        (lambda: with_part("word/document.xml", b"<a/>"), "is damaged"),
        (lambda: with_part("word/document.xml", b"<a>" * 5000), "is damaged"),
        (lambda: with_part("word/styles.xml", b"<w:styles"), "is damaged"),
        (lambda: with_notes(GOOD, "footnote", {1: "<oops"}), "is damaged"),
        (lambda: with_part("word/document.xml", "<a/>".encode("utf-16")), "is damaged"),
        (with_entities, "for security"),
        (with_lying_size, "is damaged"),
        (
            lambda: with_part("word/document.xml", bytes(30_000_000)),
            "too large when unpacked",
        ),
        (
            lambda: with_part("word/media/a.png", bytes(300_000_000)),
            "too large when unpacked",
        ),
    ],
)
def test_a_bad_word_file_gets_one_sentence_and_one_hint(
    make: Callable[[], bytes], message: str
) -> None:
    with pytest.raises(UnreadableDocument, match=message) as caught:
        parse(make(), "drafts/fog.docx")
    assert str(caught.value).startswith("fog.docx ")
    assert caught.value.hint.endswith(".")
    assert caught.value.exit_code is ExitCode.UNREADABLE


def test_unpacking_stops_at_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(docx_text, "XML_LIMIT", 10_000)
    with pytest.raises(UnreadableDocument, match="too large when unpacked"):
        parse(GOOD, "fog.docx")


def test_pictures_are_never_unpacked() -> None:
    with zipfile.ZipFile(io.BytesIO(GOOD)) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
        archive.writestr("word/media/a.png", random.Random(1).randbytes(1000))
    content = out.getvalue()
    damaged = bytearray(content)
    damaged[content.index(b"word/media/a.png") + 40] ^= 255
    assert parse(bytes(damaged), "fog.docx").text.endswith("It fell.")


def test_a_text_larger_than_the_limit_is_refused() -> None:
    parser = ManuscriptParser(text_limit=1024 * 1024)
    with pytest.raises(UnreadableDocument, match=r"fog\.txt is larger than 1 MB") as no:
        parser(DocumentId("fog.txt"), b"x" * (1024 * 1024 + 1))
    assert "Split" in no.value.hint


def test_an_unknown_ending_is_refused() -> None:
    with pytest.raises(UnreadableDocument, match=r"fog\.odt"):
        parse(b"x", "fog.odt")


def test_the_parser_names_its_version_and_forgets_everything() -> None:
    parser = ManuscriptParser()
    assert parser.revision() == ManuscriptParser().revision() != ""
    assert parser(DocumentId("a.docx"), GOOD) == parser(DocumentId("a.docx"), GOOD)


MARKDOWN = "---\ntitle: Fog\n---\n# Café\n\n%%a%% x\n\n***\n\n```\ny\n```\n".encode()


@pytest.mark.parametrize(
    ("name", "content", "rounds"),
    [("a.docx", GOOD, 700), ("a.md", MARKDOWN, 700), ("a.txt", MARKDOWN, 600)],
)
def test_no_damage_ends_in_a_traceback(name: str, content: bytes, rounds: int) -> None:
    chance = random.Random(7)
    for _ in range(examples(rounds)):
        damaged = bytearray(content)
        for _ in range(chance.choice((1, 3, 20))):
            damaged[chance.randrange(len(damaged))] = chance.randrange(256)
        if chance.random() < 0.2:
            del damaged[chance.randrange(len(damaged)) :]
        try:
            document = parse_document(DocumentId(name), bytes(damaged))
        except UnreadableDocument as error:
            assert error.hint
        else:
            if not document.text.startswith("---"):
                check_promises(document)


def test_no_damage_to_the_xml_ends_in_a_traceback() -> None:
    chance = random.Random(11)
    with zipfile.ZipFile(io.BytesIO(with_notes(GOOD, "footnote", {1: "x"}))) as archive:
        parts = {n: archive.read(n) for n in archive.namelist() if "theme" not in n}
    parts["word/styles.xml"] = parts["word/styles.xml"][:0] or b"<styles/>"
    names = [n for n in parts if n.endswith((".rels", ".xml"))]
    for _ in range(examples(300)):
        name = chance.choice(names)
        damaged = bytearray(parts[name])
        damaged[chance.randrange(len(damaged))] = chance.choice(b'<>/"= aw:0')
        try:
            check_promises(parse(zipped({**parts, name: bytes(damaged)}), "a.docx"))
        except UnreadableDocument as error:
            assert error.hint
