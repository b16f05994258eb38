"""The screen of changes: what differs from the last ingest or a git revision."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import ClassVar

from textual.binding import BindingType

from lrwr.app.diff import INGESTED, DiffRequest, ManuscriptDiff
from lrwr.app.presenters.contradictions import (
    describe_contradiction,
    render_contradictions,
)
from lrwr.app.presenters.diff import (
    NEW_CONTRADICTIONS,
    RESOLVED_CONTRADICTIONS,
    describe_document_change,
    group_changes,
    name_diff_point,
    render_change,
    render_edits,
)
from lrwr.app.presenters.text import StyledLine, StyledText, styled_line
from lrwr.app.presenters.watch import describe_shift
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.errors import NotFound
from lrwr.pipeline.diff import StoryDiff
from lrwr.pipeline.watch.events import DocumentDelta
from lrwr.tui.actions.screen_keys import OPEN_ROW_ACTION
from lrwr.tui.queries.library import compare_manuscript, parse_diff_request
from lrwr.tui.room import RoomScreen
from lrwr.tui.screens.master_detail import MasterDetailScreen, locate_lines
from lrwr.tui.widgets.lists import ListRow
from lrwr.tui.widgets.source_views import shorten_place

RECENT_HINT = (
    "Compared with the last ingest. In a git repository, /diff HEAD~1 or"
    " /diff 2 weeks ago compares with an earlier state."
)
"""Shown below the list unless an earlier state was named."""

LAST_HINT = (
    "These are the changes that the last ingest read; the files have not changed since."
    " /diff yesterday goes further back."
)
"""Shown below the list if nothing has changed since the last ingest."""

_NAME_COLUMNS = 28
"""Columns of a file name in the list."""


class DiffScreen(MasterDetailScreen[None]):
    """Lists what `lrwr diff` reports: facts, contradictions, questions, documents.

    `words` name the earlier state, see `parse_diff_request`.
    """

    BINDINGS: ClassVar[list[BindingType]] = [OPEN_ROW_ACTION.binding]
    DEFAULT_CSS: ClassVar[str] = """
    DiffScreen.-beside #master-detail-rows { width: 56%; }
    """

    def __init__(self, room: RoomScreen, words: str = "") -> None:
        super().__init__(room, "Changes")
        self._request = parse_diff_request(words)
        self._details: dict[str, tuple[StyledLine, ...]] = {}
        self.loading_text = "Comparing… this can take a while after many changes."

    async def rows(self) -> Sequence[ListRow]:
        """Compare the two states, and return a row for each difference.

        Raises:
            NotFound: No manuscript was ingested, or there is no such revision.
            LrwrError: git failed.
        """
        compared = await self._compare(self._request)
        if compared.difference.same and self._request == DiffRequest():
            with suppress(NotFound):  # there was only one ingestion
                compared = await self._compare(DiffRequest(last=True))
        before, after = map(name_diff_point, (compared.before, compared.after))
        self.nothing = f"{before} -> {after}: no changes."
        remarks = [
            *compared.remarks,
            *(f"{s.document} was not compared: {s.reason}" for s in compared.left_out),
        ]
        self._details = {}
        rows = list(self._build_rows(compared, before))
        is_last = compared.after.name == INGESTED
        hint = LAST_HINT if is_last else RECENT_HINT
        if self._request != DiffRequest():
            hint = ""
        self.set_note(" ".join(remarks) or hint)
        return rows

    async def lines(self, key: str) -> Iterable[StyledLine]:
        """Return the values, locations and affected scenes of a difference."""
        return self._details[key]

    async def _compare(self, request: DiffRequest) -> ManuscriptDiff:
        return await self.room.room.service_thread.run(
            lambda workspace: compare_manuscript(workspace, request)
        )

    def _build_rows(self, compared: ManuscriptDiff, before: str) -> Iterator[ListRow]:
        difference = compared.difference
        documents = [
            self._row(_name_change(document), _render_document(document, difference))
            for document in difference.documents
        ]
        yield from _with_heading("Documents", documents)
        for title, contradictions in (
            (NEW_CONTRADICTIONS, difference.appeared),
            (RESOLVED_CONTRADICTIONS, difference.vanished),
        ):
            rows = [
                self._row(
                    describe_contradiction(contradiction),
                    render_contradictions([contradiction]),
                )
                for contradiction in contradictions
            ]
            yield from _with_heading(title, rows)
        for title, changes in group_changes(difference.changes):
            rows = [
                self._row(describe_shift(change.shift), render_change(change, before))
                for change in changes
            ]
            yield from _with_heading(title, rows)

    def _row(self, name: str, lines: Iterable[StyledLine]) -> ListRow:
        key = str(len(self._details))
        self._details[key] = tuple(lines)
        return ListRow(key, name)


def _name_change(document: DocumentDelta) -> str:
    """Return how a document changed, with a file name that leaves room for it."""
    name = DocumentId(shorten_place(document.document, _NAME_COLUMNS))
    was = document.was and DocumentId(shorten_place(document.was, _NAME_COLUMNS))
    return describe_document_change(replace(document, document=name, was=was))


def _render_document(
    document: DocumentDelta, difference: StoryDiff
) -> Iterator[StyledLine]:
    """Yield how a document changed, then its changed paragraphs in words.

    Enter on a paragraph opens it.
    """
    yield styled_line(StyledText(describe_document_change(document), "strong"))
    lines = render_edits(difference.edits, document.document)
    yield from locate_lines(lines, document.document)


def _with_heading(title: str, rows: Sequence[ListRow]) -> list[ListRow]:
    return [ListRow("", title, heading=True), *rows] if rows else []
