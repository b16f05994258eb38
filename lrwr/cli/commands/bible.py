"""`lrwr world`, `timeline`, `relations`, `quotes` and `recap`: what the story bible holds."""

from typing import Annotated

import typer

from lrwr.app.presenters.story import explain_model_setup
from lrwr.cli.presenters import bible_json, story
from lrwr.cli.presenters.story import (
    find_world_element,
    join_name,
    open_story_bible,
    print_not_evaluated,
    print_nothing_known,
)
from lrwr.cli.runtime.options import AsOfOption, JsonOption, NameArgument
from lrwr.core.bible.service import find_profile_by_name

WORLD_EPILOG = (
    'Examples: lrwr world · lrwr world "Half House" · lrwr world --as-of ch3 --json'
)
TIMELINE_EPILOG = (
    "Examples: lrwr timeline · lrwr timeline --character Nell --as-of ch4 ·"
    " lrwr timeline --json"
)
RELATIONS_EPILOG = (
    "Examples: lrwr relations · lrwr relations Nell · lrwr relations --as-of ch4"
)
QUOTES_EPILOG = "Examples: lrwr quotes · lrwr quotes --speaker Nell --as-of ch4 · lrwr quotes --json"
RECAP_EPILOG = (
    "Examples: lrwr recap · lrwr recap --as-of ch4 · lrwr recap --as-of ch4:s2 --json"
)

TimelineCharacterOption = Annotated[
    str, typer.Option("--character", metavar="NAME", help="Only with this character.")
]
SpeakerOption = Annotated[
    str,
    typer.Option("--speaker", metavar="NAME", help="Only what this character says."),
]

app = typer.Typer()


@app.command("world", epilog=WORLD_EPILOG)
def world_command(
    context: typer.Context,
    name: NameArgument = None,
    as_of: AsOfOption = None,
    as_json: JsonOption = False,
) -> None:
    """List the things of the world, or show one: every claim with its place."""
    bible, output, settings = open_story_bible(context, as_of)
    if element_name := join_name(name):
        element = find_world_element(element_name, bible)
        if as_json:
            output.json(bible_json.element_as_json(element))
            return
        with output.paged():
            story.show_element(element, output)
        return
    if as_json:
        output.json(
            [bible_json.element_as_json(world_element) for world_element in bible.world]
        )
        return
    if not bible.world:
        print_nothing_known(
            output,
            "No place or thing is known",
            as_of,
            explain_model_setup(bible, settings),
        )
    else:
        with output.paged():
            story.list_world(bible, output)
    print_not_evaluated(output, bible, "Technology, factions, artifacts, rules")


@app.command("timeline", epilog=TIMELINE_EPILOG)
def timeline_command(
    context: typer.Context,
    character: TimelineCharacterOption = "",
    as_of: AsOfOption = None,
    as_json: JsonOption = False,
) -> None:
    """Tell what happens, in story order, each line with its place."""
    bible, output, settings = open_story_bible(context, as_of)
    moments = bible.timeline
    if character:
        name = find_profile_by_name(character, bible).name
        moments = tuple(moment for moment in moments if name in moment.characters)
    if as_json:
        output.json([bible_json.moment_as_json(moment) for moment in moments])
        return
    if not moments:
        print_nothing_known(
            output,
            "Nothing is known to happen",
            as_of,
            explain_model_setup(bible, settings),
        )
    else:
        with output.paged():
            story.show_timeline(moments, output)
    print_not_evaluated(output, bible, "What else happens")


@app.command("relations", epilog=RELATIONS_EPILOG)
def relations_command(
    context: typer.Context,
    name: NameArgument = None,
    as_of: AsOfOption = None,
    as_json: JsonOption = False,
) -> None:
    """Tell who is what to whom, as the text has it, each with its place."""
    bible, output, settings = open_story_bible(context, as_of)
    relations = bible.relations
    if character_name := join_name(name):
        profile_name = find_profile_by_name(character_name, bible).name
        relations = tuple(
            relation
            for relation in relations
            if profile_name in (relation.source, relation.target)
        )
    if as_json:
        output.json([bible_json.relation_as_json(relation) for relation in relations])
        return
    if not relations:
        print_nothing_known(
            output, "No relation is known", as_of, explain_model_setup(bible, settings)
        )
    else:
        with output.paged():
            story.show_relations(relations, output)
    print_not_evaluated(output, bible, "Ally or antagonist")


@app.command("quotes", epilog=QUOTES_EPILOG)
def quotes_command(
    context: typer.Context,
    speaker: SpeakerOption = "",
    as_of: AsOfOption = None,
    as_json: JsonOption = False,
) -> None:
    """List what is said, verbatim: who says it, how sure that is, and where."""
    bible, output, settings = open_story_bible(context, as_of)
    quotes = bible.quotes
    if speaker:
        name = find_profile_by_name(speaker, bible).name
        quotes = tuple(quote for quote in quotes if quote.speaker == name)
    if as_json:
        output.json([bible_json.quote_as_json(listed) for listed in quotes])
        return
    if not quotes:
        print_nothing_known(
            output,
            "Nothing is known to be said",
            as_of,
            explain_model_setup(bible, settings),
        )
        return
    with output.paged():
        story.show_quotes(quotes, output)


@app.command("recap", epilog=RECAP_EPILOG)
def recap_command(
    context: typer.Context, as_of: AsOfOption = None, as_json: JsonOption = False
) -> None:
    """Tell the story so far, scene by scene: in short, or in its key sentences."""
    bible, output, settings = open_story_bible(context, as_of)
    if as_json:
        output.json([bible_json.scene_as_json(scene) for scene in bible.scenes])
        return
    if not bible.scenes:
        print_nothing_known(
            output, "There is no scene", as_of, explain_model_setup(bible, settings)
        )
        return
    with output.paged():
        story.show_recap(bible.scenes, output)
    print_not_evaluated(output, bible, "Recaps")
