"""Spans and lines of a text, content words and stems, numerals, and lazily compiled
patterns.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from typing import TypeAlias

_CLOSING_MARK = re.compile(r"\A[”\"],?\s+")
WORD_PATTERN = re.compile(r"\w+(?:['’]\w+)*")
"""A word including inner apostrophes: don't, fo'c'sle."""

_STOP = (
    "a about an and any are as at be been being but by can could did do does for "
    "from had has have he her hers him his how i if in into is it its may me might "
    "mine my no not of on or our ours shall she should so than that the their "
    "theirs them then there these they this those to up upon us was we were what "
    "when where which who whom whose why will with would you your yours "
)
STOP_WORDS = frozenset(_STOP.split())
"""English function words, which say little about the topic of a sentence."""

_NAME = re.compile(r"(?<=[^\W\d_][\s,;:(“‘\"'])[^\W\d_a-z]\w+(?:['’]\w+)*")
# A capitalized word that follows another word on the line: the first word of a
# sentence is capitalized whatever it is.
_MERGE_MARKER = re.compile(r"^(?:([<|>])\1{6}(?: .*)?|(=)={6})$", re.M)
_POSSESSIVE = re.compile(r"['’]s?$")
_ENDINGS = ("ingly", "edly", "ing", "ies", "ed", "es", "ly", "s")
_SHORTEST_STEM = 3  # letters; shorter stems would unite unrelated words


MAX_TITLE_CHARS = 60
"""Maximum length of the title that a thread gets from its first question."""
_LEAD_IN = re.compile(
    r"^(?:(?:hi|hello|hey|please|so|and|ok|okay|well|now)\b[,!.]?\s+"
    r"|(?:can|could|would|will) you (?:please )?"
    r"|(?:please )?(?:tell|remind|show|explain)(?: to)? me (?:again )?(?:about|of)?\s*"
    r"|i(?:['’]d like| want) to know (?:about )?"
    r"|do you know )",
    re.IGNORECASE,
)
_WHO_IS = re.compile(
    r"^(?:[Ww]ho|[Ww]hat)(?:['’]s| is| are| was| were) (?=[A-Z][^,]{1,40}$)"
)


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """Half-open character range `[start, end)` in a canonical text."""

    start: int
    end: int

    def __len__(self) -> int:
        return self.end - self.start

    def holds(self, other: "Span") -> bool:
        """Return whether `other` lies entirely within this span; equal spans do."""
        return self.start <= other.start and other.end <= self.end

    def overlaps(self, other: "Span") -> bool:
        """Return whether this span and `other` share a character."""
        return self.start < other.end and other.start < self.end


def build_title(question: str) -> str:
    """Return the topic of `question` as a title of at most `MAX_TITLE_CHARS` characters.

    Polite lead-ins are left out, and "Who is" before a short name; other questions stay
    as they are. A longer one ends at a word, with an ellipsis.
    """
    line = " ".join(question.split())
    topic = line
    while shorter := _LEAD_IN.sub("", topic, count=1):
        if shorter == topic:
            break
        topic = shorter
    topic = _WHO_IS.sub("", topic) or topic
    is_question = topic[:1].isupper() and topic == line
    topic = topic if is_question else topic.rstrip(" ?.!")
    topic = f"{topic[:1].upper()}{topic[1:]}" or line
    if len(topic) <= MAX_TITLE_CHARS:
        return topic
    cut = topic[: MAX_TITLE_CHARS - 2].rsplit(" ", 1)[0].rstrip(" ,;:“")
    is_quoting = cut.count("“") > cut.count("”")
    return f"{cut}…{'”' * is_quoting}"


@dataclass(frozen=True, slots=True)
class LineRange:
    """First and last line of a passage, counted from 1, both included.

    In a `.docx`, lines are paragraphs.
    """

    first: int
    last: int


