"""Where capitalised words stand together as a name may, and what stands beside."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lrwr.core.model.text import Span
from lrwr.core.nlp.names.lexicon import PARTICLES
from lrwr.core.nlp.names.titles import (
    NAME_EPITHETS,
    NAME_TITLES,
    SURNAME_TITLES,
    TITLE_ABBREVIATIONS,
    TITLES_WITH_OF,
)

_UPPER = "A-ZÀ-ÖØ-ÞĀĂĄĆĈČĎĐĒĘĚĞĠĢĤĪİĶĹĽŁŃŇŌŐŒŔŘŚŜŞŠŤŪŮŰŴŶŹŻŽ"
_LETTER = r"[^\W\d_]"
CAPITALIZED_WORD = re.compile(
    rf"(?<![^\W_])(?<![^\W_]['’])[{_UPPER}]{_LETTER}*(?:['’\-]{_LETTER}+)*"
)
"""A word that begins with a capital, with its apostrophes and hyphens."""

_POSSESSIVE = re.compile(r"['’]s$")
_TAIL = re.compile(r"['’](?:s|ll|d|ve|re)$")
_CLOSE_GAP = re.compile(r"[ \u00a0]|[ \t]*\n[ \t]*(?!\n)")
_PARTICLE_GAP = re.compile(r"[ \u00a0\n]([a-z]{1,3}(?: (?:la|den|der))?)[ \u00a0\n]")
_OF_GAP = re.compile(r"[ \u00a0\n]of(?: the)?[ \u00a0\n]")
_HEADING = re.compile(r"^#{1,6} .*$|^[^a-z\n]*[A-Z]{2}[^a-z\n]*$", re.MULTILINE)
_CURLY = re.compile(r"“[^”]*?(?:”|\n\n|\Z)")
_STRAIGHT = re.compile(r"\"[^\"]*?(?:\"|\n\n|\Z)")
_SINGLE = re.compile(r"(?<!\w)[‘'](?=\S).*?(?:[.,!?;—-][’'](?!\w)|\n\n|\Z)", re.DOTALL)
_LEADING = " \t\u00a0*_([—-"
_OPENING = "“‘"
_ENDS = ".!?:\n"


@dataclass(frozen=True, slots=True)
class NameCandidate:
    """Capitalised words that stand together once.

    `words` are as the text has them, possessive cut; particles are among them.
    `initial`: a sentence may begin here, so the first capital says nothing.
    """

    words: tuple[str, ...]
    start: int
    end: int
    initial: bool
    possessive: bool
    quoted: bool


@dataclass(frozen=True, slots=True)
class TextSection:
    """One stretch of text, with the places where somebody speaks in it."""

    text: str
    quotes: tuple[Span, ...]
    starts: tuple[int, ...]

    def is_quoted(self, offset: int) -> bool:
        """Say whether the character at `offset` is part of what somebody says."""
        row = bisect_right(self.starts, offset) - 1
        return row >= 0 and offset < self.quotes[row].end


def cut_text_section(text: str, part: Span) -> TextSection:
    """Cut `part` out of `text`, headings blanked, every offset kept from its start."""
    section_text = _HEADING.sub(
        lambda match: " " * len(match[0]), text[part.start : part.end]
    )
    quotes = tuple(
        Span(*match.span()) for match in _quotes_of(section_text).finditer(section_text)
    )
    return TextSection(section_text, quotes, tuple(quote.start for quote in quotes))


def _quotes_of(text: str) -> re.Pattern[str]:
    counts = {
        _CURLY: text.count("“"),
        _STRAIGHT: text.count('"') // 2,
        _SINGLE: len(re.findall(r"(?<!\w)[‘'](?=[A-Z])", text)) // 2,
    }
    return max(counts, key=lambda pattern: counts[pattern])


def find_name_candidates(reading: TextSection) -> Iterator[NameCandidate]:
    """Find every maximal run of capitalised words, in order."""
    run: list[re.Match[str]] = []
    for match in CAPITALIZED_WORD.finditer(reading.text):
        if run and not _joins(reading.text, run, match):
            yield _sighting(reading, run)
            run = []
        run.append(match)
    if run:
        yield _sighting(reading, run)


def _joins(text: str, run: Sequence[re.Match[str]], new: re.Match[str]) -> bool:
    last = run[-1]
    gap = text[last.end() : new.start()]
    if len(gap) > 9 or _TAIL.search(last[0]):
        return False
    low = last[0].lower()
    if gap[:1] == ".":
        shortened = low in TITLE_ABBREVIATIONS or (len(last[0]) == 1 and low != "i")
        return shortened and (len(gap) == 1 or bool(_CLOSE_GAP.fullmatch(gap[1:])))
    if _CLOSE_GAP.fullmatch(gap):
        return low not in ("i", "o") and not _begins_another(low, new[0])
    if _OF_GAP.fullmatch(gap):
        return low in TITLES_WITH_OF
    particle = _PARTICLE_GAP.fullmatch(gap)
    return bool(particle and particle[1].split()[0] in PARTICLES)


def _begins_another(last: str, new: str) -> bool:
    """Say whether a title begins the next name: "Nell Mrs. Gannet" are two."""
    return new.lower() in SURNAME_TITLES and last not in NAME_TITLES


def _sighting(reading: TextSection, run: Sequence[re.Match[str]]) -> NameCandidate:
    text, start, end = reading.text, run[0].start(), run[-1].end()
    words = _words(text[start:end])
    possessive = bool(_POSSESSIVE.search(words[-1]))
    tail = _TAIL.search(words[-1])
    if tail:
        words[-1] = words[-1][: tail.start()]
        end -= len(tail[0])
    initial = starts_sentence(text, start)
    quoted = reading.is_quoted(start)
    return NameCandidate(tuple(words), start, end, initial, possessive, quoted)


def _words(stretch: str) -> list[str]:
    return re.sub(r"\.(?=[^\s.])", ". ", stretch).split()


def starts_sentence(text: str, at: int) -> bool:
    """Say whether a sentence, a quotation or a line may begin at `at`."""
    back = at - 1
    while back >= 0 and text[back] in _LEADING:
        back -= 1
    if back < 0 or text[back] in _ENDS or text[back] in _OPENING:
        return True
    if text[back] in "\"'" and back == at - 1:
        return True
    while back >= 0 and text[back] in "\"'”’)] ":
        back -= 1
    return back < 0 or text[back] in _ENDS


def strip_name_epithets(words: Sequence[str]) -> tuple[str, ...]:
    """Drop epithets before a name: "Old Nell" is Nell."""
    remaining = list(words)
    while len(remaining) > 1 and remaining[0].lower() in NAME_EPITHETS:
        remaining.pop(0)
    return tuple(remaining)


def starts_with_title(words: Sequence[str]) -> bool:
    """Say whether the first of several words is a title."""
    return len(words) > 1 and words[0].lower() in NAME_TITLES
