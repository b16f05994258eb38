"""The list of all actions; key bindings, command palette and help are built from it."""

import re
from dataclasses import dataclass

from textual.binding import Binding

DO_ACTION = re.compile(r"do\('(\w+)'\)")
"""Textual action strings that run a handler of `controller.ACTION_HANDLERS`."""

ASKING = "Questions"
THREAD = "Threads and answers"
STORY = "Story and library"
APPLICATION = "Application"
HELP_SECTIONS = (ASKING, THREAD, STORY, APPLICATION)
"""The help sections of actions that work in the chat screen, in order."""


@dataclass(frozen=True, slots=True)
class Action:
    """An operation that a key, a prompt command or the command palette runs.

    `id` is its name in the `[screen] keys` setting; `title` and `help` describe it.
    `keys` are the default keys, separated by commas. `action` is Textual's action
    string. `slash` is the prompt command without its slash, empty for none; `argument`
    is the placeholder shown after the command, in brackets if it is optional. `section`
    is the title of its help section. An `is_priority` action takes precedence over
    bindings of the focused widget.
    """

    id: str
    keys: str
    title: str
    help: str
    action: str
    slash: str = ""
    argument: str = ""
    is_shown_in_footer: bool = False
    section: str = ""
    is_priority: bool = True

    @property
    def handler_name(self) -> str:
        """The action's name in `controller.ACTION_HANDLERS`; empty if it has none."""
        match = DO_ACTION.fullmatch(self.action)
        return match[1] if match else ""

    @property
    def binding(self) -> Binding:
        """The binding of the default keys to the action, for Textual."""
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
        section=APPLICATION,
    ),
    Action(
        "room.characters", "f2", "Character",
        "Choose a character to ask about or to talk with",
        "do('characters')", "character", "[NAME]", is_shown_in_footer=True,
        section=ASKING,
    ),
    Action(
        "room.horizon", "f3", "Up to", "Use the story only up to a chapter or scene",
        "do('horizon')", "asof", "[CHAPTER]", is_shown_in_footer=True,
        section=ASKING,
    ),
    Action(
        "room.mode", "f4", "Mode", "Let the analyst answer, or the character",
        "do('mode')", "mode", "[MODE]", is_shown_in_footer=True,
        section=ASKING,
    ),
    Action(
        "room.threads", "f5", "Threads", "Open another thread (a saved conversation)",
        "do('threads')", "threads", is_shown_in_footer=True,
        section=THREAD,
    ),
    Action(
        "room.gaps", "f6", "Open questions",
        "See and answer what your text leaves undefined",
        "do('gaps')", "gaps", is_shown_in_footer=True,
        section=STORY,
    ),
    Action(
        "room.people", "f7", "Characters", "Show every character with facts and quotes",
        "do('people')", "characters", "[NAME]", is_shown_in_footer=True,
        section=STORY,
    ),
    Action(
        "room.world", "f8", "World", "Show settings, objects and rules of the world",
        "do('world')", "world", is_shown_in_footer=True,
        section=STORY,
    ),
    Action(
        "room.timeline", "f9", "Timeline", "Show events in story order",
        "do('timeline')", "timeline", is_shown_in_footer=True,
        section=STORY,
    ),
    Action(
        "room.reader", "alt+m", "Reader",
        "Read the manuscript by chapters and scenes; nothing is edited",
        "do('reader')", "read", "[CHAPTER]",
        section=STORY,
    ),
    Action(
        "room.library", "ctrl+l", "Library",
        "Show the library, and read changed files",
        "do('library')", "library",
        section=STORY,
    ),
    Action(
        "room.settings", "ctrl+t", "Settings",
        "Show all settings and where each is set",
        "do('settings')", "settings",
        section=APPLICATION,
    ),
    Action(
        "room.new", "ctrl+n", "New thread", "Start a new thread", "do('new')", "new",
        section=THREAD,
    ),
    Action(
        "room.rename", "alt+r", "Rename thread", "Change the title of this thread",
        "do('rename')", "rename", "TITLE",
        section=THREAD,
    ),
    Action(
        "room.export", "ctrl+s", "Export thread", "Save this thread as a Markdown file",
        "do('export')", "export", "FILE.md",
        section=THREAD,
    ),
    Action(
        "room.witnessed", "alt+w", "Witnessed",
        "Use only what the character witnessed, or the whole story again",
        "do('witnessed')", "witnessed",
        section=ASKING,
    ),
    Action(
        "room.watch", "alt+s", "Watch",
        "Start or stop reading files when you save them",
        "do('watch')", "watch",
        section=STORY,
    ),
    Action(
        "room.copy", "ctrl+r", "Copy", "Copy the last answer", "do('copy')", "copy",
        "[answer|quote]",
        section=THREAD,
    ),
    Action(
        "room.side", "f10", "Sources", "Show or hide the sources",
        "side", "side",
        section=APPLICATION,
    ),
    Action(
        "room.stop", "escape", "Stop", "Stop the answer, or return to the prompt",
        "stop", "stop",
        section=ASKING, is_priority=False,
    ),
    Action(
        "room.quit", "ctrl+q", "Quit", "Close lrwr", "quit", "quit", is_shown_in_footer=True,
        section=APPLICATION,
    ),
    Action(
        "room.palette", "ctrl+p", "Command palette", "Search all commands and themes",
        "do('palette')",
        section=APPLICATION,
    ),
)  # fmt: skip
"""Actions of the chat screen."""

