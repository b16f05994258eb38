"""`lrwr characters`: who is in the story, and what the writer decides about it."""

from typing import Annotated

import typer

from lrwr.cli.runtime.options import AsOf, Json, Words

EPILOG = (
    'Examples: lrwr characters · lrwr characters Nell · lrwr characters "Nell Tallow"'
    ' --as-of ch3 · lrwr characters merge "Nell Tallow" Wren. What is decided is kept'
    " in lrwr.canon.toml; people change with the next `lrwr ingest`."
)
CONFIRM_EPILOG = "Example: lrwr characters confirm OchraMags"
MERGE_EPILOG = (
    'Examples: lrwr characters merge "Nell Tallow" Nell Wren ·'
    ' lrwr characters merge Nell Wren --as "Nell Tallow"'
)
SPLIT_EPILOG = "Example: lrwr characters split Mags Maggie"
RENAME_EPILOG = 'Example: lrwr characters rename "the narrator" "Nell Tallow"'
IGNORE_EPILOG = "Example: lrwr characters ignore Monday"


def characters(
    context: typer.Context,
    name: Words = None,
    as_of: AsOf = None,
    as_json: Json = False,
) -> None:
    """List who is in the story, or show one character: every claim with its place."""
    if context.invoked_subcommand is not None:
        return
    from lrwr.cli.presenters import bible_json, story
    from lrwr.cli.presenters.story import (
        how_to_read,
        one_name,
        say_nothing,
        say_who_reads,
        story_bible,
    )
    from lrwr.core.bible.service import character_called

    bible, output, settings = story_bible(context, as_of)
    if wanted := one_name(name):
        profile = character_called(wanted, bible)
        if as_json:
            output.json(bible_json.profile(profile, bible))
            return
        with output.paged():
            story.show_character(profile, bible, output)
        return
    if as_json:
        output.json([bible_json.in_the_list(one) for one in bible.characters])
        return
    if not bible.characters:
        say_nothing(output, "Nobody is known", as_of, how_to_read(bible, settings))
        return
    with output.paged():
        story.list_characters(bible, output)
    say_who_reads(output, bible, "Traits, values, behaviour, voice")


def confirm(
    context: typer.Context,
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="A name as the text has it.")
    ],
) -> None:
    """Say that a name surely names somebody."""
    from lrwr.cli.presenters.canon import decide
    from lrwr.cli.runtime.async_runner import run_async
    from lrwr.cli.runtime.session import begin
    from lrwr.core.canon.decision import NameConfirmed

    settings, output = begin(context)
    run_async(decide(settings, output, lambda _: NameConfirmed(name)))
