"""`lrwr recap`: the story so far."""

import typer

from lrwr.cli.presenters import bible_json, story
from lrwr.cli.presenters.story import (
    explain_model_setup,
    open_story_bible,
    print_not_evaluated,
    print_nothing_known,
)
from lrwr.cli.runtime.options import AsOfOption, JsonOption

EPILOG = (
    "Examples: lrwr recap · lrwr recap --as-of ch4 · lrwr recap --as-of ch4:s2 --json"
)


app = typer.Typer()


@app.command("recap", epilog=EPILOG)
def recap_command(
    context: typer.Context, as_of: AsOfOption = None, as_json: JsonOption = False
) -> None:
    """Tell the story so far, scene by scene: in short, or in its key sentences."""
    bible, output, settings = open_story_bible(context, as_of)
    if as_json:
        output.json([bible_json.scene_as_json(one) for one in bible.scenes])
        return
    if not bible.scenes:
        print_nothing_known(
            output, "There is no scene", as_of, explain_model_setup(bible, settings)
        )
        return
    with output.paged():
        story.show_recap(bible.scenes, output)
    print_not_evaluated(output, bible, "Recaps")
