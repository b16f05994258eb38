"""Quotation marks: which ones a document uses, and what stands between them."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from lrwr.core.model.text import Span


class Style(StrEnum):
    """The marks around what is said."""

    DOUBLE = "double"
    """“Come in,” or "Come in,"."""
    SINGLE = "single"
    """‘Come in,’ or 'Come in,'."""
    DASH = "dash"
    """— Come in, said Nell."""


@dataclass(frozen=True, slots=True)
class Piece:
    """Words between an opening and a closing mark, inside one paragraph.

    `goes_on` says that the piece before it, of an earlier paragraph, was not closed,
    and this one opens again: the same speech.
    """

    span: Span
    paragraph: Span
    goes_on: bool = False


_FIRST_CHARACTERS = 3
_AT_START = 3
_OPENS_AFTER = " \n\t—–-([{*_>…"
_DOUBLE = re.compile(r"[“”„\"]")
_SINGLE_OPENS = re.compile(
    r"(?:(?<=[\s—–\-(\[*_>])|\A)(?:‘(?=\w)|'(?=\w)"
    r"(?!(?i:tis|twas|twere|twill|twould|em|cause|bout|round|til|till|ere|im|er|is|un|"
    r"cos|neath|gainst|n)\b))"
)
_DASH_OPENS = re.compile(r"(?:—|–|―|--|- )\s*(?=[^\W\d_a-z]|[“‘’']?[^\W\d_a-z])")
_SINGLE = re.compile(r"[‘’']")
_ENDS_SPEECH = re.compile(r"[.,!?;:…—–-][*_]*$")
_MARKUP = " \t>*_#—–-"


def tell_style(text: str, paragraphs: Sequence[Span]) -> Style:
    """Tell which marks stand around speech; those that open paragraphs weigh most."""
    weights = dict.fromkeys(Style, 0)
    for paragraph in paragraphs:
        first = _opening(text, paragraph)
        if first is not None:
            weights[first] += _AT_START
    for paragraph in paragraphs:
        words = text[paragraph.start : paragraph.end]
        weights[Style.DOUBLE] += words.count("“") + words.count('"') // 2
        if "‘" in words or "'" in words:
            weights[Style.SINGLE] += len(_SINGLE_OPENS.findall(words))
    return max(Style, key=lambda style: weights[style])


def _opening(text: str, paragraph: Span) -> Style | None:
    if _DASH_OPENS.match(text, paragraph.start, paragraph.end):
        return Style.DASH
    start = paragraph.start
    while start < paragraph.end and text[start] in _MARKUP:
        start += 1
    if _DOUBLE.match(text, start, paragraph.end):
        return Style.DOUBLE
    if _SINGLE_OPENS.match(text[start : start + _FIRST_CHARACTERS + 5]):
        return Style.SINGLE
    return None


def find_pieces(text: str, paragraphs: Sequence[Span], style: Style) -> Iterator[Piece]:
    """Yield what stands between double or single marks, in order."""
    left_open = False
    for paragraph in paragraphs:
        marks = _double_marks if style is Style.DOUBLE else _single_marks
        pieces, closed = _pieces(text, paragraph, marks(text, paragraph))
        for number, span in enumerate(pieces):
            at_start = not text[paragraph.start : span.start - 1].strip(_MARKUP)
            goes_on = left_open and number == 0 and at_start
            yield Piece(span, paragraph, goes_on)
        left_open = bool(pieces) and not closed


def _pieces(
    text: str, paragraph: Span, marks: Iterator[tuple[int, bool]]
) -> tuple[list[Span], bool]:
    """Pair the marks of one paragraph; False: the last one stays open."""
    found: list[Span] = []
    start: int | None = None
    for at, opens in marks:
        if opens and start is not None:
            found.append(_trimmed(text, start, at))  # the closing mark was forgotten
        elif not opens and start is not None:
            found.append(Span(start, at))
        start = at + 1 if opens else None
    if start is not None and start < paragraph.end:
        found.append(_trimmed(text, start, paragraph.end))
    return [span for span in found if len(span)], start is None


def _trimmed(text: str, start: int, end: int) -> Span:
    return Span(start, start + len(text[start:end].rstrip()))


def _double_marks(text: str, paragraph: Span) -> Iterator[tuple[int, bool]]:
    """Yield where double marks stand, and whether each opens."""
    is_open = False
    for match in _DOUBLE.finditer(text, paragraph.start, paragraph.end):
        at, mark = match.start(), match.group()
        opens = (
            mark in "“„"
            if mark != '"'
            else _straight_opens(text, at, paragraph, is_open=is_open)
        )
        if mark == "“" and is_open:
            continue  # a quotation inside the quotation
        if not opens and not is_open:
            continue  # inches, ditto
        yield at, opens
        is_open = opens


def _straight_opens(text: str, at: int, paragraph: Span, *, is_open: bool) -> bool:
    before = text[at - 1] if at > paragraph.start else " "
    after = text[at + 1] if at + 1 < paragraph.end else " "
    could_open = before in _OPENS_AFTER and not after.isspace()
    could_close = not before.isspace() and not after.isalnum()
    if could_open and not could_close:
        return True
    if could_close and not could_open:
        return False
    return not is_open


def _single_marks(text: str, paragraph: Span) -> Iterator[tuple[int, bool]]:
    """Yield where single marks stand, apostrophes left out, and whether each opens."""
    is_open = False
    matches = list(_SINGLE.finditer(text, paragraph.start, paragraph.end))
    for match in matches:
        at = match.start()
        if not is_open:
            if _single_opens(text, at, paragraph):
                is_open = True
                yield at, True
        elif _single_closes(text, at, paragraph):
            is_open = False
            yield at, False


def _single_opens(text: str, at: int, paragraph: Span) -> bool:
    if at > paragraph.start:
        return bool(_SINGLE_OPENS.match(text[at - 1 : at + 10], 1))
    if _SINGLE_OPENS.match(text[at : at + 10]):
        return True
    return text[at] == "'" and _closes_later(text, at + 1, paragraph)


def _single_closes(text: str, at: int, paragraph: Span) -> bool:
    """Tell a closing mark from an apostrophe: boys’, runnin’, don’t, ’em."""
    if text[at] == "‘":
        return False
    before = text[at - 1]
    after = text[at + 1] if at + 1 < paragraph.end else " "
    if before.isspace() or after.isalnum():
        return False
    if not before.isalnum():
        return True
    return not _closes_later(text, at + 1, paragraph)


def _closes_later(text: str, start: int, paragraph: Span) -> bool:
    """Say whether a surer closing mark follows before the next opening one."""
    for match in _SINGLE.finditer(text, start, paragraph.end):
        at = match.start()
        if _single_opens(text, at, paragraph):
            return False
        after = text[at + 1] if at + 1 < paragraph.end else " "
        if _ENDS_SPEECH.search(text[max(start, at - 3) : at]) and not after.isalnum():
            return True
    return False
