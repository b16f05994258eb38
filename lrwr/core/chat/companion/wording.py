"""How a fact and the words it rests on are written in a line of an answer."""

import re
from collections.abc import Sequence

from lrwr.core.chat.answering.citing import same_words
from lrwr.core.chat.finding.material import UNNAMED, Facet, Piece
from lrwr.core.english.noted import plain
from lrwr.core.model.turns import Citation
from lrwr.core.model.words import content_words

SHOWN = 240
"""Characters of the words of a fact that are shown beside it; its number has all."""

LABEL = 4
"""Words of a label at most: what has more is a sentence of the writer's notes."""

_LISTED = re.compile(r"^[ \t]*(?:[-*+•]|\d{1,3}[.)])[ \t]+", re.MULTILINE)
_BOLD = re.compile(r"\*\*([^*\n]{1,60}:?)\*\*")
_QUOTATION = re.compile(r"^[ \t]*(?:>[ \t]?)+", re.MULTILINE)
_LEAD = re.compile(r"\A\W*\*\*[^*\n]{1,60}:[ \t]*\*\*[ \t]*|\A\W*\*\*[^*\n]{1,60}\*\*:")
"""The bold label that a line of a note begins with: `- **Values:**`."""


def fact_in_words(piece: Piece, found: Sequence[Citation]) -> str:
    """Return a fact, and its words in quotation marks where they say more than it.

    What is not quoted has no marks of links and emphasis: the label of a link stands
    for it. What is quoted is verbatim.
    """
    parts = (head_in_words(piece), body_in_words(piece, found))
    return ": ".join(filter(None, parts))


def head_in_words(piece: Piece) -> str:
    """Return of whom or what a fact is; what every note has needs no name."""
    if piece.facet is Facet.GAP and len(piece.label.split()) > LABEL:
        return plain(piece.about).rstrip(" .:")
    named = (piece.about, "" if piece.label == UNNAMED else piece.label)
    return plain(", ".join(filter(None, named))).rstrip(" .:")


def body_in_words(piece: Piece, found: Sequence[Citation]) -> str:
    """Return what a fact says, without of whom, and its words where they say more."""
    words = joined(found)
    if piece.facet is Facet.PRESENT:
        return plain(piece.says)
    if piece.facet is Facet.GAP and len(piece.label.split()) > LABEL:
        return f"{plain(piece.label).rstrip(' .')} ({plain(piece.says)})"
    if not piece.says:
        return quoted(words) if words else ""
    told = plain(piece.says)
    if not words or len(words) > SHOWN or _is_said(piece, words):
        return told
    if _is_less(piece.says, words):
        return quoted(words)
    return f"{told} ({quoted(words)})"


def joined(found: Sequence[Citation]) -> str:
    """Return cited words in one line."""
    return " … ".join(one_line(citation.text) for citation in found)


def quoted(text: str) -> str:
    """Return `text` in quotation marks; single ones around double ones."""
    return f"‘{text}’" if set('“”"').intersection(text) else f"“{text}”"


def one_line(text: str) -> str:
    """Return `text` in one line, without the signs of a Markdown quotation."""
    return " ".join(_QUOTATION.sub("", text).split())


def shown(text: str) -> str:
    """Return a quote in one line, without the marks of lists and bold labels."""
    return one_line(_BOLD.sub(r"\1", _LISTED.sub("", text)).replace("**", ""))


def _is_said(piece: Piece, words: str) -> bool:
    """Say whether words, with or without a label before them, only say a fact again."""
    label = plain(piece.label)
    said = (plain(piece.says), label, f"{label}: {plain(piece.says)}")
    bare = (plain(words), plain(_LEAD.sub("", words)))
    return any(same_words(one, other) for one in bare for other in said)


def _is_less(says: str, words: str) -> bool:
    """Say whether a fact has every word that it rests on, and more."""
    return set(content_words(words)) <= set(content_words(says))
