"""`lrwr init`: a settings file that explains itself."""

from pathlib import Path
from typing import Annotated

import typer

from lrwr.cli.runtime.output import Output
from lrwr.core.model.errors import LrwrError, NotFound, SettingsProblem
from lrwr.core.settings.library import (
    SETTINGS_FILE_NAME,
    STATE_FOLDER_NAME,
    describe_unsafe_folder,
)
from lrwr.core.settings.loader import render_example_toml

app = typer.Typer()


@app.command("init")
def init_command(
    context: typer.Context,
    folder: Annotated[
        Path,
        typer.Argument(
            metavar="[FOLDER]", help="The folder that holds your manuscript."
        ),
    ] = Path(),
    force: Annotated[
        bool,
        typer.Option(
            "--force", help="Replace the lrwr.toml there; the old one is kept."
        ),
    ] = False,
) -> None:
    """Write an lrwr.toml that explains every setting and changes none."""
    flags = context.find_object(dict) or {}
    output = Output(color=flags.get("output.color") or "auto")
    if not folder.is_dir():
        raise NotFound(
            f"There is no folder {folder}", hint="Make it first, or name another one."
        )
    file = folder.resolve() / SETTINGS_FILE_NAME
    _write(file, output, force=force)
    output.answer(str(file))
    _say_what_is_next(file, output)


def _write(file: Path, output: Output, *, force: bool) -> None:
    try:
        if force and file.exists():
            old_file = file.replace(file.with_name(f"{file.name}.old"))
            output.story(f"The old file is now {old_file}")
        with file.open("x", encoding="utf-8", newline="\n") as new_file:
            new_file.write(render_example_toml())
    except FileExistsError as error:
        raise SettingsProblem(
            f"{file} is there already",
            hint="Edit it, or use --force to replace it; the old one is kept.",
        ) from error
    except OSError as error:
        raise LrwrError(
            f"{file} cannot be written: {error.strerror}",
            hint="Check the disk and your rights in that folder.",
        ) from error


def _say_what_is_next(file: Path, output: Output) -> None:
    output.story("Every setting is in there, explained and switched off.")
    if warning := describe_unsafe_folder(file.parent / STATE_FOLDER_NAME):
        output.warn(warning)
    output.story("Next: run `lrwr ingest` with the folder of your manuscript, such as")
    output.story("lrwr ingest ./manuscript", indent=4)
