"""Plain text: chapters and scenes told by their words alone."""

import codecs
import re
import unicodedata
from collections.abc import Iterator

from lrwr.core.adapters.source.layout import (
    DocumentLayout,
    find_scene_breaks,
    find_unmarked_headings,
)
from lrwr.core.model.errors import UnreadableDocument
from lrwr.core.model.text import LineIndex, Span

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_CONTROLS = bytes(set(range(32)) - set(b"\t\n\v\f\r\x1a\x1b"))
_CONTROL_SHARE = 0.01
_SAMPLE = 65_536
_SHOWN_AS_HOLES = "Some bytes are not UTF-8; they are shown as �."
_BY_LINE = "Some lines are UTF-8, others Windows-1252; each is read as what it is."


def canonicalize_text(text: str) -> str:
    """Return `text` in NFC, its lines ended by `\\n`."""
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def decode_text(content: bytes, name: str) -> tuple[str, tuple[str, ...]]:
    """Return canonical text, and a warning where the encoding had to be guessed.

    Raises:
        UnreadableDocument: The bytes are no text.
    """
    for mark, encoding in _MARKS:
        if content.startswith(mark):
            text, warnings = _marked(content[len(mark) :], encoding)
            break
    else:
        text, warnings = _unmarked(content, name)
    if "\0" in text:
        raise _no_text(name)
    return canonicalize_text(text), warnings


def _marked(content: bytes, encoding: str) -> tuple[str, tuple[str, ...]]:
    try:
        return content.decode(encoding), ()
    except UnicodeDecodeError:
        return content.decode(encoding, errors="replace"), (
            f"Some bytes are not {encoding.upper()}; they are shown as �.",
        )


def _unmarked(content: bytes, name: str) -> tuple[str, tuple[str, ...]]:
    if b"\0" in content:
        return _wide(content, name), ("Read as UTF-16: its first bytes do not say so.",)
    try:
        return content.decode(), ()
    except UnicodeDecodeError:
        pass
    sample = content[:_SAMPLE]
    controls = len(sample) - len(sample.translate(None, _CONTROLS))
    if controls > _CONTROL_SHARE * len(sample):
        raise _no_text(name)
    lines = content.splitlines(keepends=True)
    if not any(map(_holds_utf8, lines)) and not _is_mostly_utf8(content):
        return _western(content)
    text = "".join(map(_line, lines))
    return text, (_SHOWN_AS_HOLES if "�" in text else _BY_LINE,)


def _is_mostly_utf8(content: bytes) -> bool:
    """Say whether at least two in three of the letters beyond ASCII are UTF-8."""
    patched = content.decode(errors="replace")
    foreign = len(patched) - len(patched.encode("ascii", errors="ignore"))
    return foreign > 3 * patched.count("�")


def _holds_utf8(line: bytes) -> bool:
    try:
        return not line.isascii() and bool(line.decode())
    except UnicodeDecodeError:
        return False


def _line(line: bytes) -> str:
    if line.isascii() or _holds_utf8(line):
        return line.decode()
    return line.decode(errors="replace") if _is_mostly_utf8(line) else _western(line)[0]


def _western(content: bytes) -> tuple[str, tuple[str, ...]]:
    try:
        return content.decode("cp1252"), ("Read as Windows-1252: it is not UTF-8.",)
    except UnicodeDecodeError:
        return content.decode("latin-1"), ("Read as Latin-1: it is not UTF-8.",)


def _wide(content: bytes, name: str) -> str:
    """Read UTF-16 without a mark: its zero bytes are all on one side."""
    even, odd = content[::2].count(0), content[1::2].count(0)
    encoding = "utf-16-le" if odd > even else "utf-16-be"
    few, many = sorted((even, odd))
    if few > many // 50 or 10 * many < len(content):
        raise _no_text(name)
    try:
        return content.decode(encoding)
    except UnicodeDecodeError as error:
        raise _no_text(name) from error


def _no_text(name: str) -> UnreadableDocument:
    return UnreadableDocument(
        f"{name} is not text: it holds bytes that no text has",
        hint="Save it again as plain text (UTF-8), or as .docx or .md.",
    )


def parse_plain_text(content: bytes, name: str) -> DocumentLayout:
    """Read a `.txt` file; the canonical text is the whole file as decoded.

    Raises:
        UnreadableDocument: The bytes are no text.
    """
    text, warnings = decode_text(content, name)
    return DocumentLayout(
        text=text,
        lines=LineIndex.of(text),
        body=Span(0, len(text)),
        headings=find_unmarked_headings(find_text_blocks(text)),
        breaks=tuple(_line_from(text, at) for at in find_scene_breaks(text)),
        warnings=warnings,
    )


def find_text_blocks(text: str) -> Iterator[tuple[Span, str]]:
    """Yield the stretches of lines between empty lines, trimmed."""
    for match in re.finditer(r"\S[^\n]*(?:\n[ \t]*\S[^\n]*)*", text):
        block = match[0].rstrip()
        yield Span(match.start(), match.start() + len(block)), block


def _line_from(text: str, at: int) -> Span:
    end = text.find("\n", at)
    line = text[at:] if end < 0 else text[at:end]
    return Span(at, at + len(line.rstrip()))


_PARAGRAPH = re.compile(r"\S(?:.*?)(?=\n[^\S\n]*\n|\n#|\Z)", re.DOTALL)
"""A run of text without an empty line; a heading ends it too."""


def find_sentence_spans(text: str) -> list[Span]:
    """Return where each sentence of `text` stands, in order, without white space.

    No sentence crosses an empty line, and a heading is one of its own.
    """
    from nupunkt import sent_spans

    spans = []
    for paragraph in _PARAGRAPH.finditer(text):
        for start, end in sent_spans(paragraph.group()):
            inner = paragraph.group()[start:end]
            sentence_start = (
                paragraph.start() + start + len(inner) - len(inner.lstrip())
            )
            sentence_end = paragraph.start() + start + len(inner.rstrip())
            if sentence_end > sentence_start:
                spans.append(Span(sentence_start, sentence_end))
    return spans
