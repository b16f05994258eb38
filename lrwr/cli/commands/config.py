"""`lrwr config`: what is set, and where it was set."""

import os
from pathlib import Path
from typing import Annotated

import typer

from lrwr.app.presenters.text import LinePiece, StyledText
from lrwr.cli.commands import keys
from lrwr.cli.runtime.output import Output
from lrwr.cli.runtime.session import start_session
from lrwr.core.settings.library import (
    SETTINGS_FILE_NAME,
    find_library_root,
    get_user_settings_path,
    resolve_library,
)
from lrwr.core.settings.loader import format_toml_value
from lrwr.core.settings.model import Settings, index_settings

ConfigJsonOption = Annotated[
    bool, typer.Option("--json", help="Print JSON instead of a table.")
]


app = typer.Typer(
    name="config", help="See what is set, and where; keep keys.", no_args_is_help=True
)


@app.command("show")
def config_show_command(
    context: typer.Context, as_json: ConfigJsonOption = False
) -> None:
    """Show every setting, its value, and where the value came from."""
    settings, output = start_session(context)
    library = resolve_library(settings)
    if as_json:
        setting_rows = [
            {
                "key": key,
                "value": settings.value(key),
                "source": settings.origin(key).source,
                "where": settings.origin(key).where,
            }
            for key in index_settings()
        ]
        folders = {"root": library.root, "state_dir": library.state_dir}
        output.json({**folders, "settings": setting_rows})
        return
    rows = [_row(key, settings) for key in index_settings()]
    with output.paged():
        output.answer(f"Library: {library.root}")
        output.answer(f"State:   {library.state_dir}")
        output.answer()
        output.table(["Setting", "Value", "From"], rows)


@app.command("path")
def config_path_command(
    context: typer.Context, as_json: ConfigJsonOption = False
) -> None:
    """Show which files settings are read from; works when one of them is broken."""
    user_file = get_user_settings_path()
    root = find_library_root(Path.cwd(), user=user_file, home=Path.home())
    files = {"library": root / SETTINGS_FILE_NAME, "user": user_file}
    flags = context.find_object(dict) or {}
    output = Output(color=flags.get("output.color") or "auto")
    if as_json:
        output.json(
            {
                owner: {"path": path, "exists": path.is_file()}
                for owner, path in files.items()
            }
        )
        return
    output.table(
        ["Whose", "File", "There"],
        [_file_row(owner, path) for owner, path in files.items()],
    )


def _row(key: str, settings: Settings) -> list[LinePiece]:
    origin = settings.origin(key)
    if not origin.where:
        place = StyledText(str(origin.source), "faint")
    else:
        place = StyledText(
            origin.where.removeprefix(f"{settings.root}{os.sep}"), "place"
        )
    return [key, format_toml_value(settings.value(key)), place]


def _file_row(owner: str, path: Path) -> list[LinePiece]:
    return [owner, str(path), "yes" if path.is_file() else "no"]


app.add_typer(keys.app)
