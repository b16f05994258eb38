"""Where the writer stands: with whom they talk, and how far the story has come."""

from dataclasses import dataclass

from lrwr.core.model.turns import AnswerMode, NarrativeState, Thread, ThreadId


@dataclass(frozen=True, slots=True)
class ChatOptions:
    """What the room is opened with. `thread` is as the writer named it,
    `mode` None where they did not say."""

    character: str = ""
    as_of: str = ""
    mode: AnswerMode | None = None
    thread: str = ""
    watch: bool = False


@dataclass(frozen=True, slots=True)
class ChatScope:
    """What the next question is asked with; see `TurnRequest`.

    `thread` is None where the next question begins a conversation, which then has no
    `title` either.
    """

    thread: ThreadId | None = None
    title: str = ""
    character: str = ""
    mode: AnswerMode = AnswerMode.ANALYTICAL
    as_of: str = ""
    witnessed: bool = False

    @classmethod
    def of_thread(cls, thread: Thread) -> "ChatScope":
        """Return where a conversation left off."""
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
        """Who answers: a character's name, empty for the analyst."""
        return self.character if self.mode is AnswerMode.IN_CHARACTER else ""
