"""Makes books for a large library: real novels with other people, places and words.

A library of copies would mislead: a name would have as many characters as there are
copies, and every passage would occur again. So each book gets names of its own, and the
less frequent words trade places with words of about the same frequency. The same number
always makes the same book.
"""

import random
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

_WORD = re.compile(r"[A-Za-z]+")
_ONSETS = (
    *("b", "br", "c", "cl", "d", "dr", "f", "g", "gr", "h", "j", "k", "l", "m", "n"),
    *("p", "pr", "r", "s", "st", "t", "th", "tr", "v", "w", "y", "z"),
)
_VOWELS = ("a", "e", "i", "o", "u", "ai", "ea", "ou")
_ENDINGS = ("", "l", "ll", "n", "nd", "r", "rd", "s", "ston", "th", "ton", "ver", "x")
_KEPT_TEXT = """I Mr Mrs Miss Ms Dr Sir Lady Lord Madam Master Captain Colonel General
    Major Aunt Uncle Chapter CHAPTER Volume VOLUME Book BOOK Part PART Monday Tuesday
    Wednesday Thursday Friday Saturday Sunday January February March April May June July
    August September October November December Christmas Easter God"""
_KEPT = frozenset(_KEPT_TEXT.split())
"""Capitalized words that stay, because they mark names, chapters and times."""

_LEAST_NAMED = 3
"""Occurrences from which a capitalized word is taken for a name."""

_FREQUENT = 600
"""Most frequent words, which stay: they carry grammar, speech and looks."""

_BLOCK = 40
"""Words of neighbouring frequency that trade places."""


def write_book(source: Path, target: Path, number: int) -> int:
    """Write book `number`, made of the chapters of the novel in `source`, to `target`.

    Returns the number of its words. `target` must not exist.
    """
    chapters = {path.name: path.read_text("utf-8") for path in _chapters(source)}
    renamed = _build_renaming(chapters.values(), random.Random(f"book {number}"))
    target.mkdir(parents=True)
    words = 0
    for name, text in chapters.items():
        changed = _WORD.sub(lambda match: renamed.get(match[0], match[0]), text)
        (target / name).write_text(changed, encoding="utf-8")
        words += len(changed.split())
    return words


def write_books(novels: Sequence[Path], root: Path, words: int) -> int:
    """Write books below `root` until they have `words` words; return their number."""
    number = total = 0
    while total < words:
        target = root / f"book-{number:03}"
        total += write_book(novels[number % len(novels)], target, number)
        number += 1
    return number


def _chapters(source: Path) -> list[Path]:
    return sorted(source.rglob("*.md"))


def _build_renaming(texts: Iterable[str], dice: random.Random) -> dict[str, str]:
    """Return the new word for each word that changes."""
    counts = Counter(word for text in texts for word in _WORD.findall(text))
    names = [
        word
        for word, count in counts.items()
        if word[0].isupper()
        and count >= _LEAST_NAMED
        and word not in _KEPT
        and word.lower() not in counts
    ]
    renamed: dict[str, str] = {}
    for name in sorted(names):
        invented = _invent_name(dice)
        renamed |= {name: invented, name.upper(): invented.upper()}
    ranked = [word for word, _ in counts.most_common() if word.islower()]
    for start in range(_FREQUENT, len(ranked), _BLOCK):
        block = ranked[start : start + _BLOCK]
        shuffled = dice.sample(block, len(block))
        for word, other in zip(block, shuffled, strict=True):
            renamed |= {word: other, word.capitalize(): other.capitalize()}
    return renamed


def _invent_name(dice: random.Random) -> str:
    syllables = (dice.choice(_ONSETS) + dice.choice(_VOWELS) for _ in range(2))
    return ("".join(syllables) + dice.choice(_ENDINGS)).capitalize()
