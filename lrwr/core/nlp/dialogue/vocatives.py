"""Whom a speaker names while speaking, and whom they speak to."""

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

from lrwr.core.model.cast import Gender, Mention
from lrwr.core.nlp.dialogue.lexicon import FEMALE_ADDRESS_TERMS, MALE_ADDRESS_TERMS
from lrwr.core.nlp.dialogue.turns import DialoguePage, DialogueTurn

_BEFORE = re.compile(
    r"(?:^|[.!?,;:—–\-…(*_]|\b(?:oh|o|ah|my|dear|dearest|poor|sweet|well|yes|no|and you|"
    r"but|good|hey|hello|hallo|come|you|old|little|thank you|dear old))\s*[\"“‘'*_]?\s*$",
    re.IGNORECASE,
)
_AFTER = re.compile(r"\s*[*_]?(?:[,!?;.:—–\-…*_]|$)")
_WORDS = "|".join(
    sorted(MALE_ADDRESS_TERMS | FEMALE_ADDRESS_TERMS, key=len, reverse=True)
)
_CALLED = re.compile(
    rf"(?:^|[,!?;.—–-]|\b(?:yes|no|dear|my|oh|good|well))\s*(?P<word>{_WORDS})"
    r"(?=\s*(?:[,!?;.:—–\-…]|$))",
    re.IGNORECASE,
)
_MIDDLE = 24


@dataclass(frozen=True, slots=True)
class VocativeCues:
    """Characters named in a turn, those spoken to, and the sex of whom it is said to."""

    named: tuple[str, ...]
    called: tuple[str, ...]
    gender: Gender


def find_vocatives(
    page: DialoguePage, starts: Sequence[int], turn: DialogueTurn
) -> VocativeCues:
    """Find names in the words of a turn; `starts` are those of `page.mentions`."""
    names: list[str] = []
    called: list[str] = []
    for span in turn.raw.spans:
        first, last = bisect_left(starts, span.start), bisect_left(starts, span.end)
        for mention in page.mentions[first:last]:
            names.append(mention.who)
            if _is_called(page.text, mention, span.start, span.end):
                called.append(mention.who)
    unique = tuple(dict.fromkeys(called))
    return VocativeCues(tuple(dict.fromkeys(names)), unique, _gender(page, turn))


def _is_called(text: str, mention: Mention, start: int, end: int) -> bool:
    before = text[max(start, mention.span.start - _MIDDLE) : mention.span.start]
    after = text[mention.span.end : min(end, mention.span.end + 4)]
    opens = _BEFORE.search(before) if before.strip() else True
    return bool(opens and _AFTER.match(after))


def _gender(page: DialoguePage, turn: DialogueTurn) -> Gender:
    for span in turn.raw.spans:
        match = _CALLED.search(page.text[span.start : span.end])
        if match:
            word = match["word"].lower()
            return Gender.MALE if word in MALE_ADDRESS_TERMS else Gender.FEMALE
    return Gender.UNKNOWN
