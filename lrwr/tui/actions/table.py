"""All that can be done in the writing room: one table for keys, palette and help."""

import re
from dataclasses import dataclass

from textual.binding import Binding

DO_ACTION = re.compile(r"do\('(\w+)'\)")
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
    the help. What is `eager` is heard before what has the focus, and before it is typed.
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
    eager: bool = True

    @property
    def deed(self) -> str:
        """What `deeds` calls it; empty for what the screen does itself."""
        found = DO_ACTION.fullmatch(self.does)
        return found[1] if found else ""

    @property
    def binding(self) -> Binding:
        """The keys, as a screen or a part of it binds them."""
        return Binding(
            self.keys,
            self.does,
            self.title,
            show=self.shown,
            tooltip=self.help,
            id=self.id,
            priority=self.eager,
        )


ROOM_ACTIONS: tuple[Action, ...] = (
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
        part=ASKING, eager=False,
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

PROMPT_ACTIONS: tuple[Action, ...] = (
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

PLACE_ACTIONS: tuple[Action, ...] = (
    Action(
        "place.open", "enter", "Open", "Open the passage in your editor", "open",
        eager=False,
    ),
    Action("place.copy", "c", "Copy", "Copy the passage", "copy_quote"),
    Action(
        "place.next", "down,j", "Next passage", "Go to the next passage", "move(1)",
        eager=False,
    ),
    Action(
        "place.before", "up,k", "Passage before", "Go to the passage before",
        "move(-1)", eager=False,
    ),
    Action(
        "place.first", "home", "First passage", "Go to the first passage",
        "move(-999)", eager=False,
    ),
    Action(
        "place.last", "end", "Last passage", "Go to the last passage", "move(999)",
        eager=False,
    ),
    Action(
        "place.leave", "escape", "Back", "Go back to the prompt", "leave", eager=False
    ),
)  # fmt: skip
"""What can be done with a passage that is shown."""

TURN_ACTIONS: tuple[Action, ...] = (
    Action(
        "turn.before", "up", "Turn before", "Go to the turn before", "choose(-1)",
        eager=False,
    ),
    Action(
        "turn.next", "down", "Next turn", "Go to the next turn", "choose(1)",
        eager=False,
    ),
    Action("turn.end", "end", "To the end", "Go to its end", "to_end", eager=False),
)  # fmt: skip
"""What can be done in the conversation, once it is chosen."""

JUMP = "alt+1,alt+2,alt+3,alt+4,alt+5,alt+6,alt+7,alt+8,alt+9"
"""Keys that show the passage of that number."""

DIGIT_ACTIONS: tuple[Action, ...] = (
    Action(
        "turn.jump", "1,2,3,4,5,6,7,8,9", "Passage", "Show the passage of that number",
        "jump", eager=False,
    ),
    Action(
        "place.jump", "1,2,3,4,5,6,7,8,9", "Passage", "Go to the passage of that number",
        "jump", eager=False,
    ),
)  # fmt: skip
"""Keys of the conversation, and of its passages, that show the one of that number."""

FIXED_ACTIONS: tuple[Action, ...] = (
    Action(
        "room.jump", JUMP, "Passage", "Show the passage of that number", "jump",
        part=TALK,
    ),
    *DIGIT_ACTIONS,
)  # fmt: skip
"""What has keys that cannot be changed."""

CLOSE_ACTION = Action("list.close", "escape", "Close", "Go back", "leave", shown=True)
"""What all that lies on the conversation can do."""

LIST_ACTIONS: tuple[Action, ...] = (
    Action(
        "list.choose", "enter", "Choose",
        "Choose the row, or open the place of the line", "enter", shown=True,
    ),
    Action("list.up", "up", "Up", "Go to the one before", "step(-1)"),
    Action("list.down", "down", "Down", "Go to the next one", "step(1)"),
    Action("list.back", "pageup", "Back", "Go back a page", "page(-1)"),
    Action("list.on", "pagedown", "On", "Go on a page", "page(1)"),
    Action(
        "list.rows", "left", "To the list", "Go back from what is read to the list",
        "back", eager=False,
    ),
    CLOSE_ACTION,
)  # fmt: skip
"""What every list can do."""

ANSWER_ACTION = Action(
    "list.choose", "enter", "Answer",
    "Answer the gap, or open the place of the line", "enter", shown=True,
)  # fmt: skip
"""What Enter does among gaps."""

GO_ON_ACTION = Action(
    "list.choose", "enter", "Open", "Go on with this conversation", "enter", shown=True
)
"""What Enter does among conversations."""

GO_TO_ACTION = Action(
    "list.choose", "enter", "Open",
    "Go to what is said of it, or open the place of the line", "enter", shown=True,
)  # fmt: skip
"""What Enter does among what is known of the story."""

FIND_ACTION = Action(
    "list.find", "slash", "Find", "Look for words, where letters are keys", "find",
    shown=True, eager=False,
)  # fmt: skip
"""Of lists in which letters are keys."""

GAP_ACTIONS: tuple[Action, ...] = (
    Action("gaps.answer", "a", "Answer", "Answer the gap", "answer", eager=False),
    Action(
        "gaps.dismiss", "d", "Leave open", "Leave it open on purpose", "decline",
        shown=True, eager=False,
    ),
    Action(
        "gaps.postpone", "p", "Later", "Put it off: nothing is decided", "postpone",
        shown=True, eager=False,
    ),
    Action(
        "gaps.undo", "u", "Undo", "Take the last decision back", "undo",
        shown=True, eager=False,
    ),
)  # fmt: skip
"""What can be done with what is left open."""

THREAD_ACTIONS: tuple[Action, ...] = (
    Action(
        "threads.rename", "r", "Rename", "Give it another title", "rename",
        shown=True, eager=False,
    ),
    Action(
        "threads.export", "e", "Export", "Write it out as Markdown", "export",
        shown=True, eager=False,
    ),
    Action(
        "threads.delete", "d", "Delete", "Put it away: that can be undone", "delete",
        shown=True, eager=False,
    ),
    Action(
        "threads.undo", "u", "Undo", "Bring the last deleted one back", "undo",
        shown=True, eager=False,
    ),
)  # fmt: skip
"""What can be done with conversations."""

CHARACTER_ACTIONS: tuple[Action, ...] = (
    Action(
        "characters.talk", "f4,ctrl+enter", "Talk with them",
        "Choose, and have them answer themselves", "talk", shown=True,
    ),
)  # fmt: skip
"""What can be done with those whom one may talk about."""

LIBRARY_ACTIONS: tuple[Action, ...] = (
    Action(
        "library.read", "r", "Read", "Read what changed in the manuscript", "read",
        shown=True, eager=False,
    ),
)  # fmt: skip
"""What can be done with the library."""

LINE_ACTIONS: tuple[Action, ...] = (
    Action("line.done", "enter", "Done", "Take what is written", "give", shown=True),
    Action("line.leave", "escape", "Leave it", "Change nothing", "leave", shown=True),
)
"""What can be done where one line is asked for."""

OTHER_SCREEN_ACTIONS: tuple[tuple[str, tuple[Action, ...]], ...] = (
    ("In lists", (*LIST_ACTIONS, FIND_ACTION)),
    ("In what is left open", GAP_ACTIONS),
    ("In the list of conversations", THREAD_ACTIONS),
    ("In the list of characters", CHARACTER_ACTIONS),
    ("In the library", LIBRARY_ACTIONS),
    ("Where one line is asked for", LINE_ACTIONS),
)
"""All of it, by where it is done."""
