"""`lrwr push` and `lrwr pull`: copy a library to and from a Supabase project."""

from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

import typer

from lrwr.app.container import open_workspace
from lrwr.app.presenters.text import format_count
from lrwr.app.transfer.files import FileTransferResult
from lrwr.app.transfer.library import (
    LibraryPullResult,
    LibraryPushResult,
    open_transfer,
)
from lrwr.cli.runtime.event_loop import run_async
from lrwr.cli.runtime.options import JsonOption
from lrwr.cli.runtime.output import AdvanceProgress, Output, start_session
from lrwr.cli.runtime.services import prompt_for_consent
from lrwr.core.model.errors import ExitCode
from lrwr.core.settings.consent import HOSTED_SERVICES
from lrwr.core.settings.model import Settings

_SHOWN = 5
"""Maximum number of file names listed."""

PUSH_EPILOG = (
    "Examples: lrwr push · lrwr push --name my-novel · lrwr push --no-files --json"
)

PULL_EPILOG = "Examples: lrwr pull · lrwr pull my-novel · lrwr pull my-novel --into ."

FilesOption = Annotated[
    bool | None,
    typer.Option(
        "--files/--no-files",
        help="Copy the manuscript's files too; the default is the setting `records.files`.",
    ),
]


class _Bars:
    """Shows one progress bar after the other, one for each part of the work."""

    def __init__(self, output: Output, stack: ExitStack) -> None:
        self._output = output
        self._stack = stack
        self._part, self._done = "", 0
        self._advance: AdvanceProgress | None = None

    def show(self, part: str, done_steps: int, total: int) -> None:
        """Show `done_steps` of `total` steps of `part`; 0 means an unknown total."""
        if part != self._part or self._advance is None:
            self._stack.close()
            self._part, self._done = part, 0
            bar = self._output.progress(part.capitalize(), total or None)
            self._advance = self._stack.enter_context(bar)
        self._advance(done_steps - self._done, total or None)
        self._done = done_steps


app = typer.Typer()


