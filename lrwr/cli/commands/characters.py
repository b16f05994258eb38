"""`lrwr characters`: who is in the story, and what the writer decides about it."""

from typing import Annotated

import typer

from lrwr.app.presenters.story import explain_model_setup
from lrwr.cli.commands.canon import (
    canon_ignore_command,
    canon_merge_command,
    canon_rename_command,
    canon_split_command,
    canon_undo_command,
)
from lrwr.cli.presenters import bible_json, story
from lrwr.cli.presenters.canon import make_decision
from lrwr.cli.presenters.story import (
    join_name,
    open_story_bible,
    print_not_evaluated,
    print_nothing_known,
)
from lrwr.cli.runtime.async_runner import run_async
from lrwr.cli.runtime.groups import NamedGroup
from lrwr.cli.runtime.options import AsOfOption, JsonOption, NameArgument
from lrwr.cli.runtime.session import start_session
from lrwr.core.bible.service import find_profile_by_name
from lrwr.core.canon.decision import NameConfirmed

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


app = typer.Typer(
    name="characters", cls=NamedGroup, invoke_without_command=True, epilog=EPILOG
)


@app.callback()
def characters_command(
    context: typer.Context,
    name: NameArgument = None,
    as_of: AsOfOption = None,
    as_json: JsonOption = False,
) -> None:
    """List who is in the story, or show one character: every claim with its place."""
    if context.invoked_subcommand is not None:
        return

    bible, output, settings = open_story_bible(context, as_of)
    if character_name := join_name(name):
        profile = find_profile_by_name(character_name, bible)
        if as_json:
            output.json(bible_json.profile_as_json(profile, bible))
            return
        with output.paged():
            story.show_character(profile, bible, output)
        return
    if as_json:
        output.json(
            [
                bible_json.character_summary_as_json(character)
                for character in bible.characters
            ]
        )
        return
    if not bible.characters:
        print_nothing_known(
            output, "Nobody is known", as_of, explain_model_setup(bible, settings)
        )
        return
    with output.paged():
        story.list_characters(bible, output)
    print_not_evaluated(output, bible, "Traits, values, behaviour, voice")


@app.command("confirm", epilog=CONFIRM_EPILOG)
def characters_confirm_command(
    context: typer.Context,
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="A name as the text has it.")
    ],
) -> None:
    """Say that a name surely names somebody."""
    settings, output = start_session(context)
    run_async(make_decision(settings, output, lambda _: NameConfirmed(name)))


app.command("merge", epilog=MERGE_EPILOG)(canon_merge_command)
app.command("split", epilog=SPLIT_EPILOG)(canon_split_command)
app.command("rename", epilog=RENAME_EPILOG)(canon_rename_command)
app.command("ignore", epilog=IGNORE_EPILOG)(canon_ignore_command)
app.command("undo")(canon_undo_command)
