"""Commands on the story bible: characters, world, relations, timeline, quotes, recap, gaps."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any

import typer

from lrwr.app.presenters import story, story_json
from lrwr.app.presenters.text import StyledLine, StyledTable
from lrwr.cli.commands.canon import (
    canon_ignore_command,
    canon_merge_command,
    canon_rename_command,
    canon_split_command,
    canon_undo_command,
    make_decision,
)
from lrwr.cli.commands.name_review import REVIEW_EPILOG, characters_review_command
from lrwr.cli.runtime.event_loop import run_async
from lrwr.cli.runtime.groups import NamedGroup
from lrwr.cli.runtime.options import (
    AsOfOption,
    JsonOption,
    NameArgument,
    parse_chapter,
    split_chapter,
    split_hearer,
)
from lrwr.cli.runtime.output import Output, start_session
from lrwr.cli.runtime.services import open_story_services
from lrwr.core.bible.gaps import find_gap_by_id
from lrwr.core.bible.service import (
    filter_quotes,
    filter_timeline,
    find_profile_by_name,
    find_world_element,
    list_absent_characters,
    list_present_characters,
)
from lrwr.core.bible.values import Bible, Gap, GapState
from lrwr.core.canon.decision import (
    Decision,
    GapAnswered,
    GapDeclined,
    NameConfirmed,
)
from lrwr.core.settings.model import Settings

CHARACTERS_EPILOG = (
    'Examples: lrwr characters · lrwr characters Nell · lrwr characters "Nell Tallow"'
    " --as-of ch3 · lrwr characters ch7 · lrwr characters --absent-since ch4 · "
    'lrwr characters merge "Nell Tallow" Wren. Decisions are stored in'
    " lrwr.canon.toml and take effect with the next `lrwr ingest`."
)
CONFIRM_EPILOG = "Example: lrwr characters confirm OchraMags"
MERGE_EPILOG = (
    'Examples: lrwr characters merge "Nell Tallow" Nell Wren ·'
    ' lrwr characters merge Nell Wren --as "Nell Tallow"'
)
SPLIT_EPILOG = "Example: lrwr characters split Mags Maggie"
RENAME_EPILOG = 'Example: lrwr characters rename "the narrator" "Nell Tallow"'
IGNORE_EPILOG = "Example: lrwr characters ignore Monday"
WORLD_EPILOG = (
    'Examples: lrwr world · lrwr world "Half House" · lrwr world --as-of ch3 --json'
)
RELATIONS_EPILOG = (
    "Examples: lrwr relations · lrwr relations Nell · lrwr relations --as-of ch4"
)
TIMELINE_EPILOG = (
    "Examples: lrwr timeline · lrwr timeline ch7 · lrwr timeline Nell --as-of ch4 ·"
    " lrwr timeline --json"
)
QUOTES_EPILOG = (
    "Examples: lrwr quotes · lrwr quotes Nell · lrwr quotes Nell ch4 · lrwr quotes"
    " Nell to OchraMags · lrwr quotes --speaker Nell --as-of ch4 --json"
)
RECAP_EPILOG = (
    "Examples: lrwr recap · lrwr recap ch4 · lrwr recap --as-of ch4:s2 --json"
)
GAPS_EPILOG = (
    "Examples: lrwr gaps · lrwr gaps Nell · lrwr gaps --all · lrwr gaps answer bdfk"
    ' "grey, like the marsh" · lrwr gaps dismiss bdfk · lrwr gaps undo'
)
ANSWER_EPILOG = 'Example: lrwr gaps answer bdfk "grey, like the marsh"'
DISMISS_EPILOG = "Example: lrwr gaps dismiss bdfk. To reopen it: lrwr gaps undo"

GapIdArgument = Annotated[
    str, typer.Argument(metavar="ID", help="The id that `lrwr gaps` shows.")
]


@dataclass(frozen=True, slots=True)
class StoryList:
    """How one list of the story bible is selected, filtered and printed.

    `select` returns the items of a bible, `render` their text and `to_json` their JSON
    objects. `concerns` returns whether an item is about the character with a
    name. `empty` is the sentence for an empty list, without its full stop;
    `model_topic` names what only a language model can add to the list, empty if
    nothing.
    """

    select: Callable[[Bible], Sequence[Any]]
    render: Callable[[Sequence[Any], Bible], Iterable[StyledLine | StyledTable]]
    to_json: Callable[[Sequence[Any], Bible], list[dict[str, object]]]
    empty: str
    model_topic: str = ""
    concerns: Callable[[Any, str], bool] = lambda _item, _name: True


CHARACTERS = StoryList(
    lambda bible: bible.characters,
    story.list_characters,
    story_json.characters_as_json,
    empty="No characters found",
    model_topic="Traits, values, behaviour, voice",
)
WORLD = StoryList(
    lambda bible: bible.world,
    lambda elements, _: story.list_world(elements),
    lambda elements, _: [story_json.element_as_json(e) for e in elements],
    empty="No world elements found",
    model_topic="Other technology, factions, artifacts and rules",
)
RELATIONS = StoryList(
    lambda bible: bible.relations,
    lambda relations, _: story.render_relations(relations),
    lambda relations, _: [story_json.relation_as_json(r) for r in relations],
    empty="No relationships found",
    model_topic="Whether characters are allies or opponents",
    concerns=lambda relation, name: name in (relation.source, relation.target),
)
TIMELINE = StoryList(
    lambda bible: bible.timeline,
    lambda moments, _: story.render_timeline(moments),
    lambda moments, _: [story_json.moment_as_json(m) for m in moments],
    empty="No events found",
    model_topic="Other events",
)
QUOTES = StoryList(
    lambda bible: bible.quotes,
    lambda quotes, _: story.render_quotes(quotes),
    lambda quotes, _: [story_json.quote_as_json(q) for q in quotes],
    empty="No dialogue found",
)
RECAP = StoryList(
    lambda bible: bible.scenes,
    lambda scenes, _: story.render_recap(scenes),
    lambda scenes, _: [story_json.scene_as_json(s) for s in scenes],
    empty="No scenes found",
    model_topic="Scene summaries",
)

app = typer.Typer()
characters_app = typer.Typer(
    cls=NamedGroup, invoke_without_command=True, epilog=CHARACTERS_EPILOG
)
gaps_app = typer.Typer(cls=NamedGroup, invoke_without_command=True, epilog=GAPS_EPILOG)


@characters_app.callback()
def characters_command(
    context: typer.Context,
    name: NameArgument = None,
    absent_since: Annotated[
        str | None,
        typer.Option(
            "--absent-since",
            metavar="chN",
            help="List only those whose last scene is in chapter N or before.",
        ),
    ] = None,
    as_of: AsOfOption = None,
    as_json: JsonOption = False,
) -> None:
    """List the characters with their last scene, or show one with all facts and
    sources.

    With a chapter such as ch7 in place of NAME, list those who are in it.
    """
    if context.invoked_subcommand is not None:
        return
    character_name, chapter = split_chapter(join_name(name))
    since = None if absent_since is None else parse_chapter(absent_since)
    bible, output, settings = _open_story_bible(context, as_of)
    if not character_name:
        items, listing = bible.characters, CHARACTERS
        if since is not None and items:
            listing = replace(CHARACTERS, empty=story.describe_all_present(since))
            items = list_absent_characters(bible, since)
        if chapter is not None:
            empty = f"Nobody was found in chapter {chapter}"
            listing = replace(listing, empty=empty)
            present = list_present_characters(bible, chapter)
            items = tuple(profile for profile in items if profile in present)
        _print_items(listing, items, bible, as_of, (output, settings))
        return
    profile = find_profile_by_name(character_name, bible)
    if as_json:
        output.json(story_json.profile_as_json(profile, bible))
        return
    with output.paged():
        output.show(story.render_character(profile, bible))


@characters_app.command("confirm", epilog=CONFIRM_EPILOG)
def characters_confirm_command(
    context: typer.Context,
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="A name as it appears in the text.")
    ],
) -> None:
    """Confirm that a name belongs to a character."""
    settings, output = start_session(context)
    run_async(make_decision(settings, output, lambda _: NameConfirmed(name)))


characters_app.command("merge", epilog=MERGE_EPILOG)(canon_merge_command)
characters_app.command("review", epilog=REVIEW_EPILOG)(characters_review_command)
characters_app.command("split", epilog=SPLIT_EPILOG)(canon_split_command)
characters_app.command("rename", epilog=RENAME_EPILOG)(canon_rename_command)
characters_app.command("ignore", epilog=IGNORE_EPILOG)(canon_ignore_command)
characters_app.command("undo")(canon_undo_command)


@app.command("world", epilog=WORLD_EPILOG)
def world_command(
    context: typer.Context,
    name: NameArgument = None,
    as_of: AsOfOption = None,
    as_json: JsonOption = False,
) -> None:
    """List the elements of the story world, or show one.

    Elements are settings, objects, groups, rules and the like, with their sources.
    """
    element_name = join_name(name)
    if not element_name:
        _print_story_list(context, WORLD, as_of)
        return
    bible, output, _ = _open_story_bible(context, as_of)
    element = find_world_element(element_name, bible)
    if as_json:
        output.json(story_json.element_as_json(element))
        return
    with output.paged():
        output.show(story.render_element(element))
    if element.unquoted_mentions:
        output.info(f'`lrwr search "{element.name}" --exact` lists all mentions.')


@app.command("relations", epilog=RELATIONS_EPILOG)
def relations_command(
    context: typer.Context,
    name: NameArgument = None,
    as_of: AsOfOption = None,
    as_json: JsonOption = False,  # noqa: ARG001 - `start_session` reads it
) -> None:
    """List relationships of characters, stated or derived, with locations."""
    _print_story_list(context, RELATIONS, as_of, join_name(name))


@app.command("timeline", epilog=TIMELINE_EPILOG)
def timeline_command(
    context: typer.Context,
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[NAME] [chN]",
            help="Show only events of this character, or in this chapter.",
        ),
    ] = None,
    character: Annotated[
        str,
        typer.Option(
            "--character", metavar="NAME", help="Show only events of this character."
        ),
    ] = "",
    as_of: AsOfOption = None,
    as_json: JsonOption = False,  # noqa: ARG001 - `start_session` reads it
) -> None:
    """List what happens, in story order, with locations."""
    name, chapter = split_chapter(join_name(words))
    bible, output, settings = _open_story_bible(context, as_of)
    moments = filter_timeline(bible, character or name, chapter)
    _print_items(TIMELINE, moments, bible, as_of, (output, settings))


@app.command("quotes", epilog=QUOTES_EPILOG)
def quotes_command(
    context: typer.Context,
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[NAME] [to NAME] [chN]",
            help="Show only this speaker, what is said to somebody, or this chapter.",
        ),
    ] = None,
    speaker: Annotated[
        str,
        typer.Option(
            "--speaker", metavar="NAME", help="Show only what this character says."
        ),
    ] = "",
    hearer: Annotated[
        str,
        typer.Option(
            "--to", metavar="NAME", help="Show only what is said to this character."
        ),
    ] = "",
    as_of: AsOfOption = None,
    as_json: JsonOption = False,  # noqa: ARG001 - `start_session` reads it
) -> None:
    """List quoted dialogue with speaker, confidence and location."""
    name, chapter = split_chapter(join_name(words))
    name, named_hearer = split_hearer(name)
    bible, output, settings = _open_story_bible(context, as_of)
    quotes = filter_quotes(bible, speaker or name, chapter, hearer or named_hearer)
    _print_items(QUOTES, quotes, bible, as_of, (output, settings))


@app.command("recap", epilog=RECAP_EPILOG)
def recap_command(
    context: typer.Context,
    point: Annotated[
        str | None,
        typer.Argument(metavar="[POINT]", help="The same as --as-of POINT."),
    ] = None,
    as_of: AsOfOption = None,
    as_json: JsonOption = False,  # noqa: ARG001 - `start_session` reads it
) -> None:
    """Summarise the story so far, scene by scene.

    Without a language model, the key sentences of each scene are quoted instead.
    """
    _print_story_list(context, RECAP, as_of or point)


@gaps_app.callback()
def gaps_command(
    context: typer.Context,
    name: NameArgument = None,
    every: Annotated[
        bool, typer.Option("--all", help="Show answered and closed questions too.")
    ] = False,
    as_of: AsOfOption = None,
    as_json: JsonOption = False,
) -> None:
    """List open questions: what the text leaves undefined.

    Answer one with `lrwr gaps answer`, or dismiss it with `lrwr gaps dismiss`.
    """
    if context.invoked_subcommand is not None:
        return
    bible, output, settings = _open_story_bible(context, as_of)
    gaps = bible.gaps
    if character_name := join_name(name):
        profile_name = find_profile_by_name(character_name, bible).name
        gaps = tuple(gap for gap in gaps if gap.about == profile_name)
    shown = [gap for gap in gaps if every or gap.state is GapState.OPEN]
    if as_json:
        output.json([story_json.gap_as_json(gap) for gap in shown])
        return
    with output.paged():
        for gap in shown:
            output.show(story.render_gap(gap))
        if not gaps:
            remedy = story.explain_model_setup(bible, settings)
            print_nothing_known(output, "No open questions found", as_of, remedy)
        elif hidden := len(gaps) - len(shown):
            output.answer(f"{hidden} more answered or closed; `--all` shows them.")
        print_not_evaluated(
            output,
            bible,
            "Open questions without a marker (TODO, TK, ???) in your text",
        )


@gaps_app.command("answer", epilog=ANSWER_EPILOG)
def gaps_answer_command(
    context: typer.Context,
    id_: GapIdArgument,
    text: Annotated[
        list[str], typer.Argument(metavar="TEXT", help="Your answer, on one line.")
    ],
) -> None:
    """Answer an open question. From then on your answer is part of the canon."""
    answer = " ".join(text)
    _decide_gap(
        context,
        id_,
        lambda gap: GapAnswered(gap.asked.about, gap.asked.attribute, answer),
    )


@gaps_app.command("dismiss", epilog=DISMISS_EPILOG)
def gaps_dismiss_command(context: typer.Context, id_: GapIdArgument) -> None:
    """Leave a question open on purpose; it is not listed again."""
    _decide_gap(
        context, id_, lambda gap: GapDeclined(gap.asked.about, gap.asked.attribute)
    )


gaps_app.command("undo")(canon_undo_command)

app.add_typer(characters_app, name="characters")
app.add_typer(gaps_app, name="gaps")


async def load_bible(
    settings: Settings, output: Output, as_of: str | None = None
) -> Bible:
    """Return the story bible up to the point `as_of`, such as "ch3".

    None means the whole story. `output` receives notices of the library.

    Raises:
        NotFound: Nothing has been ingested here, or there is no such point.
    """
    async with open_story_services(settings, output) as workspace:
        service = workspace.bible()
        horizon = None if as_of is None else await service.horizon(as_of)
        return await service.read(horizon)


def join_name(words: Sequence[str] | None) -> str:
    """Return the words of a name on the command line as one name; empty for None."""
    return " ".join(words or ()).strip()


def print_nothing_known(
    output: Output, statement: str, as_of: str | None, remedy: str
) -> None:
    """Print the message for an empty list: `statement`, the horizon, then `remedy`.

    `statement` has no full stop. `as_of` is the horizon as typed, None for the whole
    story. `remedy` is a sentence, or empty.
    """
    output.notice(story.describe_nothing_known(statement, as_of, remedy))


def print_not_evaluated(output: Output, bible: Bible, topic: str) -> None:
    """Print that `topic` needs a language model.

    Nothing is printed if a language model analysed the manuscript.
    """
    if text := story.describe_not_evaluated(bible, topic):
        output.notice(text)


def _open_story_bible(
    context: typer.Context, as_of: str | None
) -> tuple[Bible, Output, Settings]:
    settings, output = start_session(context)
    return run_async(load_bible(settings, output, as_of)), output, settings


def _print_story_list(
    context: typer.Context,
    story_list: StoryList,
    as_of: str | None,
    character: str = "",
) -> None:
    """Print a list of the story bible as text or JSON; `character` filters it."""
    bible, output, settings = _open_story_bible(context, as_of)
    items = story_list.select(bible)
    if character:
        name = find_profile_by_name(character, bible).name
        items = [item for item in items if story_list.concerns(item, name)]
    _print_items(story_list, items, bible, as_of, (output, settings))


def _print_items(
    story_list: StoryList,
    items: Sequence[Any],
    bible: Bible,
    as_of: str | None,
    session: tuple[Output, Settings],
) -> None:
    output, settings = session
    if output.as_json:
        output.json(story_list.to_json(items, bible))
        return
    with output.paged():
        if items:
            output.show(story_list.render(items, bible))
        else:
            remedy = story.explain_model_setup(bible, settings)
            print_nothing_known(output, story_list.empty, as_of, remedy)
        if story_list.model_topic:
            print_not_evaluated(output, bible, story_list.model_topic)


def _decide_gap(
    context: typer.Context, id_: str, choose: Callable[[Gap], Decision]
) -> None:
    bible, output, settings = _open_story_bible(context, None)
    gap = find_gap_by_id(id_, bible.gaps)
    run_async(make_decision(settings, output, lambda _: choose(gap)))
