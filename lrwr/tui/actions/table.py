"""Table of all actions: the one source of keys, palette and help."""

import re
from dataclasses import dataclass

from textual.binding import Binding

DO_ACTION = re.compile(r"do\('(\w+)'\)")
"""The action string of a named handler."""

ASKING = "Asking"
TALK = "The conversation"
STORY = "The story"
ROOM_ITSELF = "The room"
PART_ORDER = (ASKING, TALK, STORY, ROOM_ITSELF)
"""The sections of the help, in order."""


@dataclass(frozen=True, slots=True)
class Action:
    """Something that the writer can do by a key, a command or the palette.

    `id` names it in the key settings. `action` is Textual's action string. `slash` is
    the prompt command that does the same, empty for none; `argument` names what follows
    the command, in brackets if it is optional. `part` is its section in the help. An
    `is_priority` action comes before those of the focused widget.
    """

    id: str
    keys: str
    title: str
    help: str
    action: str
    slash: str = ""
    argument: str = ""
    is_shown_in_footer: bool = False
    part: str = ""
    is_priority: bool = True

    @property
    def handler_name(self) -> str:
        """Its key in `ACTION_HANDLERS`; empty if the screen itself handles it."""
        match = DO_ACTION.fullmatch(self.action)
        return match[1] if match else ""

    @property
    def binding(self) -> Binding:
        """The binding of its keys, for a screen or a widget."""
        return Binding(
            self.keys,
            self.action,
            self.title,
            show=self.is_shown_in_footer,
            tooltip=self.help,
            id=self.id,
            priority=self.is_priority,
        )


