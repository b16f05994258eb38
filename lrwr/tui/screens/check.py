"""The check screen: contradictions with both passages side by side."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import ClassVar

from textual import work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal

from lrwr.app.history import describe_new_findings, is_day, parse_since
from lrwr.app.presenters.contradictions import POSSIBLE_NOTE, describe_contradiction
from lrwr.app.presenters.text import (
    StyledLine,
    StyledText,
    format_horizon,
    sanitize_line,
)
from lrwr.core.bible.values import format_evidence_location
from lrwr.core.continuity.contradictions import UNCHECKED_TOPICS
from lrwr.core.continuity.statements import (
    Contradiction,
    ContradictionSide,
    StatementSource,
)
from lrwr.core.model.text import Span
from lrwr.tui.actions.screen_keys import CHECK_ACTIONS, FIND_ACTION, OPEN_ROW_ACTION
from lrwr.tui.queries.passages import cut_surroundings
from lrwr.tui.queries.search import (
    FindingsWithTexts,
    list_documents,
    load_findings,
    mark_as_intended,
)
from lrwr.tui.queries.story import record_decision
from lrwr.tui.room import RoomScreen
from lrwr.tui.screens.decisions import DecisionScreen
from lrwr.tui.screens.dialogs import TextInputScreen
from lrwr.tui.widgets.lists import LineList, ListRow, RowList


class CheckScreen(DecisionScreen):
    """Lists the contradictions that `lrwr check` reports; both passages are below.

    `words` are a day, such as "yesterday": then only those first reported since are
    listed. Any other words fill the filter, which also matches the files.
    """

    DEFAULT_CSS: ClassVar[str] = """
    CheckScreen {
        #master-detail-both, &.-stacked #master-detail-both { layout: vertical; }
        #master-detail-rows, &.-stacked #master-detail-rows { width: 100%; height: 2fr; }
        #check-sides { height: 3fr; border-top: solid $panel; }
        #check-sides LineList, &.-stacked #check-sides LineList {
            width: 1fr; height: 100%; border-left: none; border-top: none;
        }
        &.-stacked #check-sides { layout: vertical; }
        &.-stacked #check-sides LineList { width: 100%; height: 1fr; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        OPEN_ROW_ACTION.binding,
        *(action.binding for action in (*CHECK_ACTIONS, FIND_ACTION)),
    ]

    def __init__(self, room: RoomScreen, words: str = "") -> None:
        as_of = room.scope.as_of
        until = f", up to {format_horizon(as_of)}" if as_of else ""
        since, words = (words, "") if is_day(words) else ("", words)
        super().__init__(room, f"Contradictions{until}", words=words)
        self.nothing = "No contradictions found."
        self._findings = FindingsWithTexts((), {})
        self._with_intended = False
        self._since = since

    def compose_details(self) -> ComposeResult:
        """Lay out the passages of both sides beside each other."""
        with Horizontal(id="check-sides"):
            yield LineList(id="master-detail-lines")
            yield LineList(id="check-found")

    async def rows(self) -> Sequence[ListRow]:
        """Return a row for each contradiction, by the order of the contradicting text.

        Raises:
            NotFound: No manuscript was ingested, or the horizon does not exist.
        """
        as_of, with_intended = self.room.scope.as_of, self._with_intended
        now = datetime.now().astimezone()
        since = parse_since(self._since, now) if self._since else None
        self._findings = await self.room.room.service_thread.run(
            lambda workspace: load_findings(
                workspace, as_of, with_intended=with_intended, since=since
            )
        )
        self.nothing = self._findings.nothing
        if not self.message:
            topics = f"Not analysed (needs a language model): {UNCHECKED_TOPICS}."
            shown = f"New since {self._since}; n shows all. " if self._since else ""
            is_unsure = any(c.possible for c in self._findings.contradictions)
            doubt = f"{POSSIBLE_NOTE} " if is_unsure else ""
            self.set_note(f"{shown}{doubt}{topics}")
        notes = describe_new_findings(self._findings.reported, now)
        return [
            ListRow(
                contradiction.id,
                describe_contradiction(contradiction),
                f"intended: {contradiction.because}"
                if contradiction.intended
                else notes.get(contradiction.id, ""),
                tuple(list_documents([contradiction])),
            )
            for contradiction in self._findings.contradictions
        ]

    async def lines(self, key: str) -> Iterable[StyledLine]:
        """Return the confirmed side; the contradicting one is shown beside it."""
        finding = self._finding(key)
        right = self.query_one("#check-found", LineList)
        right.show(self._render_side(finding.found) if finding else ())
        return self._render_side(finding.canon) if finding else ()

    def _render_side(self, side: ContradictionSide) -> Iterator[StyledLine]:
        is_text = side.source is StatementSource.TEXT
        source = "The text" if is_text else f"Your {side.source}"
        yield StyledLine((StyledText(f"{source}: {side.value}", "strong"),))
        if not side.evidence:
            yield StyledLine((StyledText("lrwr.canon.toml", "place"),), 2)
        for evidence in side.evidence:
            place = sanitize_line(format_evidence_location(evidence))
            yield StyledLine((StyledText(place, "place"),), 2, evidence)
            document = self._findings.texts.get(evidence.document)
            span = Span(evidence.spans[0].start, evidence.spans[-1].end)
            after = cut_surroundings(document.text, span)[1] if document else ""
            pieces = StyledText(evidence.text, "strong"), StyledText(after, "faint")
            yield StyledLine(pieces, 2, evidence)

    def _finding(self, key: str) -> Contradiction | None:
        found = self._findings.contradictions
        return next((one for one in found if one.id == key), None)

    def action_show_new(self) -> None:
        """Show only what was first reported since yesterday, or everything again."""
        self._since = "" if self._since else "yesterday"
        self.message = ""
        self.fill(at=self.key)

    def action_show_all(self) -> None:
        """Show intended contradictions too, or hide them again."""
        self._with_intended = not self._with_intended
        self.fill(at=self.key)

    async def action_side(self, number: int) -> None:
        """Open the first passage of a side in the editor; 1 is the left one."""
        name = "#master-detail-lines" if number == 1 else "#check-found"
        evidence = self.query_one(name, LineList).evidence
        if evidence is not None:
            self._open(evidence.document, evidence.lines.first)

    @work(exclusive=True, group="decide", exit_on_error=False)
    async def action_intend(self) -> None:
        """Ask why, and mark the highlighted contradiction as intended."""
        if (finding := self._finding(self.key)) is None:
            return
        line = TextInputScreen(
            f"Intended: {describe_contradiction(finding)}. Why?",
            value="on purpose",
            is_selected=True,
            note="The reason is saved in lrwr.canon.toml; typing replaces this one.",
        )
        because = await self.app.push_screen_wait(line)
        if because:
            await self.run_guarded(self._decide(finding, because))

    async def _decide(self, finding: Contradiction, because: str) -> None:
        after = self.query_one(RowList).key_after(finding.id)
        decision = mark_as_intended(finding, because)
        await self.room.room.service_thread.run(
            lambda workspace: record_decision(workspace, decision)
        )
        self.add_decision(
            decision, "Marked as intended. Saved in lrwr.canon.toml; press u to undo."
        )
        self.fill(at=after)
