"""The slash commands of `lrwr chat --plain`.

Handlers get the text after the command's name as `arguments`, which may be empty. They
raise `LrwrError`, whose message the chat prints.
"""

from collections.abc import Callable, Coroutine, Iterator, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from lrwr.app.presenters.text import StyledText, format_horizon
from lrwr.app.presenters.threads import find_thread, format_thread_title, list_threads
from lrwr.cli.chat.state import PlainChatState, require_no_arguments
from lrwr.cli.chat.story_commands import (
    handle_check,
    handle_diff,
    handle_draft,
    handle_gaps,
    handle_ingest,
    handle_library,
    handle_people,
    handle_posts,
    handle_quotes,
    handle_read,
    handle_recap,
    handle_relations,
    handle_review,
    handle_search,
    handle_settings,
    handle_timeline,
    handle_world,
)
from lrwr.cli.runtime.editor import open_file_location
from lrwr.cli.runtime.options import parse_choice
from lrwr.core.model.choices import AnswerMode
from lrwr.core.model.errors import NotFound, SettingsProblem
from lrwr.core.model.turns import ThreadId
from lrwr.tui.queries.passages import locate_citation
from lrwr.tui.queries.story import load_story, move_chat_scope, resolve_character_name
from lrwr.tui.queries.targets import find_citation, locate_target
from lrwr.tui.queries.threads import export_thread_to_file, suggest_export_path
from lrwr.tui.scope import ChatScope

NOBODY = "nobody"
"""The argument of /character that removes the chosen character."""
WHOLE_STORY_WORDS = frozenset({"the whole story", "whole", "all", "everything", "end"})


PlainCommandHandler = Callable[[PlainChatState, str], Coroutine[Any, Any, None]]


@dataclass(frozen=True, slots=True)
class PlainCommand:
    """A slash command: its argument and description for the help, and its handler.

    `argument` is empty if it has none.
    """

    argument: str
    help: str
    handler: PlainCommandHandler


async def handle_character(chat: PlainChatState, arguments: str) -> None:
    """Ask about the character named `arguments` from now on; "nobody" ends that.

    If `arguments` is empty, list all characters up to the horizon.

    Raises:
        NotFound: There is no such character.
    """
    if not arguments:
        bible = await load_story(chat.workspace, chat.sitting.as_of)
        for profile in bible.characters:
            chat.output.answer(profile.name)
        current = chat.sitting.character or NOBODY
        chat.output.info(
            f"Chosen: {current}. To change it: /character NAME or /character {NOBODY}"
        )
        return
    if arguments.casefold() == NOBODY:
        chat.sitting = replace(
            chat.sitting, character="", mode=AnswerMode.ANALYTICAL, witnessed=False
        )
    else:
        name = await resolve_character_name(
            chat.workspace, arguments, chat.sitting.as_of
        )
        chat.sitting = replace(chat.sitting, character=name)
    print_chat_scope(chat)


async def handle_as_of(chat: PlainChatState, arguments: str) -> None:
    """Use the story only up to the point `arguments` ("ch3"), or all of it ("all").

    If `arguments` is empty, list the chapters. A character that does not appear up to
    the point is no longer chosen.

    Raises:
        NotFound: There is no such point.
    """
    if not arguments:
        order = await chat.workspace.finder().story_order()
        for _, chapter, number in order.iter_chapters():
            if not chapter.opening:
                chat.output.answer(
                    StyledText(f"ch{number}", "place"), f"  {chapter.title}"
                )
        chat.output.info(
            "To use the story only up to a point: /asof ch3 or /asof ch3:s2; to use all of"
            " it: /asof all"
        )
        return
    place = "" if arguments.casefold() in WHOLE_STORY_WORDS else arguments
    before = chat.sitting.character
    chat.sitting = await move_chat_scope(chat.workspace, chat.sitting, place)
    if before and not chat.sitting.character:
        chat.output.info(
            f"{before} does not appear up to that point and is no longer chosen."
        )
    print_chat_scope(chat)


