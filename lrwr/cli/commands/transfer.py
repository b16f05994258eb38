"""`lrwr push` and `lrwr pull`: a library between this machine and a project."""

from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

import typer

from lrwr.app.container import open_workspace
from lrwr.app.transfer.library import (
    LibraryPullResult,
    LibraryPushResult,
    open_transfer,
)
from lrwr.cli.presenters.transfer import (
    pull_result_as_json,
    push_result_as_json,
    show_pull_result,
    show_push_result,
)
from lrwr.cli.runtime.async_runner import run_async
from lrwr.cli.runtime.options import JsonOption
from lrwr.cli.runtime.output import AdvanceProgress, Output
from lrwr.cli.runtime.services import prompt_for_consent
from lrwr.cli.runtime.session import start_session
from lrwr.core.model.errors import ExitCode
from lrwr.core.settings.consent import HOSTED_SERVICES
from lrwr.core.settings.model import Settings

PUSH_EPILOG = (
    "Examples: lrwr push · lrwr push --name my-novel · lrwr push --no-files --json"
)
PULL_EPILOG = "Examples: lrwr pull · lrwr pull my-novel · lrwr pull my-novel --into ."

FilesOption = Annotated[
    bool | None,
    typer.Option(
        "--files/--no-files",
        help="The manuscript's files go along; as `records.files` says if left out.",
    ),
]


app = typer.Typer()


@app.command("push", epilog=PUSH_EPILOG)
def push_command(
    context: typer.Context,
    name: Annotated[
        str, typer.Option("--name", metavar="NAME", help="What it is called there.")
    ] = "",
    new: Annotated[
        bool, typer.Option("--new", help="Begin a library there, besides any other.")
    ] = False,
    over: Annotated[
        bool,
        typer.Option("--over", help="Also over what others have changed there."),
    ] = False,
    files: FilesOption = None,
    as_json: JsonOption = False,
) -> None:
    """Take this library to your Supabase project: what is not there yet.

    Stopped in the middle, it goes on the next time. Nothing is changed here.
    """
    settings, output = start_session(context)
    files = settings.records.files if files is None else files
    result = run_async(
        _push(
            settings,
            output,
            name,
            new=new,
            overwrite=over,
            files=files,
            as_json=as_json,
        )
    )
    if as_json:
        output.json(push_result_as_json(result))
    else:
        show_push_result(result, settings, output)


@app.command("pull", epilog=PULL_EPILOG)
def pull_command(
    context: typer.Context,
    name: Annotated[
        str, typer.Argument(metavar="[NAME]", help="Which library, if you have many.")
    ] = "",
    into: Annotated[
        Path | None,
        typer.Option(
            "--into",
            metavar="FOLDER",
            help="Also write the files there, none over another.",
        ),
    ] = None,
    files: FilesOption = None,
    as_json: JsonOption = False,
) -> None:
    """Bring a library here from your Supabase project: what is not here yet.

    Stopped in the middle, it goes on the next time. Nothing is changed there, and
    nothing in a manuscript.
    """
    settings, output = start_session(context)
    files = settings.records.files if files is None else files
    result = run_async(
        _pull(settings, output, name, into=into, files=files, as_json=as_json)
    )
    if as_json:
        output.json(pull_result_as_json(result))
    else:
        show_pull_result(result, settings, output)
    if result.files.changed or result.files.refused:
        raise typer.Exit(int(ExitCode.PARTIAL))


async def _push(
    settings: Settings,
    output: Output,
    name: str,
    *,
    new: bool,
    overwrite: bool,
    files: bool,
    as_json: bool,
) -> LibraryPushResult:
    async with open_workspace(settings, say=output.story) as workspace:
        with ExitStack() as stack:
            prompt_for_consent(workspace, output, "supabase", as_json=as_json)
            async with open_transfer(workspace, _Bars(output, stack).tell) as transfer:
                await transfer.begin()
                output.story(
                    f"To {transfer.host} goes {HOSTED_SERVICES['supabase'].sent}."
                )
                return await transfer.push(name, new=new, over=overwrite, files=files)


async def _pull(
    settings: Settings,
    output: Output,
    name: str,
    *,
    into: Path | None,
    files: bool,
    as_json: bool,
) -> LibraryPullResult:
    async with open_workspace(settings, say=output.story) as workspace:
        with ExitStack() as stack:
            prompt_for_consent(workspace, output, "supabase", as_json=as_json)
            async with open_transfer(workspace, _Bars(output, stack).tell) as transfer:
                await transfer.begin()
                return await transfer.pull(name, into=into, files=files)


class _Bars:
    """One bar after the other, each for a part of the work."""

    def __init__(self, output: Output, stack: ExitStack) -> None:
        self._output = output
        self._stack = stack
        self._part, self._done = "", 0
        self._advance: AdvanceProgress | None = None

    def tell(self, part: str, done_steps: int, total: int) -> None:
        """Show how far a part is, and of how much; 0: nobody knows."""
        if part != self._part or self._advance is None:
            self._stack.close()
            self._part, self._done = part, 0
            bar = self._output.progress(part.capitalize(), total or None)
            self._advance = self._stack.enter_context(bar)
        self._advance(done_steps - self._done, total or None)
        self._done = done_steps
