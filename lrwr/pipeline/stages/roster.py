"""Whom of the cast a text may name: all that weaving it depends on. Pure."""

import json
import re
from collections.abc import Iterable
from functools import lru_cache
from hashlib import sha256

from lrwr.core.model.cast import Cast, Character

REMEMBERED = 4_096
"""Texts of which a process remembers the words: a watch weaves after each save, and
then all texts but one are what they were."""

_WORD = re.compile(r"[^\W_]+")
_ARTICLES = frozenset({"the", "a", "an"})

_Form = tuple[frozenset[str], str]
"""The words that a form of a name needs, and whose or what it is."""


class Roster:
    """A cast, to be asked for those whom one text may name."""

    def __init__(self, cast: Cast) -> None:
        self._people = {one.name: one for one in cast.characters}
        self._shared = cast.shared
        self._owned = _by_last_word(
            (alias.name, one.name) for one in cast.characters for alias in one.aliases
        )
        self._several = _by_last_word((form, form) for form in cast.shared)
        self._told = {one.name: _told(one) for one in cast.characters}

    def of(self, text: str, narrator: str) -> Cast:
        """Return all whom `text` may name, and its narrator, ordered by name.

        A few whom it does not name may be among them. What is found in the text with
        them is what is found with the whole cast.
        """
        words = _words(text)
        names = sorted({*_fitting(self._owned, words), narrator} & self._people.keys())
        forms = sorted(_fitting(self._several, words))
        return Cast(
            tuple(self._people[name] for name in names),
            {form: self._shared[form] for form in forms},
        )

    def revision(self, rules: str, content: str, narrator: str, own: Cast) -> str:
        """Name what is made of a text by `rules`, with its `own` people."""
        people = tuple(self._told[one.name] for one in own.characters)
        shared = tuple((form, *names) for form, names in own.shared.items())
        return _revision(rules, content, narrator, people, shared)


def _by_last_word(forms: Iterable[tuple[str, str]]) -> dict[str, list[_Form]]:
    found: dict[str, list[_Form]] = {}
    for form, whose in forms:
        words = _WORD.findall(_folded(form))
        if len(words) > 1 and words[0] in _ARTICLES:
            words = words[1:]
        last = words[-1] if words else ""
        found.setdefault(last, []).append((frozenset(words), whose))
    return found


def _fitting(forms: dict[str, list[_Form]], words: frozenset[str]) -> set[str]:
    return {
        whose
        for last in words.intersection(forms)
        for needed, whose in forms[last]
        if needed <= words
    }


@lru_cache(maxsize=REMEMBERED)
def _words(text: str) -> frozenset[str]:
    """Return a text's words without capitals; "" stands for a name without letters."""
    once = " ".join(set(_folded(text).split()))
    return frozenset({"", *_WORD.findall(once)})


def _folded(text: str) -> str:
    """Make letters alike that patterns take for each other."""
    return text.casefold().replace("i\u0307", "i").replace("\u0131", "i")


@lru_cache(maxsize=REMEMBERED)
def _revision(
    rules: str,
    content: str,
    narrator: str,
    people: tuple[tuple[str, ...], ...],
    shared: tuple[tuple[str, ...], ...],
) -> str:
    whole = [rules, content, narrator, people, shared]
    return sha256(json.dumps(whole).encode()).hexdigest()


def _told(one: Character) -> tuple[str, ...]:
    forms = sorted(f"{alias.name}\n{alias.certainty.value}" for alias in one.aliases)
    return (one.name, one.gender.value, *forms)
