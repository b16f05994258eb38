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
    bindings of the focused widget. The footer shows `short_title` unless it is empty.
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
    short_title: str = ""

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
            self.short_title or self.title,
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
        "room.palette", "ctrl+p", "All commands", "Search all commands and themes",
        "do('palette')", is_shown_in_footer=True,
        section=APPLICATION, short_title="More",
    ),
    Action(
        "room.quit", "ctrl+q", "Quit", "Close lrwr", "quit", "quit", is_shown_in_footer=True,
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
        section=STORY, short_title="Questions",
    ),
    Action(
        "room.people", "f7", "Characters", "Show every character with facts and quotes",
        "do('people')", "characters", "[NAME]", is_shown_in_footer=True,
        section=STORY, short_title="People",
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
        "room.search", "ctrl+f", "Search", "Find passages as you type",
        "do('search')", "search", "[WORDS]",
        section=STORY,
    ),
    Action(
        "room.check", "alt+c", "Contradictions", "Show contradictions with both passages",
        "do('check')", "check", "[DAY|FILE]",
        section=STORY,
    ),
    Action(
        "room.diff", "alt+d", "Changes",
        "Show what changed in the story since the last ingest or a git revision",
        "do('diff')", "diff", "[REV]",
        section=STORY,
    ),
    Action(
        "room.posts", "alt+p", "Posts",
        "Show drafts of newsletters and other texts, with their check", "do('posts')",
        "posts",
        section=STORY,
    ),
    Action(
        "room.drafts", "alt+g", "Drafts",
        "Show the board of scenes with their drafts", "do('drafts')", "draft",
        section=STORY,
    ),
    Action(
        "room.review", "alt+n", "Names to review",
        "Show names that may be one character, or two", "do('review')", "review",
        section=STORY,
    ),
    Action(
        "room.relations", "alt+k", "Relations", "Show who is related to whom",
        "do('relations')", "relations", "[NAME]",
        section=STORY,
    ),
    Action(
        "room.quotes", "alt+q", "Quotes", "Show who says what",
        "do('quotes')", "quotes", "[NAME]",
        section=STORY,
    ),
    Action(
        "room.recap", "alt+y", "Recap", "Show the story so far, scene by scene",
        "do('recap')", "recap", "[CHAPTER]",
        section=STORY,
    ),
    Action(
        "room.library", "ctrl+l", "Library",
        "Show the library, and read changed files",
        "do('library')", "library",
        section=STORY,
    ),
    Action(
        "room.ingest", "alt+l", "Read changes",
        "Read new and changed files in the background; Ctrl+C twice stops it",
        "do('ingest')", "ingest", "[FOLDER]",
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
