"""`lrwr open`: the user's editor at a citation, a mention of a character or an open
question.
"""

from typing import Annotated

import typer

from lrwr.app.container import open_workspace
from lrwr.cli.runtime.editor import open_file_location, print_file_location
from lrwr.cli.runtime.event_loop import run_async
from lrwr.cli.runtime.options import JsonOption
from lrwr.cli.runtime.output import Output, start_session
from lrwr.core.settings.model import Settings
from lrwr.tui.queries.passages import FileLocation
from lrwr.tui.queries.targets import locate_next_mention, locate_target

EPILOG = (
    "Examples: lrwr open chapters/03.md:15 · lrwr open ch4:s2 · lrwr open 2 ·"
    " lrwr open Nell · lrwr open Nell --after chapters/03.md:15 · lrwr open bdfk ·"
    " lrwr open Nell eyes --print"
)

app = typer.Typer()


@app.command("open", epilog=EPILOG)
def open_command(
    context: typer.Context,
    target: Annotated[
        list[str],
        typer.Argument(
            metavar="TARGET",
            help="A location as lrwr prints it; a chapter or scene; the number of a"
            " citation in your last answer; a character; an open question or a"
            " contradiction, by its id or its words; a fact about a character, such as"
            " “Nell hair”.",
        ),
    ],
    after: Annotated[
        str,
        typer.Option(
            "--after",
            metavar="PLACE",
            help="Open the next mention of the character after this location, or from this"
            " chapter on.",
        ),
    ] = "",
    print_only: Annotated[
        bool, typer.Option("--print", help="Print the location; start no editor.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Open your editor at a citation, a mention of a character or an open question.

    The editor is VISUAL, else EDITOR, else nano or micro. A character is opened where
    the text first names it, or next after a location; a contradiction at the passage
    that contradicts. Without a terminal, the location is printed.
    """
    settings, output = start_session(context)
    location = run_async(_locate(settings, output, " ".join(target), after))
    if as_json:
        output.json(
            {
                "file": location.file,
                "line": location.line,
                "counts": "paragraphs" if location.paragraphs else "lines",
                "gone": location.gone,
            }
        )
    elif print_only:
        print_file_location(location, output)
    else:
        run_async(open_file_location(location, output))


async def _locate(
    settings: Settings, output: Output, target: str, after: str
) -> FileLocation:
    async with open_workspace(settings, say=output.info) as workspace:
        workspace.require_library()
        if after:
            return await locate_next_mention(workspace, target, after)
        return await locate_target(workspace, target)
