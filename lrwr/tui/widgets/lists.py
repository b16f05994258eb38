"""Widgets that list rows or lines of text, and the search in rows."""

import asyncio
import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from rapidfuzz.fuzz import partial_ratio
from textual import events, work
from textual.content import Content
from textual.geometry import Spacing
from textual.visual import Padding, Visual
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from lrwr.app.presenters.text import StyledLine, StyledText, sanitize_text
from lrwr.tui.widgets.reply import render_prose

if TYPE_CHECKING:
    from lrwr.core.bible.values import TextEvidence

MIN_SIMILARITY = 70.0
"""Minimum similarity, from 0 to 100, of a name with a typing error."""
_MIN_FUZZY_LETTERS = 3
"""Minimum length of a query that may contain a typing error."""

_EXACT, _PREFIX, _WORD_PREFIX, _SUBSTRING, _IN_DETAIL = (
    500.0,
    400.0,
    300.0,
    200.0,
    150.0,
)
"""Scores of names that contain the query; higher than any similarity score."""


_CHAPTER = re.compile(r"ch\d+")
"""A chapter as the user types it."""


@dataclass(frozen=True, slots=True)
class ListRow:
    """One row of a list.

    `key` identifies the row. `detail` is shown after `name`. Searches match name,
    `detail` and `search_terms`, which are not shown. A `heading` cannot be selected;
    its key is empty. `depth` is the indent in columns. The texts are sanitized when
    they are shown.
    """

    key: str
    name: str
    detail: str = ""
    search_terms: tuple[str, ...] = ()
    heading: bool = False
    depth: int = 0