@dataclass(frozen=True, slots=True)
class LineIndex:
    """Maps character offsets of a canonical text to line numbers of the file.

    `starts` are the offsets at which lines begin, ascending, the first one 0. `numbers`
    are the line numbers that belong to them; empty means 1, 2, 3, ….
    """

    starts: tuple[int, ...]
    numbers: tuple[int, ...] = ()

    @classmethod
    def of(cls, text: str) -> "LineIndex":
        """Build the index of `text`, whose lines are separated by line feeds and
        numbered from 1.
        """
        starts, at = [0], text.find("\n")
        while at >= 0:
            starts.append(at + 1)
            at = text.find("\n", at + 1)
        return cls(tuple(starts))

    def line_of(self, offset: int) -> int:
        """Return the number, from 1, of the line that contains the character at
        `offset`.
        """
        row = max(0, bisect_right(self.starts, offset) - 1)
        return self.numbers[row] if self.numbers else row + 1

    def lines_of(self, span: Span) -> LineRange:
        """Return the numbers, from 1, of the first and last line that `span`
        touches.
        """
        last = max(span.start, span.end - 1)
        return LineRange(self.line_of(span.start), self.line_of(last))


SentenceSplitter: TypeAlias = Callable[[str], Sequence[Span]]
"""Returns the spans of the sentences of a text, in order."""


def normalize_word(word: str) -> str:
    """Return `word` in lower case, without a possessive ending: "Nell's" gives "nell",
    "Boys'" gives "boys".
    """
    return _POSSESSIVE.sub("", word.lower())


def normalize_words(text: str) -> list[str]:
    """Return the words of `text`, in text order, as `normalize_word` returns them."""
    return [normalize_word(word) for word in WORD_PATTERN.findall(text)]


def replace_surrogates(text: str) -> str:
    """Return `text` with `?` for each lone surrogate, which UTF-8 does not encode; a
    terminal may pass them on.

    The length stays the same, so that offsets into the text remain valid.
    """
    return text.encode("utf-8", "replace").decode("utf-8")


def is_inside_word(text: str, at: int) -> bool:
    """Return whether offset `at` is between two letters or digits."""
    return 0 < at < len(text) and text[at - 1].isalnum() and text[at].isalnum()


def strip_closing_mark(text: str) -> str:
    """Return `text` without the mark of a quotation that ends before it: "said Mags" of
    "” said Mags".
    """
    return _CLOSING_MARK.sub("", text)


def extract_content_words(text: str) -> list[str]:
    """Return the words of `text` without stop words, in lower case and without
    possessive endings, each once, in text order.

    A text that consists of stop words returns all of its words, so that "Who was he?"
    can still be searched for.
    """
    words = list(dict.fromkeys(normalize_words(text)))
    return [word for word in words if word not in STOP_WORDS] or words


def extract_capitalized_words(text: str) -> list[str]:
    """Return the capitalized words that do not begin a sentence, in lower case and
    without possessive endings, each once, in text order.

    They serve as a guess at the names in a question.
    """
    names = [word for word in _NAME.findall(text) if word[0].isupper()]
    return list(dict.fromkeys(normalize_word(word) for word in names))


@lru_cache(maxsize=50_000)
def stem_lightly(word: str) -> str:
    """Strip one of the most common English endings ("-ing", "-ed", "-s", …) from
    `word`, which must be in lower case.

    At least three letters remain; a word without such an ending is returned unchanged.
    Stems serve only to compare words with each other.
    """
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST_STEM:
            return word[: -len(ending)]
    return word


@lru_cache(maxsize=50_000)
def stem_word(word: str) -> str:
    """Return the stem of `word` as it stands in a text: normalized, without an ending."""
    return stem_lightly(normalize_word(word))


def contains_stem(text: str, lowered: str, stem: str) -> bool:
    """Return whether a word of `text` has the stem `stem`, as `stem_word` returns it.

    `lowered` is `text.lower()`.
    """
    if len(lowered) != len(text) or "Σ" in text:
        # Lower case depends on the word, or moves the letters after it.
        return any(stem_word(word) == stem for word in WORD_PATTERN.findall(text))
    start = lowered.find(stem)
    while start >= 0:
        word = _word_at(text, start)
        if word and stem_word(word) == stem:
            return True
        start = lowered.find(stem, start + 1)
    return False


def _word_at(text: str, start: int) -> str:
    """Return the word that begins at offset `start`; empty if none begins there."""
    before = text[max(0, start - 2) : start]
    if before and (
        _is_word(before[-1]) or (before[-1] in "'’" and _is_word(before[0]))
    ):
        return ""
    match = WORD_PATTERN.match(text, start)
    return match[0] if match else ""


