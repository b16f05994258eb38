"""Plain text: decoding, paragraphs, sentences, and the layout of `.txt` files."""

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
from lrwr.core.model.text import LineIndex, Span, find_merge_conflict

_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
# Control bytes other than tab, line ends, form feed, end of file and escape.
_CONTROL_BYTES = bytes(set(range(32)) - set(b"\t\n\v\f\r\x1a\x1b"))
_MAX_CONTROL_SHARE = 0.01
"""Share of control bytes above which a file is not text."""

_SAMPLE_BYTES = 65_536
_SHOWN_AS_HOLES = "Some bytes are not UTF-8; they appear as �."
_BY_LINE = "Some lines are UTF-8 and others Windows-1252; each is decoded separately."


def canonicalize_text(text: str) -> str:
    r"""Return `text` in Unicode NFC, with `\n` at the end of each line."""
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def decode_text(content: bytes, name: str) -> tuple[str, tuple[str, ...]]:
    """Return the text in `content`, and warnings about a guessed encoding or invalid
    bytes.

    Warnings are sentences for the user. The text is canonical (see
    `canonicalize_text`). Byte order marks, UTF-8, UTF-16, Windows-1252 and Latin-1 are
    tried, in this order. `name` is the file's name in error messages.

    Raises:
        UnreadableDocument: The bytes are not text.
    """
    for mark, encoding in _BYTE_ORDER_MARKS:
        if content.startswith(mark):
            text, warnings = _decode_marked(content[len(mark) :], encoding)
            break
    else:
        text, warnings = _decode_unmarked(content, name)
    if "\0" in text:
        raise _not_text_error(name)
    return canonicalize_text(text), warnings


def _decode_marked(content: bytes, encoding: str) -> tuple[str, tuple[str, ...]]:
    try:
        return content.decode(encoding), ()
    except UnicodeDecodeError:
        return content.decode(encoding, errors="replace"), (
            f"Some bytes are not {encoding.upper()}; they appear as �.",
        )


def _decode_unmarked(content: bytes, name: str) -> tuple[str, tuple[str, ...]]:
    if b"\0" in content:
        return _decode_utf16(content, name), (
            "Read as UTF-16, although it has no byte order mark.",
        )
    try:
        return content.decode(), ()
    except UnicodeDecodeError:
        pass
    sample = content[:_SAMPLE_BYTES]
    controls = len(sample) - len(sample.translate(None, _CONTROL_BYTES))
    if controls > _MAX_CONTROL_SHARE * len(sample):
        raise _not_text_error(name)
    lines = content.splitlines(keepends=True)
    if not any(map(_holds_utf8, lines)) and not _is_mostly_utf8(content):
        return _decode_western(content)
    text = "".join(map(_decode_line, lines))
    return text, (_SHOWN_AS_HOLES if "�" in text else _BY_LINE,)


def _is_mostly_utf8(content: bytes) -> bool:
    """Return whether at least two thirds of the characters beyond ASCII are valid
    UTF-8.
    """
    patched = content.decode(errors="replace")
    foreign = len(patched) - len(patched.encode("ascii", errors="ignore"))
    return foreign > 3 * patched.count("�")


def _holds_utf8(line: bytes) -> bool:
    try:
        return not line.isascii() and bool(line.decode())
    except UnicodeDecodeError:
        return False


def _decode_line(line: bytes) -> str:
    if line.isascii() or _holds_utf8(line):
        return line.decode()
    return (
        line.decode(errors="replace")
        if _is_mostly_utf8(line)
        else _decode_western(line)[0]
    )


def _decode_western(content: bytes) -> tuple[str, tuple[str, ...]]:
    try:
        return content.decode("cp1252"), (
            "Read as Windows-1252, because it is not UTF-8.",
        )
    except UnicodeDecodeError:
        return content.decode("latin-1"), ("Read as Latin-1, because it is not UTF-8.",)


def _decode_utf16(content: bytes, name: str) -> str:
    """Decode UTF-16 without a byte order mark: its zero bytes are all on one side."""
    even, odd = content[::2].count(0), content[1::2].count(0)
    encoding = "utf-16-le" if odd > even else "utf-16-be"
    few, many = sorted((even, odd))
    # Western text in UTF-16 has a zero in almost every second byte, on one side only.
    if few > many // 50 or 10 * many < len(content):
        raise _not_text_error(name)
    try:
        return content.decode(encoding)
    except UnicodeDecodeError as error:
        raise _not_text_error(name) from error


def _not_text_error(name: str) -> UnreadableDocument:
    return UnreadableDocument(
        f"{name} is not a text file: it contains binary data",
        hint="Save it again as plain text (UTF-8), or as .docx or .md.",
    )


def parse_plain_text(content: bytes, name: str) -> DocumentLayout:
    """Parse the bytes of a text file; `name` is its name in error messages.

    The text of the layout is the whole decoded file.

    Raises:
        UnreadableDocument: The bytes are not text, or have git conflict markers.
    """
    text, warnings = decode_text(content, name)
    check_merge_markers(text, name)
    return DocumentLayout(
        text=text,
        lines=LineIndex.of(text),
        body=Span(0, len(text)),
        headings=find_unmarked_headings(find_text_blocks(text)),
        breaks=tuple(_line_span(text, at) for at in find_scene_breaks(text)),
        warnings=warnings,
    )


def check_merge_markers(text: str, name: str) -> None:
    """Raise an error if `text` has a conflict that git left in the file called `name`.

    Raises:
        UnreadableDocument: There is a conflict; the message says in which line.
    """
    line = find_merge_conflict(text)
    if line is not None:
        raise UnreadableDocument(
            f"{name} has git conflict markers (line {line})",
            hint="Resolve the conflict and save the file; until then lrwr keeps what it"
            " has read before.",
        )


def find_text_blocks(text: str) -> Iterator[tuple[Span, str]]:
    """Yield the span and text of each paragraph, in text order, trimmed.

    Empty lines separate paragraphs.
    """
    for match in re.finditer(r"\S[^\n]*(?:\n[ \t]*\S[^\n]*)*", text):
        block = match[0].rstrip()
        yield Span(match.start(), match.start() + len(block)), block


def _line_span(text: str, at: int) -> Span:
    end = text.find("\n", at)
    line = text[at:] if end < 0 else text[at:end]
    return Span(at, at + len(line.rstrip()))


_PARAGRAPH = re.compile(r"\S(?:.*?)(?=\n[^\S\n]*\n|\n#|\Z)", re.DOTALL)
"""Text up to the next empty line or heading, where every sentence ends."""


def find_sentence_spans(text: str) -> list[Span]:
    """Return the spans of sentences, in text order, without white space around them.

    No sentence crosses an empty line, and a line that begins with `#` starts a new one.
    Uses nupunkt, which knows abbreviations such as "Mr."
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
