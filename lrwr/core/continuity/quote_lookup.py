"""Quotes looked up letter by letter: what is not there word for word is not there."""

from unicodedata import normalize

from lrwr.core.model.text import Span

_MARKS = "'\"`´‘’‚‛“”„‟«»‹›′″"
_DASHES = "-‐‑‒–—―−"
_NOTHING = "*_\\\u00ad\u200b\u200c\u200d\ufeff"


def find_verbatim(quote: str, text: str) -> Span | None:
    """Return where `text` has the words of `quote`, whole; None if it has not.

    Only what is typed in several ways may differ: capitals, kinds of quotation marks
    and dashes, white space, and the marks of emphasis.
    """
    folded_quote = "".join(letter for letter, _ in _folded(normalize("NFC", quote)))
    folded_quote = folded_quote.strip(" '-…")
    if not any(letter.isalnum() for letter in folded_quote):
        return None
    folded = _folded(text)
    plain = "".join(letter for letter, _ in folded)
    at = plain.find(folded_quote)
    while at >= 0:
        end = at + len(folded_quote)
        if not (_inside_word(plain, at) or _inside_word(plain, end)):
            return Span(folded[at][1], folded[end - 1][1] + 1)
        at = plain.find(folded_quote, at + 1)
    return None


def _folded(text: str) -> list[tuple[str, int]]:
    """Return the normalized letters, each with its index in `text`."""
    letters: list[tuple[str, int]] = []
    for place, letter in enumerate(text):
        plain = _plain(letter)
        if plain and not (plain == " " and letters and letters[-1][0] == " "):
            letters.append((plain, place))
    return letters


def _plain(letter: str) -> str:
    if letter in _NOTHING:
        return ""
    if letter in _MARKS:
        return "'"
    if letter in _DASHES:
        return "-"
    if letter.isspace():
        return " "
    lower = letter.lower()
    return lower if len(lower) == 1 else letter


def _inside_word(text: str, at: int) -> bool:
    return 0 < at < len(text) and text[at - 1].isalnum() and text[at].isalnum()
