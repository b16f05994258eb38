"""One form of a name, taken apart, with what is counted of it."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from lrwr.core.nlp.names.lexicon import PARTICLES, PEOPLE_SUFFIXES
from lrwr.core.nlp.names.titles import NAME_EPITHETS, normalize_name_title

_JOINED = re.compile(r"([A-Z][a-z]+)(?:[A-Z][a-z]+)+")
_CAPITAL = re.compile(r"[A-Z][a-z]+")
_PREFIXES = frozenset({"Mc", "Mac", "Fitz", "De", "Di", "La", "Le", "Van", "Von"})


@dataclass(slots=True)
class NameForm:
    """One form of a name, all documents taken together.

    `title` is plain ("mr"), empty without one; `words` are what follows it, `of`
    what follows an "of" ("the Duke of Thole"). `counts` are those of the evidence,
    `first` says where it stood first: document, character. `documents` have it.
    `male` and `female` weigh what the text, and English, say of the given name.
    """

    name: str
    title: str
    words: tuple[str, ...]
    of: str = ""
    counts: Counter[str] = field(default_factory=Counter)
    first: tuple[int, int] = (0, 0)
    documents: int = 0
    male: int = 0
    female: int = 0

    @classmethod
    def of_name(cls, name: str) -> "NameForm":
        """Take `name` apart; nothing is counted yet."""
        title, words, of = parse_name_form(name)
        return cls(name, title, words, of)

    @property
    def n(self) -> int:
        """How often it stands in the text."""
        return self.counts["n"]

    @property
    def parts(self) -> frozenset[str]:
        """The words of a name written without a space, in lower case: BrineHob."""
        name = self.words[0] if len(self.words) == 1 else ""
        match = _JOINED.fullmatch(name)
        if match is None or match[1] in _PREFIXES:
            return frozenset()
        return frozenset(word.lower() for word in _CAPITAL.findall(name))

    @property
    def given(self) -> str:
        """The first word of two or more, in lower case; else ""."""
        return self.words[0].lower() if len(self.words) > 1 else ""

    @property
    def last(self) -> str:
        """The last word of two or more, particles with it, in lower case; else ""."""
        return _surname(self.words) if len(self.words) > 1 else ""


def _surname(words: Sequence[str]) -> str:
    at = len(words) - 1
    while at > 1 and words[at - 1].lower() in PARTICLES:
        at -= 1
    return " ".join(words[at:]).lower()


def parse_name_form(name: str) -> tuple[str, tuple[str, ...], str]:
    """Take a name apart: its title, its words, and what follows an "of"."""
    body, _, of = name.partition(" of ")
    words = body.split(" ")
    if len(words) > 1 and words[0].lower() in ("the", "a", "an"):
        words.pop(0)
    title = ""
    while len(words) > 1 and words[0].lower() in NAME_EPITHETS:
        words.pop(0)
    while words and normalize_name_title(words[0]) and (len(words) > 1 or not title):
        title = normalize_name_title(words.pop(0))
    while len(words) > 1 and words[-1].lower().rstrip(".") in PEOPLE_SUFFIXES:
        words.pop()
    return title, tuple(words), of
