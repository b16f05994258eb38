"""`lrwr draft accept`, `reject`, `undo`, `show` and `ledger`: what becomes of a draft."""

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer

from lrwr.app.container import open_workspace
from lrwr.app.draft_check import CheckedScene, check_scene, find_draft_subject
from lrwr.app.draft_decisions import Draft, DraftDesk, LedgerRow
from lrwr.app.drafts import (
    describe_misplaced_file,
    describe_new_numbers,
    describe_shared_chapter,
    open_draft_folder,
)
from lrwr.app.presenters.drafts import (
    describe_finding_counts,
    ledger_row_as_json,
    render_ledger,
)
from lrwr.cli.commands.draft_proposals import ProposalArgument
from lrwr.cli.runtime.event_loop import run_async, run_with_cleanup
from lrwr.cli.runtime.options import JsonOption
from lrwr.cli.runtime.output import Output, start_session
from lrwr.cli.runtime.services import (
    create_progress_listener,
)
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.drafts import DraftEntry
from lrwr.core.model.errors import ExitCode, NotFound
from lrwr.core.settings.model import Settings

ACCEPT_EPILOG = (
    "Examples: lrwr draft accept ch11-s1 --to chapters/11.md · lrwr draft accept"
    " ch11-s1 2 · lrwr draft accept Perdita --to notes/characters/Perdita.md. To undo"
    " it: lrwr draft undo"
)
REJECT_EPILOG = "Examples: lrwr draft reject ch11-s1 · lrwr draft reject ch11-s1 2"
UNDO_EPILOG = "Examples: lrwr draft undo · lrwr draft undo ch11-s1"
SHOW_EPILOG = "Examples: lrwr draft show ch11-s1 · lrwr draft show ch11-s1 2 --diff"
LEDGER_EPILOG = "Examples: lrwr draft ledger · lrwr draft ledger --json"

_LONGEST_ANSWER = 20


DraftArgument = Annotated[
    str,
    typer.Argument(
        metavar="SCENE|SHEET", help="A scene of the board, or a sheet's name."
    ),
]


def draft_accept_command(
    context: typer.Context,
    scene: DraftArgument,
    number: ProposalArgument = None,
    to: Annotated[
        Path | None,
        typer.Option(
            "--to", metavar="FILE", help="The new file; that of the card if left out."
        ),
    ] = None,
    yes: Annotated[
        bool, typer.Option("--yes", help="Accept it without a check or a question.")
    ] = False,
    as_json: JsonOption = False,  # noqa: ARG001 - `start_session` reads it
) -> None:
    """Make a draft a new file of your manuscript.

    This is the only command that writes into the manuscript's folder: it creates a file
    that does not exist yet, whole or not at all, and never changes one. The draft is
    checked before; if there are findings, you are asked, and without a "y" on stdin
    nothing is created and the exit code is 9. Run `lrwr ingest` afterwards.
    """
    settings, output = start_session(context)
    if not yes:
        with TemporaryDirectory(
            prefix="lrwr-draft-", ignore_cleanup_errors=True
        ) as name:
            checking = _check_before(settings, output, scene, number, to, Path(name))
            checked = run_with_cleanup(checking)
        _confirm_findings(checked, output)
    entry = run_async(_accept(settings, output, scene, number, to))
    output.info(f"{entry.file} created. Run `lrwr ingest` to read it.")
    if output.as_json:
        output.json(ledger_row_as_json(LedgerRow(entry, 1.0)))


def draft_reject_command(
    context: typer.Context, scene: DraftArgument, number: ProposalArgument = None
) -> None:
    """Record that a draft is rejected; commands then use an earlier one.

    The draft's file stays in the folder of drafts.
    """
    settings, output = start_session(context)
    entry = run_async(_reject(settings, output, scene, number))
    output.info(f"{entry.key} is rejected.")


def draft_undo_command(
    context: typer.Context,
    scene: Annotated[
        str,
        typer.Argument(
            metavar="[SCENE]", help="The scene; the last accepted if left out."
        ),
    ] = "",
) -> None:
    """Remove the file of an accepted draft, unless you changed it; the draft stays."""
    settings, output = start_session(context)
    entry = run_async(_undo(settings, output, scene))
    output.info(f"{entry.file} removed. Run `lrwr ingest` to update the library.")


