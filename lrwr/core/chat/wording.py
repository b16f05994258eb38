"""How a fact and the words it rests on are written in a line of an answer."""

import re
from collections.abc import Sequence

from lrwr.core.chat.citing import same_words
from lrwr.core.chat.material import Piece
from lrwr.core.english.noted import plain
from lrwr.core.model.turns import Citation
from lrwr.core.model.words import content_words

SHOWN = 240
"""Characters of the words of a fact that are shown beside it; its number has all."""

_QUOTATION = re.compile(r"^[ \t]*(?:>[ \t]?)+", re.MULTILINE)
_LEAD = re.compile(r"\A\W*\*\*[^*\n]{1,60}:[ \t]*\*\*[ \t]*|\A\W*\*\*[^*\n]{1,60}\*\*:")
"""The bold label that a line of a note begins with: `- **Values:**`."""


def fact_in_words(piece: Piece, found: Sequence[Citation]) -> str:
    """Return a fact, and its words in quotation marks where they say more than it.

    What is not quoted has no marks of links and emphasis: the label of a link stands
    for it. What is quoted is verbatim.
    """
    words = joined(found)
    head = plain(piece.head).rstrip(" .:")
    if not piece.says:
        return ": ".join(filter(None, (head, quoted(words) if words else "")))
    told = ": ".join(filter(None, (head, plain(piece.says))))
    if not words or len(words) > SHOWN or _is_said(piece, words):
        return told
    if _is_less(piece.says, words):
        return ": ".join(filter(None, (head, quoted(words))))
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


def _is_said(piece: Piece, words: str) -> bool:
    """Say whether words, with or without a label before them, only say a fact again."""
    said = (plain(piece.says), plain(piece.label))
    bare = (plain(words), plain(_LEAD.sub("", words)))
    return any(same_words(one, other) for one in bare for other in said)


def _is_less(says: str, words: str) -> bool:
    """Say whether a fact has every word that it rests on, and more."""
    return set(content_words(words)) <= set(content_words(says))
