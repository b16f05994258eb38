"""What can be done in a plain conversation besides asking."""

from collections.abc import Callable, Coroutine, Iterator, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

from lrwr.app.container import Workspace
from lrwr.app.presenters.story import explain_model_setup
from lrwr.app.presenters.text import StyledText
from lrwr.app.presenters.threads import find_thread, format_thread_title
from lrwr.cli.chat.open_source import open_file_location
from lrwr.cli.presenters import story
from lrwr.cli.presenters.story import (
    find_world_element,
    print_not_evaluated,
    print_nothing_known,
)
from lrwr.cli.presenters.threads import list_threads
from lrwr.cli.runtime.options import parse_choice
from lrwr.cli.runtime.output import Output
from lrwr.core.bible.service import find_profile_by_name
from lrwr.core.bible.values import Bible, GapState
from lrwr.core.model.errors import NotFound, SettingsProblem
from lrwr.core.model.turns import AnswerMode, Citation, ThreadId, Turn
from lrwr.tui.queries.passages import locate_citation
from lrwr.tui.queries.story import load_story, move_chat_scope, resolve_character_name
from lrwr.tui.queries.threads import export_thread_to_file, suggest_export_path
from lrwr.tui.scope import ChatScope

NOBODY = "nobody"
WHOLE_STORY_WORDS = frozenset({"the whole story", "whole", "all", "everything", "end"})


@dataclass(slots=True)
class PlainChatState:
    """A conversation as it stands. `turn` is the last answer, None before the first."""

    workspace: Workspace
    output: Output
    sitting: ChatScope
    model: str
    turn: Turn | None = field(default=None)


PlainCommandHandler = Callable[[PlainChatState, str], Coroutine[Any, Any, None]]


@dataclass(frozen=True, slots=True)
class PlainCommand:
    """Something to do: what follows its name, what it is good for, and who does it."""

    takes: str
    help: str
    does: PlainCommandHandler


async def handle_character(chat: PlainChatState, arguments: str) -> None:
    """Choose whom one talks about, or with; without a name, list everybody."""
    if not arguments:
        bible = await load_story(chat.workspace, chat.sitting.as_of)
        for profile in bible.characters:
            chat.output.answer(profile.name)
        current = chat.sitting.character or NOBODY
        chat.output.story(f"Chosen: {current}. To choose: /character NAME, or {NOBODY}")
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
    """Choose how far the story has come; without a place, list the chapters."""
    if not arguments:
        order = await chat.workspace.finder().story_order()
        for _, chapter, number in order.iter_chapters():
            if not chapter.opening:
                chat.output.answer(
                    StyledText(f"ch{number}", "place"), f"  {chapter.title}"
                )
        chat.output.story("To choose: /asof ch3, /asof ch3:s2, or /asof all")
        return
    place = "" if arguments.casefold() in WHOLE_STORY_WORDS else arguments
    before = chat.sitting.character
    chat.sitting = await move_chat_scope(chat.workspace, chat.sitting, place)
    if before and not chat.sitting.character:
        chat.output.story(f"{before} is not known yet there, and no longer chosen.")
    print_chat_scope(chat)


async def handle_mode(chat: PlainChatState, arguments: str) -> None:
    """Have the analyst answer, or the character."""
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
    """Use only what the character was there for, or everything again."""
    _require_no_arguments("witnessed", arguments)
    if not chat.sitting.witnessed:
        _require_character(chat)
    chat.sitting = replace(chat.sitting, witnessed=not chat.sitting.witnessed)
    print_chat_scope(chat)


async def handle_threads(chat: PlainChatState, arguments: str) -> None:
    """List the conversations, or go on with one."""
    threads = await chat.workspace.threads.threads()
    if arguments:
        thread = find_thread(arguments, threads)
        chat.sitting = ChatScope.of_thread(thread)
        turns = await chat.workspace.threads.turns(thread.id, last=1)
        chat.turn = turns[0] if turns else None
        print_chat_scope(chat)
    elif threads:
        list_threads(threads, chat.output)
        chat.output.story("To go on with one: /threads 1")
    else:
        chat.output.story("There are no conversations yet.")


