"""`lrwr timeline`: what happens, in the order in which it is told."""

from typing import Annotated

import typer

from lrwr.cli.runtime.options import AsOf, Json

EPILOG = (
    "Examples: lrwr timeline · lrwr timeline --character Nell --as-of ch4 ·"
    " lrwr timeline --json"
)

Character = Annotated[
    str, typer.Option("--character", metavar="NAME", help="Only with this character.")
]


def timeline(
    context: typer.Context,
    character: Character = "",
    as_of: AsOf = None,
    as_json: Json = False,
) -> None:
    """Tell what happens, in story order, each line with its place."""
    from lrwr.cli.presenters import bible_json, story
    from lrwr.cli.presenters.story import (
        how_to_read,
        say_nothing,
        say_who_reads,
        story_bible,
    )
    from lrwr.core.bible.service import character_called

    bible, output, settings = story_bible(context, as_of)
    moments = bible.timeline
    if character:
        name = character_called(character, bible).name
        moments = tuple(one for one in moments if name in one.characters)
    if as_json:
        output.json([bible_json.moment(one) for one in moments])
        return
    if not moments:
        say_nothing(
            output, "Nothing is known to happen", as_of, how_to_read(bible, settings)
        )
    else:
        with output.paged():
            story.show_timeline(moments, output)
    say_who_reads(output, bible, "What else happens")
