"""The scope of a chat: thread, character, answer mode, horizon and witnessed filter."""

from dataclasses import dataclass

from lrwr.core.model.turns import AnswerMode, NarrativeState, Thread, ThreadId


@dataclass(frozen=True, slots=True)
class ChatOptions:
    """Command-line options that the chat starts with.

    `thread` is an id prefix or a title. `mode` is None if the option is absent.
    """

    character: str = ""
    as_of: str = ""
    mode: AnswerMode | None = None
    thread: str = ""
    watch: bool = False


@dataclass(frozen=True, slots=True)
class ChatScope:
    """The scope of the next question; see `TurnRequest`.

    `thread` is None and `title` empty if the question starts a new thread.
    """

    thread: ThreadId | None = None
    title: str = ""
    character: str = ""
    mode: AnswerMode = AnswerMode.ANALYTICAL
    as_of: str = ""
    witnessed: bool = False

    @classmethod
    def of_thread(cls, thread: Thread) -> "ChatScope":
        """Return the scope with which a thread continues."""
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
