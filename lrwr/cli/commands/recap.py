"""`lrwr recap`: the story so far."""

import typer

from lrwr.cli.runtime.options import AsOf, Json

EPILOG = (
    "Examples: lrwr recap · lrwr recap --as-of ch4 · lrwr recap --as-of ch4:s2 --json"
)


def recap(context: typer.Context, as_of: AsOf = None, as_json: Json = False) -> None:
    """Tell the story so far, scene by scene: in short, or in its key sentences."""
    from lrwr.cli.presenters import bible_json, story
    from lrwr.cli.presenters.story import (
        how_to_read,
        say_nothing,
        say_who_reads,
        story_bible,
    )

    bible, output, settings = story_bible(context, as_of)
    if as_json:
        output.json([bible_json.scene(one) for one in bible.scenes])
        return
    if not bible.scenes:
        say_nothing(output, "There is no scene", as_of, how_to_read(bible, settings))
        return
    with output.paged():
        story.show_recap(bible.scenes, output)
    say_who_reads(output, bible, "Recaps")
