"""Rows of a list, and the search in them."""

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from rapidfuzz.fuzz import partial_ratio

NEAR = 70.0
"""The least similarity, out of 100, that counts as a typing error."""

_SHORTEST = 3
"""The fewest letters in which a typing error is looked for."""


_WHOLE, _BEGINS, _WORD, _INSIDE, _IN_DETAIL = 500.0, 400.0, 300.0, 200.0, 150.0
"""Scores of names that contain the query; all above those that are only similar."""


@dataclass(frozen=True, slots=True)
class ListRow:
    """One row of a list: `key` is unique, `detail` is shown after the name.

    It is found by its name, its detail and its `search_terms`. A `heading` stands
    above the rows after it, and cannot be chosen. `depth` is the indent in columns.
    The texts are not sanitized.
    """

    key: str
    name: str
    detail: str = ""
    search_terms: tuple[str, ...] = ()
    heading: bool = False
    depth: int = 0


class SearchableRows:
    """Rows in their order, searched at each typed letter."""

    def __init__(self, rows: Sequence[ListRow]) -> None:
        self.all = tuple(rows)
        self._names: list[tuple[str, ...]] | None = None

    def rank(self, query: str) -> list[ListRow]:
        """Return the rows whose names are similar to `query`, best match first.

        Headings are left out. An empty query returns all rows in their order.
        """
        normalized_query = _normalize(query)
        if not normalized_query:
            return list(self.all)
        scored = [
            (_score(normalized_query, names), row)
            for row, names in zip(self.all, self._normalized_names(), strict=True)
            if not row.heading
        ]
        matches = [pair for pair in scored if pair[0] > 0]
        return [row for _, row in sorted(matches, key=lambda pair: -pair[0])]

    def filter(self, query: str) -> list[ListRow]:
        """Return the rows that contain every word of `query`, under their headings."""
        words = _normalize(query).split()
        if not words:
            return list(self.all)
        matches: list[ListRow] = []
        heading: ListRow | None = None
        for row, names in zip(self.all, self._normalized_names(), strict=True):
            if row.heading:
                heading = row
            elif all(any(word in name for name in names) for word in words):
                matches += [heading] if heading else []
                heading = None
                matches.append(row)
        return matches

    def _normalized_names(self) -> list[tuple[str, ...]]:
        """Return for each row its normalized names, and its detail last."""
        if self._names is None:
            self._names = [
                tuple(map(_normalize, (row.name, *row.search_terms, row.detail)))
                for row in self.all
            ]
        return self._names


def _score(query: str, names: Sequence[str]) -> float:
    *called, detail = names
    best = max(_score_substring(query, name) for name in called)
    if best or query in detail:
        return best or _IN_DETAIL
    if len(query) < _SHORTEST:
        return 0.0
    score = max(partial_ratio(query, name) for name in called)
    return score if score >= NEAR else 0.0


def _score_substring(query: str, name: str) -> float:
    """Score a name that contains the query; 0 if it does not."""
    if query == name:
        return _WHOLE
    if name.startswith(query):
        return _BEGINS
    if f" {query}" in name:
        return _WORD
    return _INSIDE if query in name else 0.0


def _normalize(text: str) -> str:
    """Return a text without case, accents and repeated blanks."""
    parts = unicodedata.normalize("NFKD", text.casefold())
    bare = "".join(c for c in parts if not unicodedata.combining(c))
    return " ".join(bare.split())