async def handle_new(chat: PlainChatState, arguments: str) -> None:
    """Begin another conversation."""
    _require_no_arguments("new", arguments)
    chat.sitting = replace(chat.sitting, thread=None, title="")
    chat.turn = None
    print_chat_scope(chat)


async def handle_rename(chat: PlainChatState, arguments: str) -> None:
    """Give this conversation another title."""
    thread = _require_thread(chat)
    if not arguments:
        raise SettingsProblem(
            "A title needs a word", hint="Try: /rename What Nell knows"
        )
    title = " ".join(arguments.split())
    await chat.workspace.threads.rename(thread, title)
    chat.sitting = replace(chat.sitting, title=title)
    new_title = format_thread_title(await chat.workspace.threads.thread(thread))
    chat.output.answer(f"This conversation is now called “{new_title}”.")


async def handle_export(chat: PlainChatState, arguments: str) -> None:
    """Write this conversation as Markdown."""
    thread = _require_thread(chat)
    path = arguments or await suggest_export_path(chat.workspace, chat.sitting.title)
    chat.output.answer(str(await export_thread_to_file(chat.workspace, thread, path)))


async def handle_gaps(chat: PlainChatState, arguments: str) -> None:
    """See what is left open."""
    bible = await load_story(chat.workspace, chat.sitting.as_of)
    character = find_profile_by_name(arguments, bible).name if arguments else ""
    gaps = [
        gap
        for gap in bible.gaps
        if gap.state is GapState.OPEN and (not character or gap.about == character)
    ]
    story.show_gaps(gaps, chat.output)
    if not gaps:
        _print_nothing_known(chat, bible, "No gap is known")
    print_not_evaluated(chat.output, bible, "Gaps that you did not mark yourself")


async def handle_people(chat: PlainChatState, arguments: str) -> None:
    """Read what the text says of everybody, or of somebody."""
    bible = await load_story(chat.workspace, chat.sitting.as_of)
    if arguments:
        story.show_character(find_profile_by_name(arguments, bible), bible, chat.output)
    elif bible.characters:
        story.list_characters(bible, chat.output)
    else:
        _print_nothing_known(chat, bible, "Nobody is known")


async def handle_world(chat: PlainChatState, arguments: str) -> None:
    """Read of places, things and rules, or of one."""
    bible = await load_story(chat.workspace, chat.sitting.as_of)
    if arguments:
        story.show_element(find_world_element(arguments, bible), chat.output)
    elif bible.world:
        story.list_world(bible, chat.output)
    else:
        _print_nothing_known(chat, bible, "No place or thing is known")


async def handle_timeline(chat: PlainChatState, arguments: str) -> None:
    """Read what happens, in story order."""
    bible = await load_story(chat.workspace, chat.sitting.as_of)
    moments = bible.timeline
    if arguments:
        name = find_profile_by_name(arguments, bible).name
        moments = tuple(moment for moment in moments if name in moment.characters)
    story.show_timeline(moments, chat.output)
    if not moments:
        _print_nothing_known(chat, bible, "Nothing is known to happen")


async def handle_open(chat: PlainChatState, arguments: str) -> None:
    """Say where a passage of the last answer stands, and open it in your editor."""
    location = await locate_citation(chat.workspace, _find_citation(chat, arguments))
    await open_file_location(location, chat.output)


async def handle_help(chat: PlainChatState, arguments: str) -> None:
    """List what can be done."""
    _require_no_arguments("help", arguments)
    chat.output.answer("A line is a question. A backslash at its end goes on with the")
    chat.output.answer(
        "next; Ctrl-C stops an answer. What begins with a slash is done:"
    )
    for name, argument, description in _list_commands():
        chat.output.answer(
            StyledText(f"/{name} {argument}".rstrip(), "strong"), f"  {description}"
        )


