"""The review screen: names that may be one character, or two."""

from collections.abc import Iterable, Iterator, Sequence
from typing import ClassVar

from textual import work
from textual.binding import BindingType

from lrwr.app.presenters.text import StyledLine, StyledText, sanitize_line
from lrwr.core.bible.name_evidence import NameLine
from lrwr.core.bible.name_review import NameProposal
from lrwr.core.bible.values import TextEvidence
from lrwr.core.canon.decision import Decision, format_decision
from lrwr.core.model.facts import RULES_KEEPER, Certainty
from lrwr.core.model.text import LineRange, Span
from lrwr.tui.actions.screen_keys import FIND_ACTION, OPEN_ROW_ACTION, REVIEW_ACTIONS
from lrwr.tui.queries.story import load_name_proposals, record_decision
from lrwr.tui.room import RoomScreen
from lrwr.tui.screens.decisions import DecisionScreen
from lrwr.tui.widgets.lists import ListRow, RowList


class NameReviewScreen(DecisionScreen):
    """Lists what `lrwr characters review` proposes, with the lines that speak for it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        OPEN_ROW_ACTION.binding,
        *(action.binding for action in (*REVIEW_ACTIONS, FIND_ACTION)),
    ]

    def __init__(self, room: RoomScreen) -> None:
        super().__init__(room, "Names to review")
        self.nothing = "No names to review."
        self._proposals: Sequence[NameProposal] = ()

    async def rows(self) -> Sequence[ListRow]:
        """Return a row for each proposal, those that the text speaks for first.

        Raises:
            NotFound: No manuscript was ingested.
        """
        self._proposals = await self.room.room.service_thread.run(load_name_proposals)
        return [
            ListRow(proposal.question, proposal.question)
            for proposal in self._proposals
        ]

    async def lines(self, key: str) -> Iterable[StyledLine]:
        """Return the reason of a proposal, and its lines of the text."""
        proposal = self._find_proposal(key)
        return _render_proposal(proposal) if proposal else ()

    def _find_proposal(self, key: str) -> NameProposal | None:
        return next((p for p in self._proposals if p.question == key), None)

    @work(exclusive=True, group="decide", exit_on_error=False)
    async def action_decide(self, answer: str) -> None:
        """Store the answer to the highlighted question: "yes" or "no"."""
        proposal = self._find_proposal(self.key)
        if proposal is not None:
            accepted = answer == "yes"
            decision = proposal.accepted if accepted else proposal.declined
            await self.run_guarded(self._decide(decision))

    async def _decide(self, decision: Decision) -> None:
        after = self.query_one(RowList).key_after(self.key)
        await self.room.room.service_thread.run(
            lambda workspace: record_decision(workspace, decision)
        )
        note = f"{format_decision(decision)} It takes effect with the next ingest."
        self.add_decision(decision, f"{note} Press u to undo.")
        self.fill(at=after)


def _render_proposal(proposal: NameProposal) -> Iterator[StyledLine]:
    yield StyledLine((StyledText(f"{proposal.reason}.", "strong"),))
    for line in proposal.lines:
        evidence = _as_evidence(line)
        place = sanitize_line(f"{line.document}:{line.line}")
        yield StyledLine((StyledText(place, "place"),), 2, evidence)
        yield StyledLine((line.text,), 2, evidence)


def _as_evidence(line: NameLine) -> TextEvidence:
    """Return a line as evidence, whose location Enter opens."""
    return TextEvidence(
        document=line.document,
        spans=(Span(line.start, line.start + 1),),
        text=line.text,
        lines=LineRange(line.line, line.line),
        chapter=None,
        chapter_title="",
        scene=None,
        keeper=RULES_KEEPER,
        certainty=Certainty.PROBABLE,
    )
