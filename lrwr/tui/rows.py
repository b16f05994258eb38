"""Rows of a list, and which of them are meant by what is typed."""

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

NEAR = 70.0
"""How alike a word and a name must be, out of 100, for a slip of the keyboard."""

_SHORTEST = 3
"""The fewest letters in which a slip is looked for."""


@dataclass(frozen=True, slots=True)
class Row:
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


def ranked(wanted: str, rows: Sequence[Row]) -> list[Row]:
    """Return the rows whose names are like what is typed, likest first.

    Whatever is typed, headings are left out; nothing typed leaves all as it is.
    """
    sought = _plain(wanted)
    if not sought:
        return list(rows)
    scored = [(_likeness(sought, row), row) for row in rows if not row.heading]
    found = [pair for pair in scored if pair[0] > 0]
    return [row for _, row in sorted(found, key=lambda pair: -pair[0])]


def holding(wanted: str, rows: Sequence[Row]) -> list[Row]:
    """Return the rows that hold every word that is typed, in order, with headings."""
    words = _plain(wanted).split()
    found: list[Row] = []
    heading: Row | None = None
    for row in rows:
        if row.heading:
            heading = row
        elif all(word in _whole(row) for word in words):
            found += [heading] if heading else []
            heading = None
            found.append(row)
    return found


def _likeness(sought: str, row: Row) -> float:
    names = [_plain(name) for name in (row.name, *row.also)]
    best = max(_said(sought, name) for name in names)
    if best or sought in _plain(row.aside):
        return best or 150.0
    if len(sought) < _SHORTEST:
        return 0.0
    from rapidfuzz.fuzz import partial_ratio

    score = max(partial_ratio(sought, name) for name in names)
    return score if score >= NEAR else 0.0


def _said(sought: str, name: str) -> float:
    """Score a name that holds what is sought: whole, from its beginning, a word's."""
    if sought == name:
        return 500.0
    if name.startswith(sought):
        return 400.0
    if f" {sought}" in name:
        return 300.0
    return 200.0 if sought in name else 0.0


def _whole(row: Row) -> str:
    return _plain(" ".join((row.name, row.aside, *row.also)))


def _plain(text: str) -> str:
    """Return a text without case, accents and needless blanks."""
    parts = unicodedata.normalize("NFKD", text.casefold())
    bare = "".join(one for one in parts if not unicodedata.combining(one))
    return " ".join(bare.split())