def _is_word(character: str) -> bool:
    return character.isalnum() or character == "_"


class LazyPattern:
    """A regular expression that is compiled on first use.

    For long patterns: compiling all those that recognize looks and kinship takes a
    tenth of a second, and most commands never use them.
    """

    def __init__(self, source: str) -> None:
        self.pattern = source
        """The source of the expression."""

    @cached_property
    def _compiled(self) -> re.Pattern[str]:
        return re.compile(self.pattern)

    def match(self, text: str, start: int) -> re.Match[str] | None:
        """Return the match that starts at offset `start` of `text`, or None."""
        return self._compiled.match(text, start)

    def search(self, text: str) -> re.Match[str] | None:
        """Return the first match anywhere in `text`, or None."""
        return self._compiled.search(text)

    def finditer(self, text: str) -> Iterator[re.Match[str]]:
        """Yield all non-overlapping matches in `text`, in text order."""
        return self._compiled.finditer(text)


def split_highlighted_words(text: str, words: Sequence[str]) -> list[tuple[str, bool]]:
    """Split `text` into pieces, each with a flag that tells whether to highlight it.

    The flag is true for words with the stem of one of `words`. The pieces, joined, are
    `text`.
    """
    stems = {stem_lightly(word) for word in words}
    pieces: list[tuple[str, bool]] = []
    at = 0
    for match in WORD_PATTERN.finditer(text):
        if stem_word(match.group()) not in stems:
            continue
        if match.start() > at:
            pieces.append((text[at : match.start()], False))
        pieces.append((match.group(), True))
        at = match.end()
    if at < len(text):
        pieces.append((text[at:], False))
    return pieces


def format_seconds(seconds: float) -> str:
    """Return a duration with its unit: "1 second", "0.5 seconds", "300 seconds"."""
    return f"{seconds:g} second{'' if seconds == 1 else 's'}"


def find_merge_conflict(text: str) -> int | None:
    """Return the line of the first conflict that git left in `text`; None without one.

    A conflict is a line `<<<<<<<`, optionally a line `|||||||`, a line `=======` and a
    line `>>>>>>>`, in this order. Conflicts may be nested. Single markers are text: a
    heading may be underlined by `=======`. Lines are counted from 1 and end in a line
    feed.
    """
    if "<<<<<<<" not in text:
        return None
    conflicts: list[int] = []
    open_markers: list[tuple[int, bool]] = []
    for marker in _MERGE_MARKER.finditer(text):
        sign = marker[1] or marker[2]
        if sign == "<":
            open_markers.append((marker.start(), False))
        elif sign == "=" and open_markers:
            open_markers[-1] = (open_markers[-1][0], True)
        elif sign == ">" and open_markers:
            start, is_divided = open_markers.pop()
            conflicts += [start] if is_divided else []
    return text.count("\n", 0, min(conflicts)) + 1 if conflicts else None


_UNITS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
_UNITS_TH = (
    "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth",
)  # fmt: skip
_TEENS = (
    "ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen",
    "seventeen", "eighteen", "nineteen",
)  # fmt: skip
_TEENS_TH = (
    "tenth", "eleventh", "twelfth", "thirteenth", "fourteenth", "fifteenth",
    "sixteenth", "seventeenth", "eighteenth", "nineteenth",
)  # fmt: skip
_TENS = (
    "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety",
)  # fmt: skip
_TENS_TH = (
    "twentieth", "thirtieth", "fortieth", "fiftieth", "sixtieth", "seventieth",
    "eightieth", "ninetieth",
)  # fmt: skip
_ROMAN = r"(?=[MDCLXVI])M{0,3}(?:CM|CD|D?C{0,4})(?:XC|XL|L?X{0,4})(?:IX|IV|V?I{0,4})"
_ROMAN_SMALL = r"(?=[clxvi])c{0,3}(?:xc|xl|l?x{0,4})(?:ix|iv|v?i{0,4})"
_UNIT = "|".join((*_UNITS_TH, *_UNITS))
_WORD = (
    f"(?:{'|'.join(_TENS)})(?:[-\\s](?:{_UNIT}))?"
    f"|{'|'.join((*_TENS_TH, *_TEENS_TH, *_TEENS))}|{_UNIT}"
)
NUMERAL_PATTERN = (
    rf"(?:\d{{1,4}}(?:st|nd|rd|th)?|(?i:{_WORD})|(?-i:{_ROMAN}|{_ROMAN_SMALL}))\b"
)
"""Pattern of a number in figures, words or Roman numerals, for `parse_numeral`."""
FIGURE_PATTERN = rf"(?:\d{{1,4}}|(?-i:{_ROMAN}))"
"""Pattern of an Arabic or Roman numeral."""
_ROMAN_VALUES = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100, "D": 500, "M": 1000}


