"""All that can be done in the writing room: one table for keys, palette and help."""

import re
from dataclasses import dataclass

from textual.binding import Binding

DEED = re.compile(r"do\('(\w+)'\)")
"""How an action names what does it."""

ASKING = "Asking"
TALK = "The conversation"
STORY = "The story"
ROOM_ITSELF = "The room"
ORDER = (ASKING, TALK, STORY, ROOM_ITSELF)
"""The parts that actions stand in, in the order of the help."""


@dataclass(frozen=True, slots=True)
class Action:
    """Something that the writer can do.

    `id` is what the keys in the settings are told for. `does` is the screen's own
    action. `slash` is what may be typed instead, empty where nothing can; `takes` names
    what follows it, in brackets where it may be left out. `part` is where it stands in
    the help.
    """

    id: str
    keys: str
    title: str
    help: str
    does: str
    slash: str = ""
    takes: str = ""
    shown: bool = False
    part: str = ""

    @property
    def deed(self) -> str:
        """What `deeds` calls it; empty for what the screen does itself."""
        found = DEED.fullmatch(self.does)
        return found[1] if found else ""

    @property
    def binding(self) -> Binding:
        """The keys, as a screen or the prompt binds them: before they can be typed."""
        return Binding(
            self.keys,
            self.does,
            self.title,
            show=self.shown,
            tooltip=self.help,
            id=self.id,
            priority=self.id.startswith("prompt.")
            or self.keys not in ("escape", "enter"),
        )


ROOM: tuple[Action, ...] = (
    Action(
        "room.help", "f1", "Help", "Show all keys and commands", "do('help')", "help",
        shown=True,
        part=ROOM_ITSELF,
    ),
    Action(
        "room.characters", "f2", "Character", "Choose whom you talk about, or with",
        "do('characters')", "character", "[NAME]", shown=True,
        part=ASKING,
    ),
    Action(
        "room.horizon", "f3", "As of", "Choose how far the story has come",
        "do('horizon')", "asof", "[PLACE]", shown=True,
        part=ASKING,
    ),
    Action(
        "room.mode", "f4", "Mode", "Have the analyst answer, or the character",
        "do('mode')", "mode", "[MODE]", shown=True,
        part=ASKING,
    ),
    Action(
        "room.threads", "f5", "Threads", "Go back to another conversation",
        "do('threads')", "threads", shown=True,
        part=TALK,
    ),
    Action(
        "room.gaps", "f6", "Gaps", "See what is left open, and answer it",
        "do('gaps')", "gaps", shown=True,
        part=STORY,
    ),
    Action(
        "room.people", "f7", "People", "Read what the text says of everybody",
        "do('people')", "people", "[NAME]",
        part=STORY,
    ),
    Action(
        "room.world", "f8", "World", "Read of places, things and rules",
        "do('world')", "world",
        part=STORY,
    ),
    Action(
        "room.timeline", "f9", "Timeline", "Read what happens, in story order",
        "do('timeline')", "timeline",
        part=STORY,
    ),
    Action(
        "room.library", "ctrl+l", "Library", "See what was read, and read again",
        "do('library')", "library",
        part=STORY,
    ),
    Action(
        "room.settings", "ctrl+t", "Settings", "See what is set, and where",
        "do('settings')", "settings",
        part=ROOM_ITSELF,
    ),
    Action(
        "room.new", "ctrl+n", "New", "Begin another conversation", "do('new')", "new",
        part=TALK,
    ),
    Action(
        "room.rename", "alt+r", "Rename", "Give this conversation another title",
        "do('rename')", "rename", "TITLE",
        part=TALK,
    ),
    Action(
        "room.export", "ctrl+s", "Write out", "Write this conversation as Markdown",
        "do('export')", "export", "FILE.md",
        part=TALK,
    ),
    Action(
        "room.witnessed", "alt+w", "Witnessed",
        "Use only what the character was there for, or everything again",
        "do('witnessed')", "witnessed",
        part=ASKING,
    ),
    Action(
        "room.watch", "alt+s", "Watch", "Read each save as you write, or stop that",
        "do('watch')", "watch",
        part=STORY,
    ),
    Action(
        "room.copy", "ctrl+r", "Copy", "Copy the last answer", "do('copy')", "copy",
        "[answer|quote]",
        part=TALK,
    ),
    Action(
        "room.side", "f10", "Side", "Show or hide the pane beside the conversation",
        "side", "side",
        part=ROOM_ITSELF,
    ),
    Action(
        "room.stop", "escape", "Stop", "Stop the answer, or leave what is open",
        "stop", "stop",
        part=ASKING,
    ),
    Action(
        "room.quit", "ctrl+q", "Quit", "Leave the writing room", "quit", "quit",
        part=ROOM_ITSELF,
    ),
    Action(
        "room.palette", "ctrl+p", "Commands", "Find all that can be done, and themes",
        "do('palette')",
        part=ROOM_ITSELF,
    ),
)  # fmt: skip
"""What the conversation's own screen can do."""

PROMPT: tuple[Action, ...] = (
    Action("prompt.ask", "enter", "Ask", "Ask what is written", "send", part=ASKING),
    Action(
        "prompt.newline", "alt+enter,shift+enter,ctrl+j", "New line",
        "Begin a new line", "newline", part=ASKING,
    ),
    Action(
        "prompt.complete", "tab", "Complete", "Complete a command, or what follows it",
        "complete", part=ASKING,
    ),
    Action(
        "prompt.older", "alt+up", "Older", "Bring back an older question, as Up does",
        "older", part=ASKING,
    ),
    Action(
        "prompt.newer", "alt+down", "Newer", "Go on to a newer one, as Down does",
        "newer", part=ASKING,
    ),
)  # fmt: skip
"""What the prompt can do while it is written in."""

PLACES: tuple[Action, ...] = (
    Action("place.open", "enter", "Open", "Open the passage in your editor", "open"),
    Action("place.copy", "c", "Copy", "Copy the passage", "copy_quote"),
)
"""What can be done with a passage that is shown."""

JUMP = "alt+1,alt+2,alt+3,alt+4,alt+5,alt+6,alt+7,alt+8,alt+9"
"""Keys that show the passage of that number."""

FIXED: tuple[Action, ...] = (
    Action(
        "room.jump", JUMP, "Passage", "Show the passage of that number", "jump",
        part=TALK,
    ),
)  # fmt: skip
"""What has keys that cannot be changed."""
