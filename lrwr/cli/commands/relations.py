"""`lrwr relations`: who is what to whom."""

import typer

from lrwr.cli.runtime.options import AsOf, Json, Words

EPILOG = "Examples: lrwr relations · lrwr relations Nell · lrwr relations --as-of ch4"


def relations(
    context: typer.Context,
    name: Words = None,
    as_of: AsOf = None,
    as_json: Json = False,
) -> None:
    """Tell who is what to whom, as the text has it, each with its place."""
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
    found = bible.relations
    if wanted := one_name(name):
        who = character_called(wanted, bible).name
        found = tuple(one for one in found if who in (one.source, one.target))
    if as_json:
        output.json([bible_json.relation(one) for one in found])
        return
    if not found:
        say_nothing(output, "No relation is known", as_of, how_to_read(bible, settings))
    else:
        with output.paged():
            story.show_relations(found, output)
    say_who_reads(output, bible, "Ally or antagonist")
