"""What a heading says: a chapter, a volume, a preface, or only a title."""

import re
from dataclasses import dataclass
from enum import Enum
from functools import cache

from lrwr.core.adapters.source.numerals import FIGURES, NUMERAL, number_of


class Kind(Enum):
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
class Reading:
    """What a heading's words say. `rank` orders groups: a volume holds books,
    a book holds parts.
    """

    kind: Kind
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
    after = rf"(?=\s*(?:$|[.:,;()–—-]|{NUMERAL}))"
    chapter = (
        rf"\b(?:chapter|chap\.?|ch\.?)\s*[#–—-]?\s*(?:the\s+|no\.?\s*)?({NUMERAL})"
    )
    group = rf"(volume|vol\.?|tome|book|part|act)\s*[#–—-]?\s*(?:the\s+)?({NUMERAL})"
    bare = rf"(?:({FIGURES})(?=\s*(?:$|[.:)–—-]))|({NUMERAL})\.?$)"
    return _Patterns(
        chapter=re.compile(chapter, re.I),
        word=re.compile(r"chapter\b(?!\s+\w+\s+\w+\s+\w)", re.I),
        group=re.compile(group, re.I),
        opening=re.compile(rf"(?:the\s+)?(?:{_OPENINGS})\b{after}", re.I),
        named=re.compile(rf"(?:the\s+)?(?:{_NAMED})\b{after}", re.I),
        bare=re.compile(bare),
        figures=re.compile(rf"({FIGURES})\.?"),
    )


def read_heading(title: str) -> Reading:
    """Say what a heading's text, without marks, announces."""
    patterns = _patterns()
    group = patterns.group.match(title)
    chapter = (
        patterns.chapter.search(title, group.end())
        if group
        else patterns.chapter.match(title)
    )
    volume = number_of(group[2]) if group else None
    if chapter:
        return Reading(Kind.CHAPTER, volume, number_of(chapter[1]))
    if group:
        return Reading(Kind.GROUP, volume, rank=_RANKS[group[1][:3].lower()])
    if patterns.word.match(title):
        return Reading(Kind.CHAPTER)
    if patterns.opening.match(title):
        return Reading(Kind.OPENING)
    if patterns.named.match(title):
        return Reading(Kind.NAMED)
    bare = patterns.bare.match(title)
    return Reading(Kind.OTHER, number=number_of(bare[1] or bare[2]) if bare else None)


def read_line(line: str) -> Reading | None:
    """Say what a line of plain text announces; None when it is a line of prose.

    Stricter than `read_heading`, since nothing but its words marks the line: it is
    short, has a number unless it is a name such as "Prologue", and what follows is
    set off by punctuation or written as a title.
    """
    line = line.strip()
    if not line or len(line) > _TITLE_LIMIT:
        return None
    reading = read_heading(line)
    patterns = _patterns()
    match reading.kind:
        case Kind.CHAPTER:
            found = patterns.chapter.search(line)
        case Kind.GROUP:
            found = patterns.group.match(line)
        case Kind.OPENING:
            found = patterns.opening.match(line)
        case Kind.NAMED:
            found = patterns.named.match(line)
        case _:
            found = None
    return reading if found and _is_title(line[found.end() :]) else None


def lone_figure(line: str) -> int | None:
    """Return the number that is all there is on a line: "IV", "IV.", "4"."""
    found = _patterns().figures.fullmatch(line.strip())
    return number_of(found[1]) if found else None


def _is_title(rest: str) -> bool:
    rest = rest.strip()
    if not rest or rest[0] in ".:,;()–—-":
        return True
    words = [word for word in re.split(r"[\s–—-]+", rest) if word[:1].isalpha()]
    small = _SMALL_WORDS.split()
    titled = all(w[0].isupper() or w.lower() in small for w in words)
    return titled and (rest.isupper() or rest[-1] not in ".!?,;\"'”’")


def words_of(name: str) -> str:
    """Turn a file's name without its ending into words: `07-the-fog` → "the fog"."""
    name = re.sub(r"^\d+(?=[-_ .])", "", name)
    return " ".join(re.split(r"[-_\s]+", name)).strip(" .")


def title_of(name: str) -> str:
    """Make a title from a file's name: `volume-iii-chapter-vi` → "Volume III …"."""
    words = words_of(name) or name
    if not words.islower():
        return words
    roman = re.compile(rf"{FIGURES}")
    return " ".join(
        word.upper() if roman.fullmatch(word.upper()) else word[:1].upper() + word[1:]
        for word in words.split()
    )
