"""What can be done in a plain conversation besides asking."""

from collections.abc import Callable, Coroutine, Iterator, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from lrwr.app.presenters.threads import title_of
from lrwr.cli.presenters import story
from lrwr.cli.presenters.story import how_to_read, say_nothing, say_who_reads
from lrwr.cli.runtime.options import one_of
from lrwr.cli.runtime.stream import Styled
from lrwr.core.bible.service import character_called
from lrwr.core.bible.values import GapState
from lrwr.core.model.errors import NotFound, SettingsProblem
from lrwr.core.model.turns import Citation, Mode, Turn
from lrwr.tui.queries.story import moved, named, story_as_of
from lrwr.tui.scope import Sitting

if TYPE_CHECKING:
    from lrwr.cli.runtime.output import Output
    from lrwr.core.bible.values import Bible
    from lrwr.core.model.turns import ThreadId
    from lrwr.tui.services import Lends

NOBODY = "nobody"
THE_WHOLE = frozenset({"the whole story", "whole", "all", "everything", "end"})


@dataclass(slots=True)
class Talk:
    """A conversation as it stands. `turn` is the last answer, None before the first."""

    lent: "Lends"
    output: "Output"
    sitting: Sitting
    model: str
    turn: Turn | None = field(default=None)


Deed = Callable[[Talk, str], Coroutine[Any, Any, None]]


@dataclass(frozen=True, slots=True)
class Doing:
    """Something to do: what follows its name, what it is good for, and who does it."""

    takes: str
    help: str
    does: Deed


async def character(talk: Talk, words: str) -> None:
    """Choose whom one talks about, or with; without a name, list everybody."""
    if not words:
        bible = await story_as_of(talk.lent, talk.sitting.as_of)
        for profile in bible.characters:
            talk.output.answer(profile.name)
        chosen = talk.sitting.character or NOBODY
        talk.output.story(f"Chosen: {chosen}. To choose: /character NAME, or {NOBODY}")
        return
    if words.casefold() == NOBODY:
        talk.sitting = replace(
            talk.sitting, character="", mode=Mode.ANALYTICAL, witnessed=False
        )
    else:
        name = await named(talk.lent, words, talk.sitting.as_of)
        talk.sitting = replace(talk.sitting, character=name)
    say_where(talk)


async def asof(talk: Talk, words: str) -> None:
    """Choose how far the story has come; without a place, list the chapters."""
    if not words:
        order = await talk.lent.order()
        for _, chapter, number in order.told():
            if not chapter.opening:
                talk.output.answer(Styled(f"ch{number}", "place"), f"  {chapter.title}")
        talk.output.story("To choose: /asof ch3, /asof ch3:s2, or /asof all")
        return
    place = "" if words.casefold() in THE_WHOLE else words
    before = talk.sitting.character
    talk.sitting = await moved(talk.lent, talk.sitting, place)
    if before and not talk.sitting.character:
        talk.output.story(f"{before} is not known yet there, and no longer chosen.")
    say_where(talk)


async def mode(talk: Talk, words: str) -> None:
    """Have the analyst answer, or the character."""
    if words:
        wanted = one_of(Mode, words.replace("-", "_").replace(" ", "_"), "/mode")
    else:
        now = talk.sitting.mode
        wanted = Mode.ANALYTICAL if now is Mode.IN_CHARACTER else Mode.IN_CHARACTER
    if wanted is Mode.IN_CHARACTER:
        _require_somebody(talk)
    talk.sitting = replace(talk.sitting, mode=wanted)
    say_where(talk)


async def witnessed(talk: Talk, words: str) -> None:
    """Use only what the character was there for, or everything again."""
    _nothing_after("witnessed", words)
    if not talk.sitting.witnessed:
        _require_somebody(talk)
    talk.sitting = replace(talk.sitting, witnessed=not talk.sitting.witnessed)
    say_where(talk)


async def threads(talk: Talk, words: str) -> None:
    """List the conversations, or go on with one."""
    from lrwr.app.presenters.threads import thread_called
    from lrwr.cli.presenters.threads import list_threads

    found = await talk.lent.threads.threads()
    if words:
        thread = thread_called(words, found)
        talk.sitting = Sitting.of_thread(thread)
        turns = await talk.lent.threads.turns(thread.id, last=1)
        talk.turn = turns[0] if turns else None
        say_where(talk)
    elif found:
        list_threads(found, talk.output)
        talk.output.story("To go on with one: /threads 1")
    else:
        talk.output.story("There are no conversations yet.")


async def new(talk: Talk, words: str) -> None:
    """Begin another conversation."""
    _nothing_after("new", words)
    talk.sitting = replace(talk.sitting, thread=None, title="")
    talk.turn = None
    say_where(talk)


async def rename(talk: Talk, words: str) -> None:
    """Give this conversation another title."""
    thread = _begun(talk)
    if not words:
        raise SettingsProblem(
            "A title needs a word", hint="Try: /rename What Nell knows"
        )
    title = " ".join(words.split())
    await talk.lent.threads.rename(thread, title)
    talk.sitting = replace(talk.sitting, title=title)
    called = title_of(await talk.lent.threads.thread(thread))
    talk.output.answer(f"This conversation is now called “{called}”.")


