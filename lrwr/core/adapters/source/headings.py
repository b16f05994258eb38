"""What a heading says: a chapter, a volume, a preface, or only a title."""

import re
from dataclasses import dataclass
from enum import Enum
from functools import cache

from lrwr.core.adapters.source.numerals import (
    FIGURE_PATTERN,
    NUMERAL_PATTERN,
    parse_numeral,
)


class HeadingKind(Enum):
    """What a heading announces."""

    CHAPTER = "chapter"
    """A chapter by name: "Chapter 7", "BOOK ONE, CHAPTER I"."""
    OPENING = "opening"
    """What comes before the first chapter: "Prologue", "Preface"."""
    NAMED = "named"
    """A chapter without a number: "Epilogue", "Interlude"."""
    GROUP = "group"
    """A run of chapters: "Volume II", "Part One"."""
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class HeadingMeaning:
    """What a heading's words say. `rank` orders groups: a volume holds books,
    a book holds parts.
    """

    kind: HeadingKind
    volume: int | None = None
    number: int | None = None
    rank: int = 0


_RANKS = {"vol": 0, "tom": 0, "boo": 1, "par": 2, "act": 2}
_OPENINGS = (
    "preface|foreword|prologue|prelude|introduction|dedication|epigraph"
    "|front[ -]?matter|title[ -]page|half[ -]title|copyright|dramatis person(?:ae|æ)"
)
_NAMED = "epilogue|afterword|interlude|intermission|intermezzo|coda|postscript"
_SMALL_WORDS = "a an and as at but by for from in into of on or the to upon with"
_TITLE_LIMIT = 100


@dataclass(frozen=True, slots=True)
class _Patterns:
    chapter: re.Pattern[str]
    word: re.Pattern[str]
    group: re.Pattern[str]
    opening: re.Pattern[str]
    named: re.Pattern[str]
    bare: re.Pattern[str]
    figures: re.Pattern[str]


@cache
def _patterns() -> _Patterns:
    after = rf"(?=\s*(?:$|[.:,;()–—-]|{NUMERAL_PATTERN}))"
    chapter = rf"\b(?:chapter|chap\.?|ch\.?)\s*[#–—-]?\s*(?:the\s+|no\.?\s*)?({NUMERAL_PATTERN})"
    group = rf"(volume|vol\.?|tome|book|part|act)\s*[#–—-]?\s*(?:the\s+)?({NUMERAL_PATTERN})"
    bare = rf"(?:({FIGURE_PATTERN})(?=\s*(?:$|[.:)–—-]))|({NUMERAL_PATTERN})\.?$)"
    return _Patterns(
        chapter=re.compile(chapter, re.I),
        word=re.compile(r"chapter\b(?!\s+\w+\s+\w+\s+\w)", re.I),
        group=re.compile(group, re.I),
        opening=re.compile(rf"(?:the\s+)?(?:{_OPENINGS})\b{after}", re.I),
        named=re.compile(rf"(?:the\s+)?(?:{_NAMED})\b{after}", re.I),
        bare=re.compile(bare),
        figures=re.compile(rf"({FIGURE_PATTERN})\.?"),
    )


def parse_heading(title: str) -> HeadingMeaning:
    """Say what a heading's text, without marks, announces."""
    patterns = _patterns()
    group = patterns.group.match(title)
    chapter = (
        patterns.chapter.search(title, group.end())
        if group
        else patterns.chapter.match(title)
    )
    volume = parse_numeral(group[2]) if group else None
    if chapter:
        return HeadingMeaning(HeadingKind.CHAPTER, volume, parse_numeral(chapter[1]))
    if group:
        return HeadingMeaning(
            HeadingKind.GROUP, volume, rank=_RANKS[group[1][:3].lower()]
        )
    if patterns.word.match(title):
        return HeadingMeaning(HeadingKind.CHAPTER)
    if patterns.opening.match(title):
        return HeadingMeaning(HeadingKind.OPENING)
    if patterns.named.match(title):
        return HeadingMeaning(HeadingKind.NAMED)
    bare = patterns.bare.match(title)
    return HeadingMeaning(
        HeadingKind.OTHER, number=parse_numeral(bare[1] or bare[2]) if bare else None
    )


def parse_heading_line(line: str) -> HeadingMeaning | None:
    """Say what a line of plain text announces; None when it is a line of prose.

    Stricter than `parse_heading`, since nothing but its words marks the line: it is
    short, has a number unless it is a name such as "Prologue", and what follows is
    set off by punctuation or written as a title.
    """
    line = line.strip()
    if not line or len(line) > _TITLE_LIMIT:
        return None
    reading = parse_heading(line)
    patterns = _patterns()
    match reading.kind:
        case HeadingKind.CHAPTER:
            found = patterns.chapter.search(line)
        case HeadingKind.GROUP:
            found = patterns.group.match(line)
        case HeadingKind.OPENING:
            found = patterns.opening.match(line)
        case HeadingKind.NAMED:
            found = patterns.named.match(line)
        case _:
            found = None
    return reading if found and _is_title(line[found.end() :]) else None


def parse_lone_number(line: str) -> int | None:
    """Return the number that is all there is on a line: "IV", "IV.", "4"."""
    found = _patterns().figures.fullmatch(line.strip())
    return parse_numeral(found[1]) if found else None


def _is_title(rest: str) -> bool:
    rest = rest.strip()
    if not rest or rest[0] in ".:,;()–—-":
        return True
    words = [word for word in re.split(r"[\s–—-]+", rest) if word[:1].isalpha()]
    small = _SMALL_WORDS.split()
    titled = all(w[0].isupper() or w.lower() in small for w in words)
    return titled and (rest.isupper() or rest[-1] not in ".!?,;\"'”’")


def derive_words_from_file_name(name: str) -> str:
    """Turn a file's name without its ending into words: `07-the-fog` → "the fog"."""
    name = re.sub(r"^\d+(?=[-_ .])", "", name)
    return " ".join(re.split(r"[-_\s]+", name)).strip(" .")


def derive_title_from_file_name(name: str) -> str:
    """Make a title from a file's name: `volume-iii-chapter-vi` → "Volume III …"."""
    words = derive_words_from_file_name(name) or name
    if not words.islower():
        return words
    roman = re.compile(rf"{FIGURE_PATTERN}")
    return " ".join(
        word.upper() if roman.fullmatch(word.upper()) else word[:1].upper() + word[1:]
        for word in words.split()
    )
