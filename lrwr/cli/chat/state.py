"""The state of a line-based chat, which its slash commands change."""

from dataclasses import dataclass, field

from lrwr.app.container import Workspace
from lrwr.cli.runtime.output import Output
from lrwr.core.model.errors import SettingsProblem
from lrwr.core.model.turns import Turn
from lrwr.tui.scope import ChatScope


@dataclass(slots=True)
class PlainChatState:
    """The state of a line-based chat, which slash commands change.

    `sitting` is the scope of the next question: thread, character and horizon. `model`
    is the name of the language model, empty without one. `turn` is the last turn of the
    thread, None before the first.
    """

    workspace: Workspace
    output: Output
    sitting: ChatScope
    model: str
    turn: Turn | None = field(default=None)


def require_no_arguments(name: str, arguments: str) -> None:
    """Raise an error unless `arguments` of the command `name` is empty.

    Raises:
        SettingsProblem: It is not empty.
    """
    if arguments:
        raise SettingsProblem(
            f"/{name} takes no argument",
            hint="To ask a question that begins with a slash, put a space before it.",
        )