async def export(talk: Talk, words: str) -> None:
    """Write this conversation as Markdown."""
    from lrwr.tui.queries.threads import file_for, written_out

    thread = _begun(talk)
    path = words or await file_for(talk.lent, talk.sitting.title)
    talk.output.answer(str(await written_out(talk.lent, thread, path)))


async def gaps(talk: Talk, words: str) -> None:
    """See what is left open."""
    bible = await story_as_of(talk.lent, talk.sitting.as_of)
    who = character_called(words, bible).name if words else ""
    found = [
        gap
        for gap in bible.gaps
        if gap.state is GapState.OPEN and (not who or gap.about == who)
    ]
    story.show_gaps(found, talk.output)
    if not found:
        _say_nothing(talk, bible, "No gap is known")
    say_who_reads(talk.output, bible, "Gaps that you did not mark yourself")


async def people(talk: Talk, words: str) -> None:
    """Read what the text says of everybody, or of somebody."""
    bible = await story_as_of(talk.lent, talk.sitting.as_of)
    if words:
        story.show_character(character_called(words, bible), bible, talk.output)
    elif bible.characters:
        story.list_characters(bible, talk.output)
    else:
        _say_nothing(talk, bible, "Nobody is known")


async def world(talk: Talk, words: str) -> None:
    """Read of places, things and rules, or of one."""
    from lrwr.cli.commands.world import element_called

    bible = await story_as_of(talk.lent, talk.sitting.as_of)
    if words:
        story.show_element(element_called(words, bible), talk.output)
    elif bible.world:
        story.list_world(bible, talk.output)
    else:
        _say_nothing(talk, bible, "No place or thing is known")


async def timeline(talk: Talk, words: str) -> None:
    """Read what happens, in story order."""
    bible = await story_as_of(talk.lent, talk.sitting.as_of)
    moments = bible.timeline
    if words:
        name = character_called(words, bible).name
        moments = tuple(one for one in moments if name in one.characters)
    story.show_timeline(moments, talk.output)
    if not moments:
        _say_nothing(talk, bible, "Nothing is known to happen")


async def open_passage(talk: Talk, words: str) -> None:
    """Say where a passage of the last answer stands, and open it in your editor."""
    from lrwr.cli.chat.open_source import open_spot
    from lrwr.tui.queries.locations import spot_of

    spot = await spot_of(talk.lent, _cited(talk, words))
    await open_spot(spot, talk.output)


async def help_(talk: Talk, words: str) -> None:
    """List what can be done."""
    _nothing_after("help", words)
    talk.output.answer("A line is a question. A backslash at its end goes on with the")
    talk.output.answer(
        "next; Ctrl-C stops an answer. What begins with a slash is done:"
    )
    for name, takes, told in _doings():
        talk.output.answer(Styled(f"/{name} {takes}".rstrip(), "strong"), f"  {told}")


def _doings() -> Iterator[tuple[str, str, str]]:
    for name, doing in DEEDS.items():
        yield name, doing.takes, doing.help
    yield "quit", "", "End the conversation"


def say_where(talk: Talk) -> None:
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


def _begun(talk: Talk) -> "ThreadId":
    if talk.sitting.thread is None:
        raise NotFound(
            "This conversation has not begun", hint="Your first question begins it."
        )
    return talk.sitting.thread


def _require_somebody(talk: Talk) -> None:
    if not talk.sitting.character:
        raise NotFound("Nobody is chosen", hint="Say who: /character NAME")


def _nothing_after(name: str, words: str) -> None:
    if words:
        raise SettingsProblem(
            f"/{name} takes nothing after it",
            hint="For a question, put a space before the slash.",
        )


def _cited(talk: Talk, words: str) -> Citation:
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


def _say_nothing(talk: Talk, bible: "Bible", what: str) -> None:
    remedy = how_to_read(bible, talk.lent.settings)
    say_nothing(talk.output, what, talk.sitting.as_of or None, remedy)


DEEDS: Mapping[str, Doing] = MappingProxyType(
    {
        "help": Doing("", "Show what can be done", help_),
        "character": Doing("[NAME]", "Choose whom you talk about, or with", character),
        "asof": Doing("[PLACE]", "Choose how far the story has come", asof),
        "mode": Doing("[MODE]", "Have the analyst answer, or the character", mode),
        "witnessed": Doing(
            "", "Use only what the character was there for, or all again", witnessed
        ),
        "threads": Doing("[THREAD]", "List conversations, or go on with one", threads),
        "new": Doing("", "Begin another conversation", new),
        "rename": Doing("TITLE", "Give this conversation another title", rename),
        "export": Doing("[FILE.md]", "Write this conversation as Markdown", export),
        "gaps": Doing("[NAME]", "See what is left open", gaps),
        "people": Doing("[NAME]", "Read what the text says of everybody", people),
        "world": Doing("[NAME]", "Read of places, things and rules", world),
        "timeline": Doing("[NAME]", "Read what happens, in story order", timeline),
        "open": Doing("NUMBER", "Open a passage of the last answer", open_passage),
    }
)
"""What can be typed after a slash; /quit besides, which ends it all."""
