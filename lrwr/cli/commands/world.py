"""`lrwr world`: places, things, factions and rules of the story."""

from difflib import get_close_matches

import typer

from lrwr.cli.presenters import bible_json, story
from lrwr.cli.presenters.story import (
    explain_model_setup,
    join_name,
    open_story_bible,
    print_not_evaluated,
    print_nothing_known,
)
from lrwr.cli.runtime.options import AsOfOption, JsonOption, NameArgument
from lrwr.core.bible.characters import normalize_character_name
from lrwr.core.bible.values import Bible, WorldElement
from lrwr.core.model.errors import NotFound

EPILOG = (
    'Examples: lrwr world · lrwr world "Half House" · lrwr world --as-of ch3 --json'
)


app = typer.Typer()


@app.command("world", epilog=EPILOG)
def world_command(
    context: typer.Context,
    name: NameArgument = None,
    as_of: AsOfOption = None,
    as_json: JsonOption = False,
) -> None:
    """List the things of the world, or show one: every claim with its place."""
    bible, output, settings = open_story_bible(context, as_of)
    if wanted := join_name(name):
        element = find_world_element(wanted, bible)
        if as_json:
            output.json(bible_json.element_as_json(element))
            return
        with output.paged():
            story.show_element(element, output)
        return
    if as_json:
        output.json([bible_json.element_as_json(one) for one in bible.world])
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


def find_world_element(name: str, bible: Bible) -> WorldElement:
    """Return the one thing of the world that the writer calls so.

    Raises:
        NotFound: Nothing is called so, or several things are; the hint offers some.
    """
    key, known = (
        normalize_character_name(name),
        {normalize_character_name(one.name): one for one in bible.world},
    )
    fits = [known[key]] if key in known else []
    words = set(key.split())
    fits = fits or [
        one for k, one in known.items() if words and words <= set(k.split())
    ]
    if len(fits) == 1:
        return fits[0]
    near = [one.name for one in fits[:4]] or get_close_matches(
        name, [one.name for one in bible.world], n=2, cutoff=0.5
    )
    raise NotFound(
        f"{name} may be several things" if fits else f"Nothing is called {name}",
        hint=f"Did you mean {' or '.join(near)}?"
        if near
        else "`lrwr world` lists everything.",
    )