def draft_show_command(
    context: typer.Context,
    scene: DraftArgument,
    number: ProposalArgument = None,
    diff: Annotated[
        bool,
        typer.Option(
            "--diff", help="Compare with the draft before, or with the accepted file."
        ),
    ] = False,
    as_json: JsonOption = False,  # noqa: ARG001 - `start_session` reads it
) -> None:
    """Print a draft, or what differs from the one before."""
    settings, output = start_session(context)
    draft, lines = run_async(_show(settings, output, scene, number, diff=diff))
    if output.as_json:
        output.json({"file": draft.file.path, "lines": lines})
        return
    with output.paged():
        for line in lines:
            output.answer(line)


def draft_ledger_command(
    context: typer.Context,
    as_json: JsonOption = False,  # noqa: ARG001 - `start_session` reads it
) -> None:
    """List what became of each draft, who wrote it, and how much of it still stands.

    Drafts of scenes about which you have not decided are at the end.
    """
    settings, output = start_session(context)
    rows = run_async(_list_ledger(settings, output))
    if output.as_json:
        output.json([ledger_row_as_json(row) for row in rows])
        return
    if not rows:
        output.info("There are no drafts.")
        return
    with output.paged():
        output.show(render_ledger(rows))


@asynccontextmanager
async def _open_desk(settings: Settings, output: Output) -> AsyncIterator[DraftDesk]:
    async with open_workspace(settings, say=output.info) as workspace:
        yield DraftDesk(workspace, open_draft_folder(workspace))


async def _check_before(
    settings: Settings,
    output: Output,
    scene: str,
    number: int | None,
    to: Path | None,
    place: Path,
) -> CheckedScene | None:
    """Check a draft that is to be accepted; None for a sheet, for one that is accepted
    already, and if there is no story to check it against.
    """
    async with open_workspace(settings, say=output.info) as workspace:
        folder = open_draft_folder(workspace)
        desk = DraftDesk(workspace, folder)
        draft = await desk.find(scene, number)
        if await desk.find_accepted(draft, to) or draft.card is None:
            return None
        if not workspace.is_ingested:
            return None
        own = int(draft.key.rpartition("/")[2])
        try:
            subject = await find_draft_subject(
                workspace, folder, draft.card.id, own, to
            )
            with output.progress("Checking", None) as advance:
                emit = create_progress_listener(advance, output)
                return await check_scene(workspace, subject, place, emit)
        except NotFound as error:
            output.warn(f"It is not checked. {error.full_text}")
            return None


def _confirm_findings(checked: CheckedScene | None, output: Output) -> None:
    """Ask whether to accept a draft with findings.

    Raises:
        typer.Exit: The answer is not yes.
    """
    if checked is None:
        return
    for finding in checked.report.findings:
        if not finding.needs_author:
            output.info(f"{finding.kind}: {finding.text}")
    if not checked.needs_author:
        return
    findings = describe_finding_counts(checked)
    output.info(f"{checked.name} has {findings}; `lrwr draft check` shows them.")
    output.info("Accept it with them? [y/N]")
    if sys.stdin.readline(_LONGEST_ANSWER).strip().casefold() not in ("y", "yes"):
        output.info("Nothing was accepted. `--yes` accepts it as it is.")
        raise typer.Exit(int(ExitCode.CONTRADICTIONS))


async def _accept(
    settings: Settings, output: Output, scene: str, number: int | None, to: Path | None
) -> DraftEntry:
    async with open_workspace(settings, say=output.info) as workspace:
        folder = open_draft_folder(workspace)
        desk = DraftDesk(workspace, folder)
        draft = await desk.find(scene, number)
        entry = await desk.accept(draft, to)
        file = DocumentId(entry.file)
        remark = await describe_misplaced_file(workspace, folder, draft, file)
        numbers = await describe_new_numbers(workspace, draft, file)
        shared = describe_shared_chapter(folder, draft)
    for sentence in filter(None, (remark, shared)):
        output.warn(sentence)
    if numbers:
        output.info(numbers)
    return entry


async def _reject(
    settings: Settings, output: Output, scene: str, number: int | None
) -> DraftEntry:
    async with _open_desk(settings, output) as desk:
        return await desk.reject(await desk.find(scene, number))


async def _undo(settings: Settings, output: Output, scene: str) -> DraftEntry:
    async with _open_desk(settings, output) as desk:
        return await desk.undo(scene)


async def _show(
    settings: Settings, output: Output, scene: str, number: int | None, *, diff: bool
) -> tuple[Draft, list[str]]:
    async with _open_desk(settings, output) as desk:
        draft = await desk.find(scene, number)
        lines = await desk.compare(draft) if diff else draft.file.text.splitlines()
        return draft, lines


async def _list_ledger(settings: Settings, output: Output) -> list[LedgerRow]:
    async with _open_desk(settings, output) as desk:
        return await desk.list_ledger()
