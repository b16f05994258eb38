"""The screen of open questions (gaps): lists them and records the user's answers."""

from collections.abc import Iterable, Sequence
from typing import ClassVar

from textual import work
from textual.binding import BindingType

from lrwr.app.presenters.story import (
    describe_not_evaluated,
    describe_nothing_known,
    explain_model_setup,
    render_gap,
)
from lrwr.app.presenters.text import (
    StyledLine,
    StyledText,
    format_horizon,
    shorten_excerpt,
)
from lrwr.core.bible.values import Gap, GapState
from lrwr.tui.actions.screen_keys import ANSWER_GAP_ACTION, FIND_ACTION, GAP_ACTIONS
from lrwr.tui.queries.story import (
    OpenGaps,
    decide_gap,
    load_open_gaps,
)
from lrwr.tui.room import RoomScreen
from lrwr.tui.screens.decisions import DecisionScreen
from lrwr.tui.screens.dialogs import TextInputScreen
from lrwr.tui.widgets.lists import ListRow, RowList

MODEL_ONLY_TOPIC = "Open questions without a marker (TODO, TK, ???) in your text"
"""What only a language model finds; named in the note under the list."""


SAVE_NOTE = "Your answer will be saved in lrwr.canon.toml."


class GapsScreen(DecisionScreen):
    """Lists open questions (gaps), those reported in the current thread first.

    Answers are recorded as canon decisions.
    """

    DEFAULT_CSS: ClassVar[str] = """
    GapsScreen.-beside #master-detail-rows { width: 48%; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        ANSWER_GAP_ACTION.binding,
        *(action.binding for action in (*GAP_ACTIONS, FIND_ACTION)),
    ]

    def __init__(self, room: RoomScreen) -> None:
        as_of = room.scope.as_of
        until = f", up to {format_horizon(as_of)}" if as_of else ""
        super().__init__(room, f"Open questions{until}")
        self._open_gaps: OpenGaps | None = None
        self._postponed: list[str] = []
        self._show_all = False

    async def rows(self) -> Sequence[ListRow]:
        """Return the open gaps in three groups, each under a heading.

        A row's key is the gap's id. First come those that answers of this thread
        reported, then the others, last those that were postponed on this screen. Empty
        groups are left out.

        Raises:
            NotFound: No manuscript was ingested, or the horizon does not exist.
        """
        scope, room = self.room.scope, self.room.room
        open_gaps = await room.service_thread.run(
            lambda workspace: load_open_gaps(workspace, scope.as_of, scope.thread)
        )
        self._open_gaps = open_gaps
        remedy = explain_model_setup(open_gaps.bible, room.settings)
        self.nothing = describe_nothing_known(
            "No open questions found", scope.as_of or None, remedy
        )
        if not self.message:
            self.set_note(describe_not_evaluated(open_gaps.bible, MODEL_ONLY_TOPIC))
        return self._in_order()

    def _in_order(self) -> list[ListRow]:
        if self._open_gaps is None:
            return []
        flagged_ids, postponed = self._open_gaps.flagged, self._postponed
        current_gaps = [gap for gap in self._open_gaps.open if gap.id not in postponed]
        parts = (
            (
                "From this thread",
                [gap for gap in current_gaps if gap.id in flagged_ids],
            ),
            (
                "Not answered yet",
                [gap for gap in current_gaps if gap.id not in flagged_ids],
            ),
            ("Later", [gap for gap in self._open_gaps.open if gap.id in postponed]),
            ("Answered and closed", self._open_gaps.others if self._show_all else ()),
        )
        rows: list[ListRow] = []
        for heading, gaps in parts:
            if gaps:
                rows += [ListRow("", heading, heading=True), *map(self._gap_row, gaps)]
        return rows

    async def lines(self, key: str) -> Iterable[StyledLine]:
        """Return the hints and suggestions on the gap with the id `key`."""
        gap = self._shown_gap(key)
        if gap is None:
            return ()
        is_open = gap.state is GapState.OPEN
        note = SAVE_NOTE if is_open else f"State: {gap.state}."
        question = self._gap_question(gap)
        heading = [StyledLine((StyledText(question, "strong"),))] if question else []
        return [
            *heading,
            *render_gap(gap),
            StyledLine(()),
            StyledLine((StyledText(note, "faint"),)),
        ]

    def select(self, key: str) -> None:
        """Ask for the answer to the highlighted gap; `key` is ignored."""
        del key
        self.action_answer()

    @work(exclusive=True, group="decide", exit_on_error=False)
    async def action_answer(self) -> None:
        """Ask for an answer to the highlighted gap, and record it in the canon.

        An earlier answer can be edited. Nothing is recorded if the user cancels.
        """
        if (gap := self._shown_gap(self.key)) is None:
            return
        line = TextInputScreen(
            self._gap_name(gap),
            value=gap.answer,
            placeholder="Your answer",
            note="Your answer becomes canon: it is saved in lrwr.canon.toml and"
            " overrides lrwr's guesses.",
        )
        answer = await self.app.push_screen_wait(line)
        if answer:
            await self.run_guarded(self._decide(gap, answer))

    @work(exclusive=True, group="decide", exit_on_error=False)
    async def action_decline(self) -> None:
        """Record in the canon that the highlighted gap stays open on purpose."""
        if (gap := self._shown_gap(self.key)) is not None:
            await self.run_guarded(self._decide(gap, None))

    def action_show_all(self) -> None:
        """Show answered and closed questions too, or hide them again."""
        self._show_all = not self._show_all
        self.fill(at=self.key)

    def action_postpone(self) -> None:
        """Move the highlighted gap to the end of the list, until the screen is closed.

        Nothing is decided.
        """
        if key := self.key:
            after = self.query_one(RowList).key_after(key)
            self._postponed = [
                *(
                    postponed_id
                    for postponed_id in self._postponed
                    if postponed_id != key
                ),
                key,
            ]
            self.tell("Moved to the end of the list. Nothing was decided.")
            self.fill(at=after)

    async def _decide(self, gap: Gap, answer: str | None) -> None:
        after = self.query_one(RowList).key_after(gap.id)
        decision = await self.room.room.service_thread.run(
            lambda workspace: decide_gap(workspace, gap, answer)
        )
        if decision is None:
            self.tell("You already decided this.")
        else:
            outcome = "Left open on purpose" if answer is None else "Answered"
            self.add_decision(
                decision,
                f"{outcome}: {self._gap_name(gap)}. Saved in lrwr.canon.toml; press u to undo.",
            )
        self.fill(at=after)

    def _gap_row(self, gap: Gap) -> ListRow:
        if question := self._gap_question(gap):
            return ListRow(gap.id, question, "", (gap.about, gap.attribute))
        return ListRow(gap.id, shorten_excerpt(gap.attribute), gap.about)

    def _gap_name(self, gap: Gap) -> str:
        if question := self._gap_question(gap):
            return question
        whose = f"{gap.about}: " if gap.about else ""
        return f"{whose}{shorten_excerpt(gap.attribute)}".rstrip(" .:")

    def _gap_question(self, gap: Gap) -> str:
        """Return what the user asked, if only an answer reported `gap`; else empty."""
        return self._open_gaps.questions.get(gap.id, "") if self._open_gaps else ""

    def _shown_gap(self, key: str) -> "Gap | None":
        """Return the gap with the id `key`, open or not."""
        gaps = self._open_gaps
        every = (*gaps.open, *gaps.others) if gaps else ()
        return next((gap for gap in every if gap.id == key), None)