def parse_numeral(numeral: str) -> int | None:
    """Return the number in a text such as "12", "12th", "XII", "twelve" or "Twelfth".

    Digits count only at the start of the text: "12 men" gives 12. None for other texts.
    """
    word = " ".join(numeral.lower().replace("-", " ").split())
    digits = re.match(r"\d{1,6}", word)
    if digits:
        return int(digits[0])
    if word in _numbers_by_word():
        return _numbers_by_word()[word]
    if word and re.fullmatch(_ROMAN, word.upper()):
        return _parse_roman(word.upper())
    return None


_REFERENCE = LazyPattern(
    rf"(?i:(?:volume|vol\.?|book|part)\s+(?:the\s+)?(?P<volume>{NUMERAL_PATTERN})[\s,.;:–—-]+)?"
    rf"(?i:(?P<word>chapter|chap\.?|ch\.?)\s+)?(?P<chapter>{NUMERAL_PATTERN})"
    r"(?P<rest>(?i:[\s,:]+scene\s+\d+)?)$"
)


def spell_reference_in_figures(text: str) -> str:
    """Return a reference to a chapter, such as "Book II, XIX" or "Part One, chapter
    three", in figures: "vol2.ch19", "vol1.ch3". Other texts are unchanged.
    """
    match = _REFERENCE.match(text, 0)
    if not match or not (match["volume"] or match["word"]):
        return text
    volume = f"vol{parse_numeral(match['volume'])}." if match["volume"] else ""
    return f"{volume}ch{parse_numeral(match['chapter'])}{match['rest']}"


def _parse_roman(numeral: str) -> int:
    values = [_ROMAN_VALUES[letter] for letter in numeral]
    following = [*values[1:], 0]
    # A smaller value before a larger one is subtracted: IV is 5 - 1.
    return sum(
        -value if value < after else value
        for value, after in zip(values, following, strict=True)
    )


@cache
def _numbers_by_word() -> dict[str, int]:
    names: dict[str, int] = {}
    for first, words in (
        (1, _UNITS),
        (1, _UNITS_TH),
        (10, _TEENS),
        (10, _TEENS_TH),
    ):
        names.update({word: first + i for i, word in enumerate(words)})
    for i, (ten, tenth) in enumerate(zip(_TENS, _TENS_TH, strict=True)):
        value = 20 + 10 * i
        names |= {ten: value, tenth: value}
        for units in (_UNITS, _UNITS_TH):
            names.update({f"{ten} {u}": value + 1 + j for j, u in enumerate(units)})
    return names


_NUMBERED_TITLE = LazyPattern(
    rf"(?i:(?:(?:volume|vol\.|book|part)\s+\w+\s*[.:,;–—-]\s*)?"
    rf"(?:chapter|chap\.|ch\.)?\s*)({NUMERAL_PATTERN})\s*(?:[.:,;)–—-]+\s*|$)"
)


def format_chapter_title(number: int, title: str) -> str:
    """Return `title` in quotation marks after a space, or "" if it says no more than
    that the chapter has this number: "" for 12 and "CHAPTER XII" or "VOLUME I, CHAPTER
    XII", " “Fog”" for 6 and "Chapter Six: Fog". Another number in the title stays.
    """
    match = _NUMBERED_TITLE.match(title, 0)
    if match and parse_numeral(match[1]) == number:
        title = title[match.end() :].strip()
    return f" “{title}”" if title else ""