class SearchableRows:
    """Rows with two searches that are fast enough to run at each key press.

    `all` has all rows in their original order. Searches ignore case, accents and
    repeated spaces.
    """

    def __init__(self, rows: Sequence[ListRow]) -> None:
        self.all = tuple(rows)
        self._names: list[tuple[str, ...]] | None = None

    def rank(self, query: str) -> list[ListRow]:
        """Return the rows that contain `query` or are similar, best match first.

        Names equal to `query` come first, then names that start with `query`, contain
        it, and are similar despite typing errors. Headings are left out. An empty query
        returns all rows, with headings, in their order.
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

    def filter(self, query: str, *, names_first: bool = False) -> list[ListRow]:
        """Return the rows that contain every word of `query`, under their headings.

        A part of a word matches, too. The order is unchanged; headings without rows are
        left out. An empty query returns all rows. With `names_first`, a word of any
        row's name or search terms is not looked for in the details.
        """
        words = _normalize(query).split()
        if not words:
            return list(self.all)
        if names_first:
            return self._filter_by_names(words)
        matches: list[ListRow] = []
        heading: ListRow | None = None
        for row, names in zip(self.all, self._normalized_names(), strict=True):
            if row.heading:
                heading = row
            elif all(_is_in(word, names) for word in words):
                matches += [heading] if heading else []
                heading = None
                matches.append(row)
        return matches

    def _filter_by_names(self, words: Sequence[str]) -> list[ListRow]:
        """Return the rows with all `words`; see `filter` with `names_first`."""
        rows = list(zip(self.all, self._normalized_names(), strict=True))
        name_words = {
            word
            for row, names in rows
            if not row.heading
            for name in names[:-1]
            for word in name.split()
        }
        matches: list[ListRow] = []
        heading: ListRow | None = None
        for row, names in rows:
            if row.heading:
                heading = row
                continue
            called = {word for name in names[:-1] for word in name.split()}
            if all(w in called if w in name_words else _is_in(w, names) for w in words):
                matches += [heading, row] if heading else [row]
                heading = None
        return matches

    def _normalized_names(self) -> list[tuple[str, ...]]:
        """Return for each row its normalized names, then its detail."""
        if self._names is None:
            self._names = [
                tuple(map(_normalize, (row.name, *row.search_terms, row.detail)))
                for row in self.all
            ]
        return self._names


def _is_in(word: str, names: Sequence[str]) -> bool:
    """Return whether a name contains `word`; "ch1" is not in "ch12"."""
    if _CHAPTER.fullmatch(word):
        return any(re.search(rf"\b{word}(?!\d)", name) for name in names)
    return any(word in name for name in names)


def _score(query: str, names: Sequence[str]) -> float:
    *called, detail = names
    best = max(_score_substring(query, name) for name in called)
    if best or query in detail:
        return best or _IN_DETAIL
    if len(query) < _MIN_FUZZY_LETTERS:
        return 0.0
    score = max(partial_ratio(query, name) for name in called)
    return score if score >= MIN_SIMILARITY else 0.0


def _score_substring(query: str, name: str) -> float:
    """Score a name that contains the query; 0 if it does not."""
    if query == name:
        return _EXACT
    if name.startswith(query):
        return _PREFIX
    if f" {query}" in name:
        return _WORD_PREFIX
    return _SUBSTRING if query in name else 0.0


def _normalize(text: str) -> str:
    """Return a text in lower case, without accents and repeated spaces."""
    parts = unicodedata.normalize("NFKD", text.casefold())
    bare = "".join(c for c in parts if not unicodedata.combining(c))
    return " ".join(bare.split())


BATCH = 100
"""Options added at once, so that long lists do not block keys."""
BATCH_PAUSE = 0.02
"""Seconds between two batches, in which keys are handled."""
_TONES = (
    ("strong", "bold"),
    ("faint", "$foreground-muted"),
    ("place", "$text-accent"),
    ("good", "$text-success"),
    ("bad", "$text-warning"),
)


class BrowseList(OptionList):
    """A list in which a click highlights an item, and a second click selects it."""

    DEFAULT_CSS: ClassVar[str] = """
    BrowseList {
        border: none;
        padding: 0;
        background: transparent;
        scrollbar-size-vertical: 1;
        scrollbar-size-horizontal: 0;
        &:focus { border: none; }
        & > .option-list--option { padding: 0 1; }
        & > .option-list--option-disabled { color: $text-muted; text-style: italic; }
        & > .option-list--option-hover { background: $panel; }
        & > .option-list--option-highlighted,
        &:focus > .option-list--option-highlighted {
            color: $foreground;
            background: $primary 18%;
            text-style: none;
        }
        &:focus > .option-list--option-highlighted { background: $primary 35%; }
    }
    """

    def __init__(self, *, id: str, classes: str = "") -> None:  # noqa: A002 - Textual's
        super().__init__(id=id, classes=classes, markup=False)

    async def _on_click(self, event: events.Click) -> None:
        """Highlight the clicked option; select it if it was highlighted before."""
        event.prevent_default()
        clicked: int | None = event.style.meta.get("option")
        if clicked is None or self.options[clicked].disabled:
            return
        if clicked == self.highlighted:
            self.action_select()
        self.highlighted = clicked

    def on_resize(self) -> None:
        """Keep the highlighted option in sight when the list becomes smaller."""
        self.call_after_refresh(self.scroll_to_highlight)

    def move_page(self, by: int) -> None:
        """Move the highlight by `by` pages, down if positive.

        Headings are skipped.
        """
        page = max(1, self.size.height - 1) * by
        last = len(self.options) - 1
        at = min(max(0, (self.highlighted or 0) + page), last)
        directions = (range(at, last + 1), range(at, -1, -1))
        enabled = [
            n for numbers in directions for n in numbers if not self.options[n].disabled
        ]
        self.highlighted = enabled[0] if enabled else None


class RowList(BrowseList):
    """A list of rows, one line each."""

    DEFAULT_CSS: ClassVar[str] = """
    RowList { text-wrap: nowrap; text-overflow: ellipsis; }
    """

    def __init__(self, *, id: str) -> None:  # noqa: A002 - Textual's
        super().__init__(id=id)
        self._shown: list[ListRow] = []

    @property
    def key(self) -> str:
        """The key of the highlighted row; empty if no row is highlighted."""
        return self.row.key if self.row else ""

    @property
    def row(self) -> ListRow | None:
        """The highlighted row; None if no row is highlighted."""
        at = self.highlighted
        return None if at is None else self._shown[at]

    def show(self, rows: Iterable[ListRow], *, at: str = "") -> None:
        """Show `rows`, and highlight the one with the key `at`.

        If no row has that key, the first row that is no heading is highlighted.
        """
        self._shown = list(rows)
        enabled = [number for number, row in enumerate(self._shown) if not row.heading]
        matches = (number for number in enabled if self._shown[number].key == at)
        highlighted = next(matches, enabled[0] if enabled else None)
        first = BATCH + (highlighted or 0)
        self.set_options(map(_option, self._shown[:first]))
        self.highlighted = highlighted
        # Textual scrolls at once, with the sizes from before the rows were added.
        self.call_after_refresh(self.scroll_to_highlight)
        self._add_options_from(first)

    @work(exclusive=True, group="rows", exit_on_error=False)
    async def _add_options_from(self, first: int) -> None:
        """Add the other rows in batches, so that keys are handled in between."""
        rows = self._shown
        for start in range(first, len(rows), BATCH):
            await asyncio.sleep(BATCH_PAUSE)
            self.add_options(map(_option, rows[start : start + BATCH]))

    def key_after(self, key: str) -> str:
        """Return the key of the row below the one with `key`.

        For the last row, it is the key of the row above. Empty if there is no other
        row, or if no row has `key`.
        """
        keys = [row.key for row in self._shown if not row.heading]
        if key not in keys:
            return ""
        at = keys.index(key)
        return next(iter(keys[at + 1 :] or keys[max(0, at - 1) : at]), "")


class LineList(BrowseList):
    """A list of text lines, wrapped to the width.

    Room for the scroll bar is always reserved: Textual wraps before a scroll bar
    appears, and not always again, so that the end of a line would be lost.
    """

    DEFAULT_CSS: ClassVar[str] = """
    LineList { scrollbar-gutter: stable; }
    LineList > .option-list--option-highlighted { background: transparent; }
    """

    def __init__(self, *, id: str) -> None:  # noqa: A002 - Textual's
        super().__init__(id=id)
        self._shown: list[StyledLine] = []

    @property
    def line(self) -> StyledLine | None:
        """The highlighted line, or None if there is none."""
        at = self.highlighted
        return None if at is None else self._shown[at]

    @property
    def evidence_below(self) -> "TextEvidence | None":
        """The quotation of the highlighted line, or else of the next line with one."""
        at = self.highlighted or 0
        following = (line.evidence for line in self._shown[at:] if line.evidence)
        return next(following, None) or self.evidence

    @property
    def evidence(self) -> "TextEvidence | None":
        """The quotation of the highlighted line, else the first one of all lines."""
        highlighted = self.line
        if highlighted is not None and highlighted.evidence is not None:
            return highlighted.evidence
        return next((line.evidence for line in self._shown if line.evidence), None)

    def show(self, lines: Iterable[StyledLine], *, stay: bool = False) -> None:
        """Show `lines` and highlight the first, or with `stay` the same as before."""
        at = (self.highlighted or 0) if stay else 0
        self._shown = list(lines)
        at = min(at, len(self._shown) - 1)
        first = BATCH + max(at, 0)
        self.set_options(Option(_line(line)) for line in self._shown[:first])
        self.highlighted = at if self._shown else None
        self.call_after_refresh(self.scroll_to_highlight)
        self._add_options_from(first)

    @work(exclusive=True, group="lines", exit_on_error=False)
    async def _add_options_from(self, first: int) -> None:
        """Add the other lines in batches, so that keys are handled in between."""
        lines = self._shown
        for start in range(first, len(lines), BATCH):
            await asyncio.sleep(BATCH_PAUSE)
            self.add_options(
                Option(_line(line)) for line in lines[start : start + BATCH]
            )


def _option(row: ListRow) -> Option:
    return Option(_row(row), disabled=row.heading)


def _row(row: ListRow) -> Content:
    name = Content(f"{' ' * row.depth}{_on_one_line(row.name)}")
    return (
        name + Content.styled(f"  {_on_one_line(row.detail)}", "$foreground-muted")
        if (row.detail)
        else name
    )


def _line(line: StyledLine) -> Visual:
    tones = dict(_TONES)
    content = Content("")
    for piece in line.pieces:
        if isinstance(piece, StyledText):
            content += Content.styled(
                sanitize_text(piece.text), tones.get(piece.tone, "")
            )
        else:
            content += render_prose(sanitize_text(piece))
    return Padding(content, Spacing(0, 0, 0, line.indent))


def _on_one_line(text: str) -> str:
    return " ".join(sanitize_text(text).split())
