"""`lrwr gaps`: what the text leaves open, and what the writer says to it."""

from collections.abc import Callable
from typing import Annotated

import typer

from lrwr.app.presenters.story import explain_model_setup
from lrwr.cli.commands.canon import canon_undo_command
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
from lrwr.core.bible.gaps import find_gap_by_id
from lrwr.core.bible.service import find_profile_by_name
from lrwr.core.bible.values import Gap, GapState
from lrwr.core.canon.decision import Decision, GapAnswered, GapDeclined

EPILOG = (
    "Examples: lrwr gaps · lrwr gaps Nell · lrwr gaps --all · lrwr gaps answer bdfk"
    ' "grey, like the marsh" · lrwr gaps dismiss bdfk · lrwr gaps undo'
)
ANSWER_EPILOG = 'Example: lrwr gaps answer bdfk "grey, like the marsh"'
DISMISS_EPILOG = "Example: lrwr gaps dismiss bdfk. To reopen it: lrwr gaps undo"

IdArgument = Annotated[
    str, typer.Argument(metavar="ID", help="As `lrwr gaps` shows it.")
]


app = typer.Typer(
    name="gaps", cls=NamedGroup, invoke_without_command=True, epilog=EPILOG
)


@app.callback()
def gaps_command(
    context: typer.Context,
    name: NameArgument = None,
    every: Annotated[
        bool, typer.Option("--all", help="Show answered and closed ones, too.")
    ] = False,
    as_of: AsOfOption = None,
    as_json: JsonOption = False,
) -> None:
    """List what the text leaves open; answer it, or leave it so on purpose."""
    if context.invoked_subcommand is not None:
        return

    bible, output, settings = open_story_bible(context, as_of)
    gaps = bible.gaps
    if character_name := join_name(name):
        profile_name = find_profile_by_name(character_name, bible).name
        gaps = tuple(gap for gap in gaps if gap.about == profile_name)
    displayed = [gap for gap in gaps if every or gap.state is GapState.OPEN]
    if as_json:
        output.json(
            [
                bible_json.gap_as_json(listed_gap)
                for listed_gap in (gaps if every else displayed)
            ]
        )
        return
    with output.paged():
        story.show_gaps(displayed, output)
    if not gaps:
        print_nothing_known(
            output, "No gap is known", as_of, explain_model_setup(bible, settings)
        )
    elif len(displayed) < len(gaps):
        output.story(
            f"{len(gaps) - len(displayed)} more are answered or closed: --all."
        )
    print_not_evaluated(output, bible, "Gaps that you did not mark yourself")


@app.command("answer", epilog=ANSWER_EPILOG)
def gaps_answer_command(
    context: typer.Context,
    id_: IdArgument,
    text: Annotated[
        list[str], typer.Argument(metavar="TEXT", help="Your answer, one line.")
    ],
) -> None:
    """Define what the text leaves open. Your answer counts as canon from then on."""
    answer = " ".join(text)
    _decide(
        context, id_, lambda g: GapAnswered(g.asked.about, g.asked.attribute, answer)
    )


@app.command("dismiss", epilog=DISMISS_EPILOG)
def gaps_dismiss_command(context: typer.Context, id_: IdArgument) -> None:
    """Leave it open on purpose; it is not asked again."""
    _decide(context, id_, lambda g: GapDeclined(g.asked.about, g.asked.attribute))


def _decide(
    context: typer.Context, id_: str, choose: Callable[[Gap], Decision]
) -> None:
    bible, output, settings = open_story_bible(context, None)
    gap = find_gap_by_id(id_, bible.gaps)
    run_async(make_decision(settings, output, lambda _: choose(gap)))


app.command("undo")(canon_undo_command)