async def handle_mode(chat: PlainChatState, arguments: str) -> None:
    """Let the analyst or the character answer: `arguments` is the mode's name.

    If it is empty, switch to the other mode.

    Raises:
        NotFound: The character should answer, but none is chosen.
        SettingsProblem: There is no such mode.
    """
    if arguments:
        mode = parse_choice(
            AnswerMode, arguments.replace("-", "_").replace(" ", "_"), "/mode"
        )
    else:
        current = chat.sitting.mode
        mode = (
            AnswerMode.ANALYTICAL
            if current is AnswerMode.IN_CHARACTER
            else AnswerMode.IN_CHARACTER
        )
    if mode is AnswerMode.IN_CHARACTER:
        _require_character(chat)
    chat.sitting = replace(chat.sitting, mode=mode)
    print_chat_scope(chat)


async def handle_witnessed(chat: PlainChatState, arguments: str) -> None:
    """Switch between answers from all scenes and only those that the character knows.

    A character knows the scenes where they were present or of which they were told.

    Raises:
        NotFound: No character is chosen.
        SettingsProblem: `arguments` is not empty.
    """
    require_no_arguments("witnessed", arguments)
    if not chat.sitting.witnessed:
        _require_character(chat)
    chat.sitting = replace(chat.sitting, witnessed=not chat.sitting.witnessed)
    print_chat_scope(chat)


async def handle_threads(chat: PlainChatState, arguments: str) -> None:
    """Continue the thread with the number, title or id `arguments`.

    If `arguments` is empty, list all threads.

    Raises:
        NotFound: There is no such thread.
        SettingsProblem: Several threads match.
    """
    threads = await chat.workspace.threads.threads()
    if arguments:
        thread = find_thread(arguments, threads)
        chat.sitting = ChatScope.of_thread(thread)
        turns = await chat.workspace.threads.turns(thread.id, last=1)
        chat.turn = turns[0] if turns else None
        print_chat_scope(chat)
    elif threads:
        chat.output.show(list_threads(threads))
        chat.output.info("To continue a thread: /threads 1")
    else:
        chat.output.answer("There are no threads yet.")


async def handle_new(chat: PlainChatState, arguments: str) -> None:
    """Start a new thread with the same character and horizon.

    Raises:
        SettingsProblem: `arguments` is not empty.
    """
    require_no_arguments("new", arguments)
    chat.sitting = replace(chat.sitting, thread=None, title="")
    chat.turn = None
    print_chat_scope(chat)


async def handle_rename(chat: PlainChatState, arguments: str) -> None:
    """Change the title of this thread to `arguments`.

    Raises:
        NotFound: The thread has no turns yet.
        SettingsProblem: The title is empty.
    """
    thread = _require_thread(chat)
    if not arguments:
        raise SettingsProblem(
            "The title is empty", hint="Type the new title after /rename."
        )
    title = " ".join(arguments.split())
    await chat.workspace.threads.rename(thread, title)
    chat.sitting = replace(chat.sitting, title=title)
    new_title = format_thread_title(await chat.workspace.threads.thread(thread))
    chat.output.answer(f"Renamed this thread to “{new_title}”.")


async def handle_export(chat: PlainChatState, arguments: str) -> None:
    """Write this thread to the Markdown file `arguments`, and print its path.

    If `arguments` is empty, the file is named after the thread.

    Raises:
        NotFound: The thread has no turns yet.
        SettingsProblem: The file exists, does not end in `.md`, or is in the
            manuscript.
    """
    thread = _require_thread(chat)
    path = arguments or await suggest_export_path(chat.workspace, chat.sitting.title)
    file = await export_thread_to_file(chat.workspace, thread, path)
    chat.output.answer(f"Wrote {file}.")


async def handle_open(chat: PlainChatState, arguments: str) -> None:
    """Print a location; on a terminal, also open it in the editor.

    `arguments` is the number of a citation of the last answer, or what `lrwr open`
    accepts.

    Raises:
        NotFound: There is no such citation, character or open question.
        EditorError: No editor is set, or it cannot be started or fails.
    """
    number = arguments.strip().strip("[]")
    if number and not number.isdecimal():
        location = await locate_target(chat.workspace, arguments)
    else:
        citation = find_citation(chat.turn, number)
        location = await locate_citation(chat.workspace, citation)
    await open_file_location(location, chat.output)


async def handle_help(chat: PlainChatState, arguments: str) -> None:
    """List the slash commands.

    Raises:
        SettingsProblem: `arguments` is not empty.
    """
    require_no_arguments("help", arguments)
    chat.output.answer(
        "Each line is a question. A backslash at the end continues it on"
    )
    chat.output.answer("the next line. Ctrl-C stops an answer. Commands:")
    for name, argument, description in _list_commands():
        chat.output.answer(
            StyledText(f"/{name} {argument}".rstrip(), "strong"), f"  {description}"
        )


