"""`lrwr backup` and `lrwr restore`: a library as one file."""

import time
from pathlib import Path
from typing import Annotated

import typer

from lrwr.app.maintenance.backup import DECISIONS, backup_library
from lrwr.app.maintenance.check_result import format_size
from lrwr.app.maintenance.repair import recover_from_backups
from lrwr.app.maintenance.restore import restore_library
from lrwr.cli.runtime.options import JsonOption
from lrwr.cli.runtime.output import Output, start_session
from lrwr.core.canon.file import CANON_HISTORY_FILE_NAME
from lrwr.core.model.errors import LrwrError, SettingsProblem
from lrwr.core.settings.library import (
    Library,
    list_manuscript_folders,
    resolve_library,
    resolve_targets,
)

BACKUP_EXAMPLES = "Examples: lrwr backup · lrwr backup ~/safe/my-novel.zip"
RESTORE_EXAMPLES = (
    "Examples: lrwr restore lrwr-backup-2026-11-22.zip · lrwr restore FILE --force ·"
    " lrwr restore FILE --manuscript ~/novel/chapters ·"
    " lrwr restore --latest"
)

LatestOption = Annotated[
    bool,
    typer.Option(
        "--latest",
        help="Add the threads, model replies and send log entries of the automatic"
        " backups that the library lacks.",
    ),
]
ForceOption = Annotated[
    bool,
    typer.Option(
        "--force", help="Replace an existing library; it is renamed, not deleted."
    ),
]
ManuscriptOption = Annotated[
    list[Path] | None,
    typer.Option(
        "--manuscript",
        metavar="FOLDER",
        help="Where the manuscript is now, if not where it was; can be repeated.",
    ),
]


app = typer.Typer()


@app.command("backup", epilog=BACKUP_EXAMPLES)
def backup_command(
    context: typer.Context,
    file: Annotated[
        Path | None,
        typer.Argument(
            metavar="[FILE]",
            help="The file to write. If left out: lrwr-backup-DATE.zip in the library's"
            " folder, or among your user data if that folder is manuscript.",
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Save the library, your settings and your decisions to one file.

    It contains the text of your manuscript, but neither its files nor API keys. Other
    lrwr commands can run meanwhile.
    """
    settings, output = start_session(context)
    library = resolve_library(settings)
    try:
        manuscript = list_manuscript_folders(settings, library)
    except LrwrError:  # unknown: the backup must be possible, outside of the library
        manuscript = () if file else (library.root,)
    report = backup_library(library, file, now=time.time(), manuscript=manuscript)
    if as_json:
        output.json(report)
        return
    output.answer(str(report.file))
    file_names = ", ".join(report.manifest.files)
    output.info(f"{format_size(report.size)}: {file_names}.")
    output.info("It contains the text of your manuscript. Store it in a safe place.")


@app.command("restore", epilog=RESTORE_EXAMPLES)
def restore_command(
    context: typer.Context,
    file: Annotated[
        Path | None,
        typer.Argument(metavar="[FILE]", help="A file written by `lrwr backup`."),
    ] = None,
    latest: LatestOption = False,
    force: ForceOption = False,
    manuscript: ManuscriptOption = None,
    as_json: JsonOption = False,
) -> None:
    """Restore a library from a backup file, or threads from the automatic backups.

    Every file in a backup is checked first. --latest only overwrites damaged threads.
    """
    settings, output = start_session(context)
    library = resolve_library(settings)
    if latest:
        has_other = bool(file or force or manuscript)
        _restore_latest(library, output, is_alone=not has_other, as_json=as_json)
        return
    if file is None:
        raise SettingsProblem(
            "No backup is named",
            hint="Run `lrwr restore FILE` with a file written by `lrwr backup`, or"
            " `lrwr restore --latest`.",
        )
    folders = resolve_targets(manuscript) if manuscript else ()
    report = restore_library(
        library, file, force=force, now=time.time(), manuscript=folders
    )
    if as_json:
        output.json(report)
        return
    for step in report.steps:
        output.answer(step)
    place = "" if folders else "put your manuscript in place and "
    output.info(
        f"Next, {place}run `lrwr ingest` to process what changed since the backup."
    )
    history = library.state_dir / CANON_HISTORY_FILE_NAME
    if DECISIONS in report.manifest.files and not history.exists():
        output.info("`lrwr canon undo` does not undo decisions of the backup.")


def _restore_latest(
    library: Library, output: Output, *, is_alone: bool, as_json: bool
) -> None:
    if not is_alone:
        raise SettingsProblem(
            "`--latest` cannot be combined with FILE, `--force` or `--manuscript`",
            hint="Run `lrwr restore --latest` alone.",
        )
    report = recover_from_backups(library, now=time.time())
    if as_json:
        output.json(report)
        return
    for step in report.steps:
        output.answer(step)
    if report.remedy:
        output.info(report.remedy)
