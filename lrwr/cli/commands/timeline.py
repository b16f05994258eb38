"""`lrwr timeline`: what happens, in the order in which it is told."""

from typing import Annotated

import typer

from lrwr.cli.presenters import bible_json, story
from lrwr.cli.presenters.story import (
    explain_model_setup,
    open_story_bible,
    print_not_evaluated,
    print_nothing_known,
)
from lrwr.cli.runtime.options import AsOfOption, JsonOption
from lrwr.core.bible.service import find_profile_by_name

EPILOG = (
    "Examples: lrwr timeline · lrwr timeline --character Nell --as-of ch4 ·"
    " lrwr timeline --json"
)

TimelineCharacterOption = Annotated[
    str, typer.Option("--character", metavar="NAME", help="Only with this character.")
]


app = typer.Typer()


@app.command("timeline", epilog=EPILOG)
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
        moments = tuple(one for one in moments if name in one.characters)
    if as_json:
        output.json([bible_json.moment_as_json(one) for one in moments])
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