@app.command("push", epilog=PUSH_EPILOG)
def push_command(
    context: typer.Context,
    name: Annotated[
        str,
        typer.Option(
            "--name", metavar="NAME", help="The name of the library in the project."
        ),
    ] = "",
    new: Annotated[
        bool, typer.Option("--new", help="Create a new library in the project.")
    ] = False,
    over: Annotated[
        bool,
        typer.Option(
            "--over", help="Overwrite changes that another machine made in the project."
        ),
    ] = False,
    files: FilesOption = None,
    as_json: JsonOption = False,
) -> None:
    """Upload this library to your Supabase project.

    Only what is missing there is sent. An interrupted upload continues the next time.
    Nothing is changed on this machine.
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
        _show_push_result(result, settings, output)


@app.command("pull", epilog=PULL_EPILOG)
def pull_command(
    context: typer.Context,
    name: Annotated[
        str,
        typer.Argument(
            metavar="[NAME]", help="The library, if the project has several."
        ),
    ] = "",
    into: Annotated[
        Path | None,
        typer.Option(
            "--into",
            metavar="FOLDER",
            help="Also write the manuscript's files to FOLDER; existing files are not"
            " changed.",
        ),
    ] = None,
    files: FilesOption = None,
    as_json: JsonOption = False,
) -> None:
    """Download a library from your Supabase project.

    Only what is missing here is fetched. An interrupted download continues the next
    time. Nothing is changed in the project or in a manuscript.
    """
    settings, output = start_session(context)
    files = settings.records.files if files is None else files
    result = run_async(
        _pull(settings, output, name, into=into, files=files, as_json=as_json)
    )
    if as_json:
        output.json(pull_result_as_json(result))
    else:
        _show_pull_result(result, settings, output)
    if result.files.changed or result.files.refused:
        raise typer.Exit(int(ExitCode.PARTIAL))


def _show_push_result(
    result: LibraryPushResult, settings: Settings, output: Output
) -> None:
    records = result.records
    parts = _list_counts(
        (records.documents, "document"),
        (records.removed, "removed document"),
        (records.conversations, "thread"),
        (records.replies, "model reply", "model replies"),
        (result.files.moved, "file"),
    )
    if parts:
        output.answer(f"Uploaded {result.name} to {result.host}: {parts}.")
    else:
        output.answer(f"{result.name} at {result.host} is already up to date.")
    if result.files.changed:
        output.notice_warning(
            f"Not uploaded, because they changed since the last ingest:"
            f" {_names(result.files.changed)}. Run `lrwr ingest`, then `lrwr push` again."
        )
    if records.apart:
        output.notice_warning(
            "The library changed during the upload. Run `lrwr push` again."
        )
    if settings.records.keeper == "embedded":
        output.info(
            "This is a copy; the library here is independent of it. To use the project as"
            ' the storage, set `keeper = "supabase"` under `[records]` in `lrwr.toml`.'
        )


def _show_pull_result(
    result: LibraryPullResult, settings: Settings, output: Output
) -> None:
    parts = _list_counts(
        (result.records.records, "record"),
        (result.records.conversations, "thread"),
        (result.records.replies, "model reply", "model replies"),
        (result.files.moved, "file"),
    )
    if parts:
        output.answer(f"Downloaded {result.name} from {result.host}: {parts}.")
    else:
        output.answer(f"{result.name} here is already up to date with {result.host}.")
    if result.files.written:
        output.info(f"Wrote {format_count(len(result.files.written), 'file')}.")
    if result.files.changed:
        output.notice_warning(
            f"The project does not have these files: {_names(result.files.changed)}."
            " Run `lrwr push` on the machine that has them."
        )
    if result.files.refused:
        output.notice_warning(
            "Not written, because the paths are outside of the folder or are not"
            f" manuscript files: {_names(result.files.refused)}."
        )
    if settings.records.keeper == "embedded":
        output.info(
            "This is a copy; changes stay here until `lrwr push`. To use the project as"
            ' the storage, set `keeper = "supabase"` under `[records]` in `lrwr.toml`.'
        )


def push_result_as_json(result: LibraryPushResult) -> dict[str, object]:
    """Return the result of an upload as JSON: numbers of items that were sent.

    `begun` says that the library was created in the project, `changed_meanwhile` that
    something was ingested during the upload; the next one sends it. `files` has the
    manuscript files; `left_out` are those that were not sent.
    """
    return {
        "library": result.name,
        "host": result.host,
        "begun": result.begun,
        "documents": result.records.documents,
        "unchanged": result.records.unchanged,
        "removed": result.records.removed,
        "conversations": result.records.conversations,
        "replies": result.records.replies,
        "changed_meanwhile": result.records.apart,
        "files": _files(result.files),
    }


def pull_result_as_json(result: LibraryPullResult) -> dict[str, object]:
    """Return the result of a download as JSON: numbers of items that were received.

    `files` has the manuscript files: `moved` and `there` (stored already) are numbers,
    `left_out` and `written` names.
    """
    return {
        "library": result.name,
        "host": result.host,
        "records": result.records.records,
        "conversations": result.records.conversations,
        "replies": result.records.replies,
        "files": _files(result.files),
    }


def _files(file_result: FileTransferResult) -> dict[str, object]:
    return {
        "moved": file_result.moved,
        "there": file_result.there,
        "left_out": [*file_result.changed, *file_result.refused],
        "written": list(file_result.written),
    }


def _list_counts(*parts: tuple[int, str] | tuple[int, str, str]) -> str:
    return ", ".join(format_count(*part) for part in parts if part[0])


def _names(names: Sequence[str]) -> str:
    hidden_count = len(names) - _SHOWN
    listed = ", ".join(names[:_SHOWN])
    return f"{listed} and {hidden_count} more" if hidden_count > 0 else listed


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
    async with open_workspace(settings, say=output.info) as workspace:
        with ExitStack() as stack:
            prompt_for_consent(
                workspace, output, "supabase", as_json=as_json, by_address=True
            )
            async with open_transfer(workspace, _Bars(output, stack).show) as transfer:
                await transfer.begin()
                output.info(
                    f"Sending to {transfer.host}: {HOSTED_SERVICES['supabase'].sent}."
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
    async with open_workspace(settings, say=output.info) as workspace:
        with ExitStack() as stack:
            prompt_for_consent(
                workspace, output, "supabase", as_json=as_json, by_address=True
            )
            async with open_transfer(workspace, _Bars(output, stack).show) as transfer:
                await transfer.begin()
                return await transfer.pull(name, into=into, files=files)
