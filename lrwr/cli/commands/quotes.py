"""`lrwr quotes`: what is said, and by whom."""

from typing import Annotated

import typer

from lrwr.cli.runtime.options import AsOf, Json

EPILOG = "Examples: lrwr quotes · lrwr quotes --speaker Nell --as-of ch4 · lrwr quotes --json"

Speaker = Annotated[
    str,
    typer.Option("--speaker", metavar="NAME", help="Only what this character says."),
]


def quotes(
    context: typer.Context,
    speaker: Speaker = "",
    as_of: AsOf = None,
    as_json: Json = False,
) -> None:
    """List what is said, verbatim: who says it, how sure that is, and where."""
    from lrwr.cli.presenters import bible_json, story
    from lrwr.cli.presenters.story import how_to_read, say_nothing, story_bible
    from lrwr.core.bible.service import character_called

    bible, output, settings = story_bible(context, as_of)
    found = bible.quotes
    if speaker:
        name = character_called(speaker, bible).name
        found = tuple(quote for quote in found if quote.speaker == name)
    if as_json:
        output.json([bible_json.quote(one) for one in found])
        return
    if not found:
        say_nothing(
            output, "Nothing is known to be said", as_of, how_to_read(bible, settings)
        )
        return
    with output.paged():
        story.show_quotes(found, output)
