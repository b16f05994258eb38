"""Places in a text, the words of a query worth searching for, and lazy patterns."""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TypeAlias


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """Where something sits in a canonical text: characters, end not included."""

    start: int
    end: int

    def __len__(self) -> int:
        return self.end - self.start

    def holds(self, other: "Span") -> bool:
        """Say whether `other` lies wholly inside this span."""
        return self.start <= other.start and other.end <= self.end


@dataclass(frozen=True, slots=True)
class LineRange:
    """The lines a passage stands on, counted from 1, both included.

    For a `.docx` they are paragraph numbers: what an editor of plain text calls a
    line, Word calls a paragraph.
    """

    first: int
    last: int


@dataclass(frozen=True, slots=True)
class LineIndex:
    """Turns characters of a canonical text into lines of the file.

    `starts` holds the first character of each line, ascending, beginning with 0.
    `numbers` holds the number of each of those lines; empty means 1, 2, 3, ….
    """

    starts: tuple[int, ...]
    numbers: tuple[int, ...] = ()

    @classmethod
    def of(cls, text: str) -> "LineIndex":
        """Count the lines of `text` as an editor does: a line ends at `\\n`."""
        starts, at = [0], text.find("\n")
        while at >= 0:
            starts.append(at + 1)
            at = text.find("\n", at + 1)
        return cls(tuple(starts))

    def line_of(self, offset: int) -> int:
        """Return the number of the line that holds the character at `offset`."""
        row = max(0, bisect_right(self.starts, offset) - 1)
        return self.numbers[row] if self.numbers else row + 1

    def lines_of(self, span: Span) -> LineRange:
        """Return the lines that `span` touches."""
        last = max(span.start, span.end - 1)
        return LineRange(self.line_of(span.start), self.line_of(last))


SentenceSplitter: TypeAlias = Callable[[str], Sequence[Span]]
"""Where each sentence of a text stands, in order."""


WORD_PATTERN = re.compile(r"\w+(?:['’]\w+)*")
"""A word with its inner apostrophes: don't, fo'c'sle."""
_STOP = (
    "a about an and any are as at be been being but by can could did do does for "
    "from had has have he her hers him his how i if in into is it its may me might "
    "mine my no not of on or our ours shall she should so than that the their "
    "theirs them then there these they this those to up upon us was we were what "
    "when where which who whom whose why will with would you your yours "
)
STOP_WORDS = frozenset(_STOP.split())
"""Words that hold an English sentence together and say little of what it is about."""
_NAME = re.compile(r"(?<=[^\W\d_][\s,;:(“‘\"'])[^\W\d_a-z]\w+(?:['’]\w+)*")
"""A capitalised word after another word: the first of a sentence may be any word."""
_POSSESSIVE = re.compile(r"['’]s?$")
_ENDINGS = ("ingly", "edly", "ing", "ies", "ed", "es", "ly", "s")
_SHORTEST_STEM = 3


def normalize_word(word: str) -> str:
    """Return a word in lower case, without a possessive ending."""
    return _POSSESSIVE.sub("", word.lower())


def extract_content_words(text: str) -> list[str]:
    """Return the words that carry meaning, plain, each once, in order.

    A text of stop words alone keeps them all: "Who was he?" asks for something too.
    """
    words = list(
        dict.fromkeys(normalize_word(word) for word in WORD_PATTERN.findall(text))
    )
    return [word for word in words if word not in STOP_WORDS] or words


def extract_capitalized_words(text: str) -> list[str]:
    """Return the capitalised words that begin no sentence, plain, each once."""
    names = [word for word in _NAME.findall(text) if word[0].isupper()]
    return list(dict.fromkeys(normalize_word(word) for word in names))


@lru_cache(maxsize=50_000)
def stem_lightly(word: str) -> str:
    """Return a word without its commonest English endings, good enough to compare."""
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST_STEM:
            return word[: -len(ending)]
    return word


class LazyPattern:
    """A regular expression, compiled when it is first used.

    For the long ones: compiling all that name people's looks and kin takes a tenth of a
    second, and most commands read no text by them.
    """

    def __init__(self, source: str) -> None:
        self.pattern = source
        """As it is written."""

    @cached_property
    def _compiled(self) -> re.Pattern[str]:
        return re.compile(self.pattern)

    def match(self, text: str, start: int) -> re.Match[str] | None:
        """Return what fits from `start` on, if anything does."""
        return self._compiled.match(text, start)

    def search(self, text: str) -> re.Match[str] | None:
        """Return the first place in `text` that fits."""
        return self._compiled.search(text)

    def finditer(self, text: str) -> Iterator[re.Match[str]]:
        """Yield the places in `text` that fit, in order; none overlaps another."""
        return self._compiled.finditer(text)
