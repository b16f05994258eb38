"""Rows of a list, and which of them are meant by what is typed."""

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

NEAR = 70.0
"""How alike a word and a name must be, out of 100, for a slip of the keyboard."""

_SHORTEST = 3
"""The fewest letters in which a slip is looked for."""


_WHOLE, _BEGINS, _WORD, _INSIDE, _ASIDE = 500.0, 400.0, 300.0, 200.0, 150.0
"""What holds the letters that are typed goes before what is only like them."""


@dataclass(frozen=True, slots=True)
class ListRow:
    """One row of a list: its `key` is its own, `aside` is said after its name.

    It is found by its name, its `aside` and what it is `also` called. A `heading`
    stands over the rows that come after it, and cannot be chosen. It is shown `deep`
    columns from the left. Nothing is cleaned.
    """

    key: str
    name: str
    aside: str = ""
    also: tuple[str, ...] = ()
    heading: bool = False
    deep: int = 0


class SearchableRows:
    """Rows in their order, to be looked through at each letter that is typed."""

    def __init__(self, rows: Sequence[ListRow]) -> None:
        self.all = tuple(rows)
        self._names: list[tuple[str, ...]] | None = None

    def ranked(self, wanted: str) -> list[ListRow]:
        """Return the rows whose names are like what is typed, likest first.

        Headings are left out then. Nothing typed leaves all as it is.
        """
        sought = _plain(wanted)
        if not sought:
            return list(self.all)
        scored = [
            (_likeness(sought, names), row)
            for row, names in zip(self.all, self._plain_names(), strict=True)
            if not row.heading
        ]
        found = [pair for pair in scored if pair[0] > 0]
        return [row for _, row in sorted(found, key=lambda pair: -pair[0])]

    def holding(self, wanted: str) -> list[ListRow]:
        """Return the rows that hold every word that is typed, under their headings."""
        words = _plain(wanted).split()
        if not words:
            return list(self.all)
        found: list[ListRow] = []
        heading: ListRow | None = None
        for row, names in zip(self.all, self._plain_names(), strict=True):
            if row.heading:
                heading = row
            elif all(any(word in name for name in names) for word in words):
                found += [heading] if heading else []
                heading = None
                found.append(row)
        return found

    def _plain_names(self) -> list[tuple[str, ...]]:
        """Return for each row its names and what is said besides, the latter last."""
        if self._names is None:
            self._names = [
                tuple(map(_plain, (row.name, *row.also, row.aside))) for row in self.all
            ]
        return self._names


def _likeness(sought: str, names: Sequence[str]) -> float:
    *called, aside = names
    best = max(_said(sought, name) for name in called)
    if best or sought in aside:
        return best or _ASIDE
    if len(sought) < _SHORTEST:
        return 0.0
    from rapidfuzz.fuzz import partial_ratio

    score = max(partial_ratio(sought, name) for name in called)
    return score if score >= NEAR else 0.0


def _said(sought: str, name: str) -> float:
    """Score a name that holds what is sought: whole, from its beginning, a word's."""
    if sought == name:
        return _WHOLE
    if name.startswith(sought):
        return _BEGINS
    if f" {sought}" in name:
        return _WORD
    return _INSIDE if sought in name else 0.0


def _plain(text: str) -> str:
    """Return a text without case, accents and needless blanks."""
    parts = unicodedata.normalize("NFKD", text.casefold())
    bare = "".join(one for one in parts if not unicodedata.combining(one))
    return " ".join(bare.split())
