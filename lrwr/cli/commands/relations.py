"""`lrwr relations`: who is what to whom."""

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
from lrwr.core.bible.service import find_profile_by_name

EPILOG = "Examples: lrwr relations · lrwr relations Nell · lrwr relations --as-of ch4"


app = typer.Typer()


@app.command("relations", epilog=EPILOG)
def relations_command(
    context: typer.Context,
    name: NameArgument = None,
    as_of: AsOfOption = None,
    as_json: JsonOption = False,
) -> None:
    """Tell who is what to whom, as the text has it, each with its place."""
    bible, output, settings = open_story_bible(context, as_of)
    found = bible.relations
    if wanted := join_name(name):
        who = find_profile_by_name(wanted, bible).name
        found = tuple(one for one in found if who in (one.source, one.target))
    if as_json:
        output.json([bible_json.relation_as_json(one) for one in found])
        return
    if not found:
        print_nothing_known(
            output, "No relation is known", as_of, explain_model_setup(bible, settings)
        )
    else:
        with output.paged():
            story.show_relations(found, output)
    print_not_evaluated(output, bible, "Ally or antagonist")