PROMPT_ACTIONS: tuple[Action, ...] = (
    Action(
        "prompt.ask", "enter", "Ask", "Send the question or run the command", "send",
        section=ASKING,
    ),
    Action(
        "prompt.newline", "alt+enter,shift+enter,ctrl+j", "New line",
        "Insert a line break", "newline", section=ASKING,
    ),
    Action(
        "prompt.complete", "tab", "Complete", "Complete a command or its argument",
        "complete", section=ASKING,
    ),
    Action(
        "prompt.older", "alt+up", "Previous question",
        "Recall the previous question, like Up",
        "older", section=ASKING,
    ),
    Action(
        "prompt.newer", "alt+down", "Next question",
        "Recall the next question, like Down",
        "newer", section=ASKING,
    ),
)  # fmt: skip
"""Actions of the prompt."""

SOURCE_ACTIONS: tuple[Action, ...] = (
    Action(
        "place.open", "enter", "Open", "Open the passage in your editor", "open",
        is_priority=False,
    ),
    Action("place.read", "r", "Read", "Show the passage in the reader", "read"),
    Action("place.copy", "c", "Copy", "Copy the passage", "copy_quote"),
    Action(
        "place.next", "down,j", "Next passage", "Go to the next passage", "move(1)",
        is_priority=False,
    ),
    Action(
        "place.before", "up,k", "Previous passage", "Go to the previous passage",
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
        "place.leave", "escape", "Back", "Return to the prompt", "back",
        is_priority=False
    ),
)  # fmt: skip
"""Actions of the focused sources."""

TURN_ACTIONS: tuple[Action, ...] = (
    Action(
        "turn.before", "up", "Previous turn", "Go to the previous question and answer", "choose(-1)",
        is_priority=False,
    ),
    Action(
        "turn.next", "down", "Next turn", "Go to the next question and answer", "choose(1)",
        is_priority=False,
    ),
    Action(
        "turn.end", "end", "End", "Go to the end of the thread", "to_end",
        is_priority=False,
    ),
)  # fmt: skip
"""Actions of the focused transcript."""

JUMP = "alt+1,alt+2,alt+3,alt+4,alt+5,alt+6,alt+7,alt+8,alt+9"
"""Keys that show the passage with their number."""

