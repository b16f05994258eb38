"""`lrwr quotes`: what is said, and by whom."""

from typing import Annotated

import typer

from lrwr.cli.presenters import bible_json, story
from lrwr.cli.presenters.story import (
    explain_model_setup,
    open_story_bible,
    print_nothing_known,
)
from lrwr.cli.runtime.options import AsOfOption, JsonOption
from lrwr.core.bible.service import find_profile_by_name

EPILOG = "Examples: lrwr quotes · lrwr quotes --speaker Nell --as-of ch4 · lrwr quotes --json"

SpeakerOption = Annotated[
    str,
    typer.Option("--speaker", metavar="NAME", help="Only what this character says."),
]


app = typer.Typer()


@app.command("quotes", epilog=EPILOG)
def quotes_command(
    context: typer.Context,
    speaker: SpeakerOption = "",
    as_of: AsOfOption = None,
    as_json: JsonOption = False,
) -> None:
    """List what is said, verbatim: who says it, how sure that is, and where."""
    bible, output, settings = open_story_bible(context, as_of)
    found = bible.quotes
    if speaker:
        name = find_profile_by_name(speaker, bible).name
        found = tuple(quote for quote in found if quote.speaker == name)
    if as_json:
        output.json([bible_json.quote_as_json(one) for one in found])
        return
    if not found:
        print_nothing_known(
            output,
            "Nothing is known to be said",
            as_of,
            explain_model_setup(bible, settings),
        )
        return
    with output.paged():
        story.show_quotes(found, output)
