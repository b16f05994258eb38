"""Gaps marked by the author: TODO, TK, ???, [name?], and open questions in notes."""

import re
from collections.abc import Iterator

from lrwr.core.model.documents import Document
from lrwr.core.model.facts import (
    RULES_KEEPER,
    WRITER_KEEPER,
    Certainty,
    Fact,
    FactAbout,
)
from lrwr.core.model.text import Span

_ASKS = (
    r"describe|name|check|insert|add|fix|find out|look up|research|expand|decide|date|"
    r"confirm|rewrite|missing|unclear|which|who|what|when|where|how|why|more here|"
    r"something|scene|verify|age|todo|tbd|tk"
)
# [bracketed request or question], HTML or Obsidian comment, TODO-like word, ???
_MARKED = re.compile(
    r"(?P<bracket>\[(?![ xX]\])(?!\[)(?:(?:" + _ASKS + r")\b[^\][\n]{0,200}"
    r"|[^\][\n]{0,200}\?)\](?![(\[:\]]))"
    r"|(?P<note><!--.*?-->|%%.*?%%)"
    r"|(?<![\w-])(?P<mark>TODO|TBD|TBC|FIXME|TK(?:TK)*|"
    r"XXX+)(?![\w-])(?P<rest>[^\n.!?%<\]]*[?!]?)"
    r"|(?<![?!\w])(?P<asked>\?{3,})",
    re.S | re.I,
)
# Quick check that a text may contain a marker at all
_SIGN = re.compile(r"\[|<!--|%%|\?\?\?|XXX|TODO|TB[DC]|TK|FIXME")
_UPPER = re.compile(r"TODO|TBD|TBC|FIXME|TK(?:TK)*|XXX+")
# What precedes a Roman numeral in a heading, such as "Chapter "
_NUMBERED = re.compile(r"[\s#*_]*(?:(?:chapter|book|part|canto|letter)[\s:.]*)?", re.I)
_SAYS_MORE = re.compile(r"[:!?]|[ \t]+[a-z]{2}")
_OPEN = re.compile(
    r"\?|(?-i:\b(?:TODO|TBD|TBC|FIXME|TK|XXX)\b)|\b(?:undecided|not decided|haven't decided|"
    r"have not decided|decide|not sure|don't know|do not know|need to know|to be decided|"
    r"work out|figure out|describe|check|find out|look up|research|name)\b",
    re.I,
)
_OPEN_LINE = re.compile(
    r"(?:\*\*)?\b(?:Open|Undecided|TBD|To decide|To be decided|Unknown|Open question)s?\b"
    r"(?: [\w ]{1,20})?:(?:\*\*)?[ ]*(?P<what>[^\n]+)"
    r"|(?P<not>I (?:have not|haven't|have not yet) decided [^.\n]+)",
)
_NEAR = 90
"""Maximum characters between a marker and the name it is about."""


def find_marked_gaps(text: str, known_names: tuple[str, ...] = ()) -> Iterator[Fact]:
    """Yield a gap for each TODO, TK, ???, [name?] and comment of `text` that leaves
    something undecided, in text order; all are verified.

    The gap's subject is the nearest of `known_names` on the same line, or empty; its
    value is the marked words.
    """
    for match in _MARKED.finditer(text) if _SIGN.search(text) else ():
        if _is_marked(match):
            mark = Span(*match.span("mark" if match["mark"] else 0))
            subject = _nearest_name(text, mark, known_names)
            yield _build_gap(
                text, _trim_marker(match), subject, RULES_KEEPER, Certainty.VERIFIED
            )


def find_note_gaps(document: Document) -> Iterator[Fact]:
    """Yield a gap for each author's comment of `document` that leaves something
    undecided, such as "TODO" or a question, in text order.

    All are confirmed and have no subject; the value is the text of the comment.
    """
    for span in document.notes:
        words = document.text[span.start : span.end]
        if _OPEN.search(words):
            yield _build_gap(
                document.text, span, "", WRITER_KEEPER, Certainty.CONFIRMED
            )


def find_open_questions(text: str, subject: str, start: int = 0) -> Iterator[Fact]:
    """Yield a gap for each "Open: …" and "I have not decided …" of a note about
    `subject`.

    The search begins at offset `start`; spans refer to `text`.
    """
    for match in _OPEN_LINE.finditer(text, start):
        yield Fact(
            FactAbout.GAP,
            subject,
            "open",
            " ".join(match.group().split()),
            (Span(*match.span()),),
            WRITER_KEEPER,
            Certainty.CONFIRMED,
        )


def _is_marked(match: re.Match[str]) -> bool:
    if match["note"]:
        return bool(_OPEN.search(match["note"]))
    if not match["mark"]:
        return True
    return bool(_UPPER.fullmatch(match["mark"])) and not _is_roman_numeral(match)


def _is_roman_numeral(match: re.Match[str]) -> bool:
    """Return whether "XXX" is a chapter number, not a marker."""
    if match["mark"] != "XXX":
        return False
    text = match.string
    line = text[text.rfind("\n", 0, match.start()) + 1 : match.start()]
    if line.lstrip().startswith("#"):
        return True  # "# Chapter 30: XXX"
    return bool(_NUMBERED.fullmatch(line)) and not _SAYS_MORE.match(match["rest"])


def _trim_marker(match: re.Match[str]) -> Span:
    words = match.group()
    return Span(match.start(), match.start() + len(words.rstrip(" ,;:*_")))


def _build_gap(
    text: str, span: Span, subject: str, keeper: str, certainty: Certainty
) -> Fact:
    words = text[span.start : span.end]
    value = " ".join(re.sub(r"<!--|-->|%%|[\][]", " ", words).split())
    return Fact(FactAbout.GAP, subject, "marked", value, (span,), keeper, certainty)


def _nearest_name(text: str, span: Span, known_names: tuple[str, ...]) -> str:
    """Return the known name nearest to `span` on its line; one inside it is nearest."""
    start = max(text.rfind("\n", 0, span.start) + 1, span.start - _NEAR)
    end = text.find("\n", span.end)
    end = min(end if end >= 0 else len(text), span.end + _NEAR)
    best, least = "", _NEAR + 1
    for name in known_names:
        for match in re.finditer(rf"(?<!\w){re.escape(name)}(?!\w)", text[start:end]):
            name_start, name_end = start + match.start(), start + match.end()
            away = max(span.start - name_end, name_start - span.end, 0)
            if away < least:
                best, least = name, away
    return best
