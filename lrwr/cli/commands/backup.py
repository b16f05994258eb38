"""`lrwr backup` and `lrwr restore`: all that a library knows, in one file."""

import time
from pathlib import Path
from typing import Annotated

import typer

from lrwr.app.maintenance.backup import backup_library
from lrwr.app.maintenance.check_result import format_size
from lrwr.app.maintenance.restore import restore_library
from lrwr.cli.runtime.session import start_session
from lrwr.core.settings.library import resolve_library

BACKUP_EXAMPLES = "Examples: lrwr backup · lrwr backup ~/safe/my-novel.zip"
RESTORE_EXAMPLES = (
    "Examples: lrwr restore lrwr-backup-2026-11-22.zip · lrwr restore FILE --force"
)

BackupJsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]


app = typer.Typer()


@app.command("backup", epilog=BACKUP_EXAMPLES)
def backup_command(
    context: typer.Context,
    file: Annotated[
        Path | None,
        typer.Argument(
            metavar="[FILE]",
            help="Where to write; lrwr-backup-DATE.zip in this folder if left out.",
        ),
    ] = None,
    as_json: BackupJsonOption = False,
) -> None:
    """Write what lrwr knows, your settings and your decisions into one file.

    Your manuscript is not in it as files, and no key ever is. lrwr may work meanwhile.
    """
    settings, output = start_session(context)
    report = backup_library(resolve_library(settings), file, now=time.time())
    if as_json:
        output.json(report)
        return
    output.answer(str(report.file))
    file_names = ", ".join(report.manifest.files)
    output.story(f"{format_size(report.size)}: {file_names}.")
    output.story("It holds the text of your manuscript: keep it as you keep that.")


@app.command("restore", epilog=RESTORE_EXAMPLES)
def restore_command(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(help="A file that `lrwr backup` wrote.")],
    force: Annotated[
        bool,
        typer.Option("--force", help="Replace what is here; the old one is kept."),
    ] = False,
    as_json: BackupJsonOption = False,
) -> None:
    """Bring a library back from a backup, after checking every file in it."""
    settings, output = start_session(context)
    library = resolve_library(settings)
    report = restore_library(library, file, force=force, now=time.time())
    if as_json:
        output.json(report)
        return
    for step in report.steps:
        output.answer(step)
    output.story(
        "When your manuscript is in its place, run `lrwr ingest` to read what was"
        " written since."
    )
