"""What was asked before, to be asked again."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from lrwr.tui.input.parser import escape_question

if TYPE_CHECKING:
    from lrwr.app.container import Workspace

LONG_AGO = 200
"""Questions of former conversations that are brought back at most."""


class PromptHistory:
    """Walks through what was asked, from the newest back, and to the draft again.

    Nothing that one does to a text that came back changes what was asked. What is in
    the prompt when the walk begins is the draft. A changed text becomes the draft where
    there is none, so that leaving it loses nothing.
    """

    def __init__(self) -> None:
        self._asked: list[str] = []
        self._back = 0
        self._draft = ""

    @property
    def shown(self) -> str | None:
        """The text that came back last; None at the draft."""
        return self._asked[-self._back] if self._back else None

    def load(self, questions: Sequence[str]) -> None:
        """Put `questions`, the oldest first, before what was asked since."""
        self._asked = _once([*questions, *self._asked])
        self._back = 0

    def add(self, text: str) -> None:
        """Keep what is asked now; the walk is over, and so is the draft."""
        self._asked = _once([*self._asked, text])
        self._back, self._draft = 0, ""

    def older(self, text: str) -> str | None:
        """Return what was asked before that, `text` being in the prompt; None if none."""
        if self._back == len(self._asked):
            return None
        self._leave(text)
        self._back += 1
        return self.shown

    def newer(self, text: str) -> str | None:
        """Return what was asked after that, or the draft; None if that is in use."""
        if not self._back:
            return None
        self._leave(text)
        self._back -= 1
        return self._draft if self.shown is None else self.shown

    def _leave(self, text: str) -> None:
        changed = text != self.shown
        if not self._back or (changed and not self._draft.strip()):
            self._draft = text


def _once(texts: Sequence[str]) -> list[str]:
    """Return each text once, where it was asked last."""
    return list(reversed(dict.fromkeys(reversed(texts))))


async def load_past_questions(workspace: "Workspace") -> tuple[str, ...]:
    """Return the newest questions of all conversations, oldest first, escaped as
    typed. It runs in the background."""
    if not workspace.is_ingested:
        return ()
    timed_questions: list[tuple[float, str]] = []
    for thread in await workspace.threads.threads():
        turns = await workspace.threads.turns(thread.id, last=LONG_AGO)
        timed_questions += [(turn.asked_at, turn.question) for turn in turns]
        if len(timed_questions) >= LONG_AGO:
            break
    return tuple(
        escape_question(text) for _, text in sorted(timed_questions)[-LONG_AGO:]
    )
