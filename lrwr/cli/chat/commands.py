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
from lrwr.tui.queries.locations import locate_citation
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


async def handle_character(talk: PlainChatState, words: str) -> None:
    """Choose whom one talks about, or with; without a name, list everybody."""
    if not words:
        bible = await load_story(talk.workspace, talk.sitting.as_of)
        for profile in bible.characters:
            talk.output.answer(profile.name)
        chosen = talk.sitting.character or NOBODY
        talk.output.story(f"Chosen: {chosen}. To choose: /character NAME, or {NOBODY}")
        return
    if words.casefold() == NOBODY:
        talk.sitting = replace(
            talk.sitting, character="", mode=AnswerMode.ANALYTICAL, witnessed=False
        )
    else:
        name = await resolve_character_name(talk.workspace, words, talk.sitting.as_of)
        talk.sitting = replace(talk.sitting, character=name)
    print_chat_scope(talk)


async def handle_as_of(talk: PlainChatState, words: str) -> None:
    """Choose how far the story has come; without a place, list the chapters."""
    if not words:
        order = await talk.workspace.finder().story_order()
        for _, chapter, number in order.told():
            if not chapter.opening:
                talk.output.answer(
                    StyledText(f"ch{number}", "place"), f"  {chapter.title}"
                )
        talk.output.story("To choose: /asof ch3, /asof ch3:s2, or /asof all")
        return
    place = "" if words.casefold() in WHOLE_STORY_WORDS else words
    before = talk.sitting.character
    talk.sitting = await move_chat_scope(talk.workspace, talk.sitting, place)
    if before and not talk.sitting.character:
        talk.output.story(f"{before} is not known yet there, and no longer chosen.")
    print_chat_scope(talk)


async def handle_mode(talk: PlainChatState, words: str) -> None:
    """Have the analyst answer, or the character."""
    if words:
        wanted = parse_choice(
            AnswerMode, words.replace("-", "_").replace(" ", "_"), "/mode"
        )
    else:
        now = talk.sitting.mode
        wanted = (
            AnswerMode.ANALYTICAL
            if now is AnswerMode.IN_CHARACTER
            else AnswerMode.IN_CHARACTER
        )
    if wanted is AnswerMode.IN_CHARACTER:
        _require_somebody(talk)
    talk.sitting = replace(talk.sitting, mode=wanted)
    print_chat_scope(talk)


async def handle_witnessed(talk: PlainChatState, words: str) -> None:
    """Use only what the character was there for, or everything again."""
    _nothing_after("witnessed", words)
    if not talk.sitting.witnessed:
        _require_somebody(talk)
    talk.sitting = replace(talk.sitting, witnessed=not talk.sitting.witnessed)
    print_chat_scope(talk)


async def handle_threads(talk: PlainChatState, words: str) -> None:
    """List the conversations, or go on with one."""
    found = await talk.workspace.threads.threads()
    if words:
        thread = find_thread(words, found)
        talk.sitting = ChatScope.of_thread(thread)
        turns = await talk.workspace.threads.turns(thread.id, last=1)
        talk.turn = turns[0] if turns else None
        print_chat_scope(talk)
    elif found:
        list_threads(found, talk.output)
        talk.output.story("To go on with one: /threads 1")
    else:
        talk.output.story("There are no conversations yet.")


async def handle_new(talk: PlainChatState, words: str) -> None:
    """Begin another conversation."""
    _nothing_after("new", words)
    talk.sitting = replace(talk.sitting, thread=None, title="")
    talk.turn = None
    print_chat_scope(talk)


async def handle_rename(talk: PlainChatState, words: str) -> None:
    """Give this conversation another title."""
    thread = _begun(talk)
    if not words:
        raise SettingsProblem(
            "A title needs a word", hint="Try: /rename What Nell knows"
        )
    title = " ".join(words.split())
    await talk.workspace.threads.rename(thread, title)
    talk.sitting = replace(talk.sitting, title=title)
    called = format_thread_title(await talk.workspace.threads.thread(thread))
    talk.output.answer(f"This conversation is now called “{called}”.")


async def handle_export(talk: PlainChatState, words: str) -> None:
    """Write this conversation as Markdown."""
    thread = _begun(talk)
    path = words or await suggest_export_path(talk.workspace, talk.sitting.title)
    talk.output.answer(str(await export_thread_to_file(talk.workspace, thread, path)))


