"""The base of the screens on which the writer decides about the rows of a list."""

from typing import ClassVar

from textual import work

from lrwr.core.canon.decision import Decision
from lrwr.tui.queries.story import undo_decision
from lrwr.tui.room import RoomScreen
from lrwr.tui.screens.master_detail import MasterDetailScreen


class DecisionScreen(MasterDetailScreen[None]):
    """A list of what can be decided; the last decision made on the screen can be undone.

    `message` tells what was decided last. It stays below the list, in place of the
    screen's own note, until the next one; empty before the first decision.
    """

    FOCUS_FILTER: ClassVar[bool] = False

    def __init__(self, room: RoomScreen, title: str) -> None:
        super().__init__(room, title)
        self.hint = "Press / to search…"
        self.message = ""
        self._decided: list[Decision] = []

    def add_decision(self, decision: Decision, message: str) -> None:
        """Remember a stored decision, for undo, and tell the user with `message`."""
        self._decided.append(decision)
        self.tell(message)

    def tell(self, message: str, *, good: bool = True) -> None:
        """Show `message` below the list, and keep it there; `good` marks success."""
        self.message = message
        self.set_note(message, good=good)

    @work(exclusive=True, group="decide", exit_on_error=False)
    async def action_undo(self) -> None:
        """Undo the last decision that was made on this screen.

        If a later decision exists elsewhere, nothing is undone and a message says so.
        """
        await self.run_guarded(self._undo())

    async def _undo(self) -> None:
        if not self._decided:
            self.tell(
                "There is no decision to undo here. Run `lrwr canon undo` for earlier"
                " ones.",
                good=False,
            )
            return
        last = self._decided[-1]
        description = await self.room.room.service_thread.run(
            lambda workspace: undo_decision(workspace, last)
        )
        if description:
            self._decided.pop()
            self.tell(f"Undone: {description.rstrip('.')}.")
        else:
            self.tell(
                "Not undone: a later decision exists. Run `lrwr canon` to see it.",
                good=False,
            )
        self.fill(at=self.key)