DIGIT_ACTIONS: tuple[Action, ...] = (
    Action(
        "turn.jump", "1,2,3,4,5,6,7,8,9", "Passage",
        "Show the passage with that number",
        "jump", is_priority=False,
    ),
    Action(
        "place.jump", "1,2,3,4,5,6,7,8,9", "Passage",
        "Go to the passage with that number",
        "jump", is_priority=False,
    ),
)  # fmt: skip
"""Digit keys of the transcript and of the sources."""

FIXED_ACTIONS: tuple[Action, ...] = (
    Action(
        "room.jump", JUMP, "Passage", "Show the passage with that number", "jump",
        section=THREAD,
    ),
    *DIGIT_ACTIONS,
)  # fmt: skip
"""Actions whose keys the `[screen] keys` setting cannot change."""

CLOSE_ACTION = Action(
    "list.close",
    "escape",
    "Close",
    "Close this screen",
    "close",
    is_shown_in_footer=True,
)
"""Closes a modal screen."""

LIST_ACTIONS: tuple[Action, ...] = (
    Action(
        "list.choose", "enter", "Choose",
        "Choose the row, or open the file at the line's location", "enter",
        is_shown_in_footer=True,
    ),
    Action(
        "list.read", "alt+m", "Reader", "Show the line's location in the reader", "read"
    ),
    Action("list.up", "up", "Up", "Go to the previous row", "step(-1)"),
    Action("list.down", "down", "Down", "Go to the next row", "step(1)"),
    Action("list.back", "pageup", "Page up", "Go up a page", "page(-1)"),
    Action("list.on", "pagedown", "Page down", "Go down a page", "page(1)"),
    Action(
        "list.rows", "left", "To the list", "Return from the details to the list",
        "back", is_priority=False,
    ),
    CLOSE_ACTION,
)  # fmt: skip
"""Actions of every list screen."""

ANSWER_GAP_ACTION = Action(
    "list.choose", "enter", "Answer",
    "Answer the question, or open the file at the line's location", "enter",
    is_shown_in_footer=True,
)  # fmt: skip
"""Enter on an open question."""

OPEN_THREAD_ACTION = Action(
    "list.choose",
    "enter",
    "Open",
    "Open this thread",
    "enter",
    is_shown_in_footer=True,
)
"""Enter on a thread."""

OPEN_ROW_ACTION = Action(
    "list.choose", "enter", "Open",
    "Show the details, or open the file at the line's location", "enter",
    is_shown_in_footer=True,
)  # fmt: skip
"""Enter on a row of the story screens."""

FIND_ACTION = Action(
    "list.find", "slash", "Find", "Search the list (in lists where letter keys run commands)", "find",
    is_shown_in_footer=True, is_priority=False,
)  # fmt: skip
"""Focuses the filter in lists where letter keys run actions."""

GAP_ACTIONS: tuple[Action, ...] = (
    Action(
        "gaps.answer", "a", "Answer", "Answer the question", "answer", is_priority=False,
    ),
    Action(
        "gaps.dismiss", "d", "Leave open", "Leave the question open on purpose",
        "decline",
        is_shown_in_footer=True, is_priority=False,
    ),
    Action(
        "gaps.postpone", "p", "Later", "Move the question to the end of the list",
        "postpone",
        is_shown_in_footer=True, is_priority=False,
    ),
    Action(
        "gaps.undo", "u", "Undo", "Undo the last decision made here", "undo",
        is_shown_in_footer=True, is_priority=False,
    ),
)  # fmt: skip
"""Actions of the open questions screen."""

THREAD_ACTIONS: tuple[Action, ...] = (
    Action(
        "threads.rename", "r", "Rename", "Change the title of the thread", "rename",
        is_shown_in_footer=True, is_priority=False,
    ),
    Action(
        "threads.export", "e", "Export", "Save the thread as a Markdown file", "export",
        is_shown_in_footer=True, is_priority=False,
    ),
    Action(
        "threads.delete", "d", "Delete", "Delete the thread (you can undo this)",
        "delete",
        is_shown_in_footer=True, is_priority=False,
    ),
    Action(
        "threads.undo", "u", "Undo", "Restore the thread deleted last", "undo",
        is_shown_in_footer=True, is_priority=False,
    ),
)  # fmt: skip
"""Actions of the threads screen."""