ROOM_ACTIONS: tuple[Action, ...] = (
    Action(
        "room.help", "f1", "Help", "Show all keys and commands", "do('help')", "help",
        is_shown_in_footer=True,
        part=ROOM_ITSELF,
    ),
    Action(
        "room.characters", "f2", "Character", "Choose whom you talk about, or with",
        "do('characters')", "character", "[NAME]", is_shown_in_footer=True,
        part=ASKING,
    ),
    Action(
        "room.horizon", "f3", "As of", "Choose how far the story has come",
        "do('horizon')", "asof", "[PLACE]", is_shown_in_footer=True,
        part=ASKING,
    ),
    Action(
        "room.mode", "f4", "Mode", "Have the analyst answer, or the character",
        "do('mode')", "mode", "[MODE]", is_shown_in_footer=True,
        part=ASKING,
    ),
    Action(
        "room.threads", "f5", "Threads", "Go back to another conversation",
        "do('threads')", "threads", is_shown_in_footer=True,
        part=TALK,
    ),
    Action(
        "room.gaps", "f6", "Gaps", "See what is left open, and answer it",
        "do('gaps')", "gaps", is_shown_in_footer=True,
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
        part=ASKING, is_priority=False,
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
"""Actions of the chat screen."""

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
"""Actions of the prompt."""

PLACE_ACTIONS: tuple[Action, ...] = (
    Action(
        "place.open", "enter", "Open", "Open the passage in your editor", "open",
        is_priority=False,
    ),
    Action("place.copy", "c", "Copy", "Copy the passage", "copy_quote"),
    Action(
        "place.next", "down,j", "Next passage", "Go to the next passage", "move(1)",
        is_priority=False,
    ),
    Action(
        "place.before", "up,k", "Passage before", "Go to the passage before",
        "move(-1)", is_priority=False,
    ),
    Action(
        "place.first", "home", "First passage", "Go to the first passage",
        "move(-999)", is_priority=False,
    ),
    Action(
        "place.last", "end", "Last passage", "Go to the last passage", "move(999)",
        is_priority=False,
    ),
    Action(
        "place.leave", "escape", "Back", "Go back to the prompt", "leave", is_priority=False
    ),
)  # fmt: skip
"""Actions of the sources pane."""

TURN_ACTIONS: tuple[Action, ...] = (
    Action(
        "turn.before", "up", "Turn before", "Go to the turn before", "choose(-1)",
        is_priority=False,
    ),
    Action(
        "turn.next", "down", "Next turn", "Go to the next turn", "choose(1)",
        is_priority=False,
    ),
    Action("turn.end", "end", "To the end", "Go to its end", "to_end", is_priority=False),
)  # fmt: skip
"""Actions of the focused transcript."""

JUMP = "alt+1,alt+2,alt+3,alt+4,alt+5,alt+6,alt+7,alt+8,alt+9"
"""Keys that show the passage of their number."""

DIGIT_ACTIONS: tuple[Action, ...] = (
    Action(
        "turn.jump", "1,2,3,4,5,6,7,8,9", "Passage", "Show the passage of that number",
        "jump", is_priority=False,
    ),
    Action(
        "place.jump", "1,2,3,4,5,6,7,8,9", "Passage", "Go to the passage of that number",
        "jump", is_priority=False,
    ),
)  # fmt: skip
"""Digit keys of the transcript and of the sources pane."""

FIXED_ACTIONS: tuple[Action, ...] = (
    Action(
        "room.jump", JUMP, "Passage", "Show the passage of that number", "jump",
        part=TALK,
    ),
    *DIGIT_ACTIONS,
)  # fmt: skip
"""Actions whose keys cannot be changed."""

CLOSE_ACTION = Action(
    "list.close", "escape", "Close", "Go back", "leave", is_shown_in_footer=True
)
"""Closes a modal screen."""

LIST_ACTIONS: tuple[Action, ...] = (
    Action(
        "list.choose", "enter", "Choose",
        "Choose the row, or open the place of the line", "enter", is_shown_in_footer=True,
    ),
    Action("list.up", "up", "Up", "Go to the one before", "step(-1)"),
    Action("list.down", "down", "Down", "Go to the next one", "step(1)"),
    Action("list.back", "pageup", "Back", "Go back a page", "page(-1)"),
    Action("list.on", "pagedown", "On", "Go on a page", "page(1)"),
    Action(
        "list.rows", "left", "To the list", "Go back from what is read to the list",
        "back", is_priority=False,
    ),
    CLOSE_ACTION,
)  # fmt: skip
"""Actions of every list screen."""

ANSWER_ACTION = Action(
    "list.choose", "enter", "Answer",
    "Answer the gap, or open the place of the line", "enter", is_shown_in_footer=True,
)  # fmt: skip
"""Enter on a gap."""

GO_ON_ACTION = Action(
    "list.choose",
    "enter",
    "Open",
    "Go on with this conversation",
    "enter",
    is_shown_in_footer=True,
)
"""Enter on a conversation."""

GO_TO_ACTION = Action(
    "list.choose", "enter", "Open",
    "Go to what is said of it, or open the place of the line", "enter", is_shown_in_footer=True,
)  # fmt: skip
"""Enter on a row of the story screens."""

FIND_ACTION = Action(
    "list.find", "slash", "Find", "Look for words, where letters are keys", "find",
    is_shown_in_footer=True, is_priority=False,
)  # fmt: skip
"""Focuses the filter, in lists in which letters are keys."""

GAP_ACTIONS: tuple[Action, ...] = (
    Action("gaps.answer", "a", "Answer", "Answer the gap", "answer", is_priority=False),
    Action(
        "gaps.dismiss", "d", "Leave open", "Leave it open on purpose", "decline",
        is_shown_in_footer=True, is_priority=False,
    ),
    Action(
        "gaps.postpone", "p", "Later", "Put it off: nothing is decided", "postpone",
        is_shown_in_footer=True, is_priority=False,
    ),
    Action(
        "gaps.undo", "u", "Undo", "Take the last decision back", "undo",
        is_shown_in_footer=True, is_priority=False,
    ),
)  # fmt: skip
"""Actions of the gaps screen."""

THREAD_ACTIONS: tuple[Action, ...] = (
    Action(
        "threads.rename", "r", "Rename", "Give it another title", "rename",
        is_shown_in_footer=True, is_priority=False,
    ),
    Action(
        "threads.export", "e", "Export", "Write it out as Markdown", "export",
        is_shown_in_footer=True, is_priority=False,
    ),
    Action(
        "threads.delete", "d", "Delete", "Put it away: that can be undone", "delete",
        is_shown_in_footer=True, is_priority=False,
    ),
    Action(
        "threads.undo", "u", "Undo", "Bring the last deleted one back", "undo",
        is_shown_in_footer=True, is_priority=False,
    ),
)  # fmt: skip
"""Actions of the conversations screen."""

CHARACTER_ACTIONS: tuple[Action, ...] = (
    Action(
        "characters.talk", "f4,ctrl+enter", "Talk with them",
        "Choose, and have them answer themselves", "talk", is_shown_in_footer=True,
    ),
)  # fmt: skip
"""Actions of the characters screen."""

LIBRARY_ACTIONS: tuple[Action, ...] = (
    Action(
        "library.read", "r", "Read", "Read what changed in the manuscript", "read",
        is_shown_in_footer=True, is_priority=False,
    ),
)  # fmt: skip
"""Actions of the library screen."""

LINE_ACTIONS: tuple[Action, ...] = (
    Action(
        "line.done",
        "enter",
        "Done",
        "Take what is written",
        "give",
        is_shown_in_footer=True,
    ),
    Action(
        "line.leave",
        "escape",
        "Leave it",
        "Change nothing",
        "leave",
        is_shown_in_footer=True,
    ),
)
"""Actions of the one-line dialog."""

OTHER_SCREEN_ACTIONS: tuple[tuple[str, tuple[Action, ...]], ...] = (
    ("In lists", (*LIST_ACTIONS, FIND_ACTION)),
    ("In what is left open", GAP_ACTIONS),
    ("In the list of conversations", THREAD_ACTIONS),
    ("In the list of characters", CHARACTER_ACTIONS),
    ("In the library", LIBRARY_ACTIONS),
    ("Where one line is asked for", LINE_ACTIONS),
)
"""Actions of the modal screens, by the section of the help."""