async def handle_gaps(talk: PlainChatState, words: str) -> None:
    """See what is left open."""
    bible = await load_story(talk.workspace, talk.sitting.as_of)
    who = find_profile_by_name(words, bible).name if words else ""
    found = [
        gap
        for gap in bible.gaps
        if gap.state is GapState.OPEN and (not who or gap.about == who)
    ]
    story.show_gaps(found, talk.output)
    if not found:
        _say_nothing(talk, bible, "No gap is known")
    print_not_evaluated(talk.output, bible, "Gaps that you did not mark yourself")


async def handle_people(talk: PlainChatState, words: str) -> None:
    """Read what the text says of everybody, or of somebody."""
    bible = await load_story(talk.workspace, talk.sitting.as_of)
    if words:
        story.show_character(find_profile_by_name(words, bible), bible, talk.output)
    elif bible.characters:
        story.list_characters(bible, talk.output)
    else:
        _say_nothing(talk, bible, "Nobody is known")


async def handle_world(talk: PlainChatState, words: str) -> None:
    """Read of places, things and rules, or of one."""
    bible = await load_story(talk.workspace, talk.sitting.as_of)
    if words:
        story.show_element(find_world_element(words, bible), talk.output)
    elif bible.world:
        story.list_world(bible, talk.output)
    else:
        _say_nothing(talk, bible, "No place or thing is known")


async def handle_timeline(talk: PlainChatState, words: str) -> None:
    """Read what happens, in story order."""
    bible = await load_story(talk.workspace, talk.sitting.as_of)
    moments = bible.timeline
    if words:
        name = find_profile_by_name(words, bible).name
        moments = tuple(moment for moment in moments if name in moment.characters)
    story.show_timeline(moments, talk.output)
    if not moments:
        _say_nothing(talk, bible, "Nothing is known to happen")


async def handle_open(talk: PlainChatState, words: str) -> None:
    """Say where a passage of the last answer stands, and open it in your editor."""
    spot = await locate_citation(talk.workspace, _cited(talk, words))
    await open_file_location(spot, talk.output)


async def handle_help(talk: PlainChatState, words: str) -> None:
    """List what can be done."""
    _nothing_after("help", words)
    talk.output.answer("A line is a question. A backslash at its end goes on with the")
    talk.output.answer(
        "next; Ctrl-C stops an answer. What begins with a slash is done:"
    )
    for name, takes, told in _doings():
        talk.output.answer(
            StyledText(f"/{name} {takes}".rstrip(), "strong"), f"  {told}"
        )


def _doings() -> Iterator[tuple[str, str, str]]:
    for name, doing in PLAIN_COMMANDS.items():
        yield name, doing.takes, doing.help
    yield "quit", "", "End the conversation"


def print_chat_scope(talk: PlainChatState) -> None:
    """Say with whom the writer talks, and how far the story has come."""
    sitting = talk.sitting
    told = [f"“{sitting.title}”" if sitting.title else "A new conversation"]
    told.append(f"{sitting.speaker or 'the analyst'} answers")
    if sitting.character and not sitting.speaker:
        told.append(f"about {sitting.character}")
    told.append(f"as of {sitting.as_of}" if sitting.as_of else "of the whole story")
    if sitting.witnessed:
        told.append("from what was witnessed only")
    talk.output.story(f"{', '.join(told)}.")


def _begun(talk: PlainChatState) -> ThreadId:
    if talk.sitting.thread is None:
        raise NotFound(
            "This conversation has not begun", hint="Your first question begins it."
        )
    return talk.sitting.thread


def _require_somebody(talk: PlainChatState) -> None:
    if not talk.sitting.character:
        raise NotFound("Nobody is chosen", hint="Say who: /character NAME")


def _nothing_after(name: str, words: str) -> None:
    if words:
        raise SettingsProblem(
            f"/{name} takes nothing after it",
            hint="For a question, put a space before the slash.",
        )


def _cited(talk: PlainChatState, words: str) -> Citation:
    number = words.strip().strip("[]")
    cited = talk.turn.output.citations if talk.turn else ()
    for one in cited:
        if str(one.number) == number:
            return one
    numbers = ", ".join(str(one.number) for one in cited)
    raise NotFound(
        f"The last answer has no passage {number}" if number else "Which passage?",
        hint=f"It has these: {numbers}" if cited else "Ask something first.",
    )


def _say_nothing(talk: PlainChatState, bible: Bible, what: str) -> None:
    remedy = explain_model_setup(bible, talk.workspace.settings)
    print_nothing_known(talk.output, what, talk.sitting.as_of or None, remedy)


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
