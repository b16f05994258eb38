"""The scope of a chat: thread, character, answer mode, horizon and witnessed filter.

The witnessed filter restricts answers to passages in which the character is present.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lrwr.app.presenters.text import format_horizon
from lrwr.core.model.choices import AnswerMode

if TYPE_CHECKING:
    from lrwr.core.model.turns import NarrativeState, Thread, ThreadId


@dataclass(frozen=True, slots=True)
class ChatOptions:
    """The command-line options with which the chat starts; absent texts are empty.

    `character` is a name or an alias, `as_of` the horizon, such as "ch3". `mode` is
    None if the option is absent. `thread` is a thread's number in the list from 1, its
    title, or the beginning of its id. `watch` is whether to watch the manuscript for
    saves.
    """

    character: str = ""
    as_of: str = ""
    mode: AnswerMode | None = None
    thread: str = ""
    watch: bool = False


@dataclass(frozen=True, slots=True)
class ChatScope:
    """The scope of the next question; see `TurnRequest`.

    `thread` is None and `title` empty if the question starts a new thread. `character`
    is a main name, empty for everyone; `as_of` is the horizon, empty for the whole
    story. If `witnessed`, only passages with the character present are used.
    """

    thread: "ThreadId | None" = None
    title: str = ""
    character: str = ""
    mode: AnswerMode = AnswerMode.ANALYTICAL
    as_of: str = ""
    witnessed: bool = False

    @classmethod
    def of_thread(cls, thread: "Thread") -> "ChatScope":
        """Return the scope that a thread had at its last turn."""
        state: NarrativeState = thread.state
        return cls(
            thread.id,
            thread.title,
            state.character,
            state.mode,
            state.as_of,
            state.witnessed,
        )

    @property
    def speaker(self) -> str:
        """The character who answers; empty if the analyst answers."""
        return self.character if self.mode is AnswerMode.IN_CHARACTER else ""


def describe_scope(scope: ChatScope) -> list[str]:
    """Return phrases for how much of the story is used, who answers, and about whom."""
    parts = [f"up to {format_horizon(scope.as_of)}"] if scope.as_of else []
    parts.append(f"{scope.speaker or 'the analyst'} answers")
    if scope.character and not scope.speaker:
        parts.append(f"about {scope.character}")
    if scope.witnessed:
        parts.append("witnessed only")
    return parts