READER_ACTIONS: tuple[Action, ...] = (
    Action(
        "reader.contents", "tab", "Contents", "Go to the contents, or back to the text",
        "contents", is_shown_in_footer=True, is_priority=False,
    ),
    Action(
        "reader.edit", "enter,e", "Edit", "Open the file in your editor at this line",
        "edit", is_shown_in_footer=True, is_priority=False,
    ),
    Action(
        "reader.character", "c", "Character", "Choose whose names are highlighted",
        "character", is_shown_in_footer=True, is_priority=False,
    ),
    Action(
        "reader.find", "slash", "Find", "Find text", "find",
        is_shown_in_footer=True, is_priority=False,
    ),
    Action(
        "reader.next", "n", "Next", "Go to the next mention, or to the next found text",
        "match(1)", is_shown_in_footer=True, is_priority=False,
    ),
    Action(
        "reader.before", "N,p", "Previous",
        "Go to the previous mention, or to the previous found text",
        "match(-1)", is_priority=False,
    ),
    Action(
        "reader.finding", "f", "Finding", "Go to the next finding of `check`",
        "finding(1)", is_shown_in_footer=True, is_priority=False,
    ),
    Action(
        "reader.finding_before", "F", "Previous finding",
        "Go to the previous finding of `check`", "finding(-1)", is_priority=False,
    ),
    Action(
        "reader.chapter", "right_square_bracket", "Next chapter",
        "Open the next chapter or note", "part(1)", is_priority=False,
    ),
    Action(
        "reader.chapter_before", "left_square_bracket", "Previous chapter",
        "Open the previous chapter or note", "part(-1)", is_priority=False,
    ),
    Action(
        "reader.close", "escape", "Close", "Close the reader", "close",
        is_shown_in_footer=True,
    ),
    Action("reader.page", "space", "Page down", "Go down a page", "page(1)", is_priority=False),
    Action("reader.page_up", "b", "Page up", "Go up a page", "page(-1)", is_priority=False),
)  # fmt: skip
"""Actions of the reader."""

CHARACTER_CHOICE_ACTIONS: tuple[Action, ...] = (
    Action(
        "characters.talk", "f4,ctrl+enter", "Talk with",
        "Choose the character and let the character answer", "talk",
        is_shown_in_footer=True,
    ),
)  # fmt: skip
"""Actions of the dialog that chooses a character."""

LIBRARY_ACTIONS: tuple[Action, ...] = (
    Action(
        "library.read", "r", "Read", "Read files that have changed", "ingest",
        is_shown_in_footer=True, is_priority=False,
    ),
)  # fmt: skip
"""Actions of the library screen."""

TEXT_INPUT_ACTIONS: tuple[Action, ...] = (
    Action(
        "line.done",
        "enter",
        "OK",
        "Accept the text",
        "submit",
        is_shown_in_footer=True,
    ),
    Action(
        "line.leave",
        "escape",
        "Cancel",
        "Close without a change",
        "close",
        is_shown_in_footer=True,
    ),
)
"""Actions of the dialog that asks for one line of text."""

SCREEN_ACTIONS: tuple[tuple[str, tuple[Action, ...]], ...] = (
    ("Lists", (*LIST_ACTIONS, FIND_ACTION)),
    ("Reader", READER_ACTIONS),
    ("Open questions", GAP_ACTIONS),
    ("Threads", THREAD_ACTIONS),
    ("Choose a character", CHARACTER_CHOICE_ACTIONS),
    ("Library", LIBRARY_ACTIONS),
    ("Text input", TEXT_INPUT_ACTIONS),
)
"""Actions of the other screens, with the title of their help section."""