def _list_commands() -> Iterator[tuple[str, str, str]]:
    for name, doing in PLAIN_COMMANDS.items():
        yield name, doing.takes, doing.help
    yield "quit", "", "End the conversation"


def print_chat_scope(chat: PlainChatState) -> None:
    """Say with whom the writer talks, and how far the story has come."""
    scope = chat.sitting
    phrases = [f"“{scope.title}”" if scope.title else "A new conversation"]
    phrases.append(f"{scope.speaker or 'the analyst'} answers")
    if scope.character and not scope.speaker:
        phrases.append(f"about {scope.character}")
    phrases.append(f"as of {scope.as_of}" if scope.as_of else "of the whole story")
    if scope.witnessed:
        phrases.append("from what was witnessed only")
    chat.output.story(f"{', '.join(phrases)}.")


def _require_thread(chat: PlainChatState) -> ThreadId:
    if chat.sitting.thread is None:
        raise NotFound(
            "This conversation has not begun", hint="Your first question begins it."
        )
    return chat.sitting.thread


def _require_character(chat: PlainChatState) -> None:
    if not chat.sitting.character:
        raise NotFound("Nobody is chosen", hint="Say who: /character NAME")


def _require_no_arguments(name: str, arguments: str) -> None:
    if arguments:
        raise SettingsProblem(
            f"/{name} takes nothing after it",
            hint="For a question, put a space before the slash.",
        )


def _find_citation(chat: PlainChatState, arguments: str) -> Citation:
    number = arguments.strip().strip("[]")
    citations = chat.turn.output.citations if chat.turn else ()
    for citation in citations:
        if str(citation.number) == number:
            return citation
    numbers = ", ".join(str(citation.number) for citation in citations)
    raise NotFound(
        f"The last answer has no passage {number}" if number else "Which passage?",
        hint=f"It has these: {numbers}" if citations else "Ask something first.",
    )


def _print_nothing_known(chat: PlainChatState, bible: Bible, statement: str) -> None:
    remedy = explain_model_setup(bible, chat.workspace.settings)
    print_nothing_known(chat.output, statement, chat.sitting.as_of or None, remedy)


PLAIN_COMMANDS: Mapping[str, PlainCommand] = MappingProxyType(
    {
        "help": PlainCommand("", "Show what can be done", handle_help),
        "character": PlainCommand(
            "[NAME]", "Choose whom you talk about, or with", handle_character
        ),
        "asof": PlainCommand(
            "[PLACE]", "Choose how far the story has come", handle_as_of
        ),
        "mode": PlainCommand(
            "[MODE]", "Have the analyst answer, or the character", handle_mode
        ),
        "witnessed": PlainCommand(
            "",
            "Use only what the character was there for, or all again",
            handle_witnessed,
        ),
        "threads": PlainCommand(
            "[THREAD]", "List conversations, or go on with one", handle_threads
        ),
        "new": PlainCommand("", "Begin another conversation", handle_new),
        "rename": PlainCommand(
            "TITLE", "Give this conversation another title", handle_rename
        ),
        "export": PlainCommand(
            "[FILE.md]", "Write this conversation as Markdown", handle_export
        ),
        "gaps": PlainCommand("[NAME]", "See what is left open", handle_gaps),
        "people": PlainCommand(
            "[NAME]", "Read what the text says of everybody", handle_people
        ),
        "world": PlainCommand(
            "[NAME]", "Read of places, things and rules", handle_world
        ),
        "timeline": PlainCommand(
            "[NAME]", "Read what happens, in story order", handle_timeline
        ),
        "open": PlainCommand(
            "NUMBER", "Open a passage of the last answer", handle_open
        ),
    }
)
"""What can be typed after a slash; /quit besides, which ends it all."""
