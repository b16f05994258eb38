"""The base of the screens on which the writer decides about the rows of a list."""

from typing import ClassVar

from textual import work

from lrwr.core.canon.decision import Decision, format_decision
from lrwr.tui.queries.story import load_last_decision, undo_decision
from lrwr.tui.room import RoomScreen
from lrwr.tui.screens.master_detail import MasterDetailScreen


class DecisionScreen(MasterDetailScreen[None]):
    """A list of what can be decided; the last decision made on the screen can be undone,
    also when it was closed since.

    `message` tells what was decided last. It stays below the list, in place of the
    screen's own note, until the next one; empty before the first decision.
    """

    FOCUS_FILTER: ClassVar[bool] = False

    def __init__(self, room: RoomScreen, title: str, *, words: str = "") -> None:
        super().__init__(room, title, words=words)
        self.hint = "Press / to search…"
        self.message = ""
        self._decided = room.decisions.setdefault(type(self).__name__, [])
        self._offered: Decision | None = None

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

        Without one, the key must be pressed twice: the first press names the decision
        that was made elsewhere.
        """
        await self.run_guarded(self._undo())

    async def _undo(self) -> None:
        run = self.room.room.service_thread.run
        newest = await run(load_last_decision)
        if newest is None:
            self.tell("There is no decision to undo.", good=False)
            return
        if newest not in (self._offered, *self._decided[-1:]):
            self._offered = newest
            self.tell(
                f"The last decision was made elsewhere: {format_decision(newest)} Press"
                " the key again to undo it.",
                good=False,
            )
            return
        self._offered = None
        self._decided[:] = [d for d in self._decided if d != newest]
        description = await run(lambda workspace: undo_decision(workspace, newest))
        self.tell(f"Undone: {description.rstrip('.')}.")
        self.fill(at=self.key)