def _list_commands() -> Iterator[tuple[str, str, str]]:
    for name, command in PLAIN_COMMANDS.items():
        yield name, command.argument, command.help
    yield "quit", "", "Leave the chat"


def print_chat_scope(chat: PlainChatState) -> None:
    """Print what the next question uses: thread, who answers, character and horizon."""
    scope = chat.sitting
    phrases = [f"“{scope.title}”" if scope.title else "New thread"]
    phrases.append(f"{scope.speaker or 'the analyst'} answers")
    if scope.character and not scope.speaker:
        phrases.append(f"about {scope.character}")
    phrases.append(
        f"up to {format_horizon(scope.as_of)}" if scope.as_of else "whole story"
    )
    if scope.witnessed:
        phrases.append("only what was witnessed")
    chat.output.info(f"{', '.join(phrases)}.")


def _require_thread(chat: PlainChatState) -> ThreadId:
    if chat.sitting.thread is None:
        raise NotFound("This thread has no turns yet", hint="Ask a question first.")
    return chat.sitting.thread


def _require_character(chat: PlainChatState) -> None:
    if not chat.sitting.character:
        raise NotFound(
            "No character is chosen", hint="Choose one with /character NAME."
        )


PLAIN_COMMANDS: Mapping[str, PlainCommand] = MappingProxyType(
    {
        "help": PlainCommand("", "List the commands", handle_help),
        "character": PlainCommand(
            "[NAME]", "Choose a character; without a name, list all", handle_character
        ),
        "asof": PlainCommand(
            "[POINT]", "Use the story only up to a point", handle_as_of
        ),
        "mode": PlainCommand(
            "[MODE]", "Switch between the analyst and the character", handle_mode
        ),
        "witnessed": PlainCommand(
            "",
            "Use only what the character witnessed, or the whole story again",
            handle_witnessed,
        ),
        "threads": PlainCommand(
            "[THREAD]", "List threads, or continue one", handle_threads
        ),
        "new": PlainCommand("", "Start a new thread", handle_new),
        "rename": PlainCommand(
            "TITLE", "Change the title of this thread", handle_rename
        ),
        "export": PlainCommand(
            "[FILE.md]", "Export this thread as Markdown", handle_export
        ),
        "open": PlainCommand(
            "NUMBER|NAME", "Open a passage in your editor", handle_open
        ),
        "gaps": PlainCommand("[NAME]", "List open questions", handle_gaps),
        "characters": PlainCommand(
            "[NAME]", "List the characters, or show one", handle_people
        ),
        "world": PlainCommand(
            "[NAME]", "List the elements of the story world, or show one", handle_world
        ),
        "timeline": PlainCommand(
            "[NAME]", "List what happens, in story order", handle_timeline
        ),
        "relations": PlainCommand(
            "[NAME]", "List who is related to whom", handle_relations
        ),
        "quotes": PlainCommand("[NAME] [chN]", "List who says what", handle_quotes),
        "recap": PlainCommand(
            "[POINT]", "Print the story so far, scene by scene", handle_recap
        ),
        "check": PlainCommand(
            "[DAY|FILE]",
            "List contradictions, or those since a day or in a file",
            handle_check,
        ),
        "diff": PlainCommand(
            "[REV]", "List changes since the last ingest or a revision", handle_diff
        ),
        "posts": PlainCommand(
            "", "List drafts of newsletters and other texts", handle_posts
        ),
        "draft": PlainCommand("", "Show the board of scenes", handle_draft),
        "review": PlainCommand(
            "", "List names that may be one character, or two", handle_review
        ),
        "search": PlainCommand("WORDS", "Find passages", handle_search),
        "read": PlainCommand("[CHAPTER]", "Print a chapter or note", handle_read),
        "library": PlainCommand(
            "", "Show what is read and what has changed", handle_library
        ),
        "ingest": PlainCommand("[FOLDER]", "Read new and changed files", handle_ingest),
        "settings": PlainCommand("[WORDS]", "List the settings", handle_settings),
    }
)
"""Slash commands by name; the loop handles /quit itself."""
