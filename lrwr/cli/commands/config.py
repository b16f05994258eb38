"""`lrwr config` and `lrwr init`: settings, their files, and API keys."""

import os
import sys
from contextlib import suppress
from getpass import getpass
from importlib import import_module
from pathlib import Path
from typing import Annotated

import typer

from lrwr.app.presenters.text import LinePiece, StyledText
from lrwr.cli.runtime.options import JsonOption
from lrwr.cli.runtime.output import Output, create_output, start_session
from lrwr.core.model.errors import LrwrError, NotFound, SettingsProblem
from lrwr.core.settings.drives import describe_unsafe_folder
from lrwr.core.settings.library import (
    SETTINGS_FILE_NAME,
    STATE_FOLDER_NAME,
    find_library_root,
    get_user_settings_path,
    resolve_library,
)
from lrwr.core.settings.loader import format_toml_value, render_example_toml
from lrwr.core.settings.model import Settings, index_settings
from lrwr.core.settings.service_access import (
    delete_key,
    list_key_states,
    list_key_variables,
    mask_credentials,
    store_key,
)

_KEY_NAMES = "openai, cohere, tavily, supabase, qdrant, modal or langsmith"

INIT_EPILOG = "Examples: lrwr init · lrwr init ./manuscript · lrwr init --force"

SHOW_EPILOG = "Examples: lrwr config show · lrwr config show --json"

PATH_EPILOG = "Examples: lrwr config path · lrwr config path --json"

SET_EPILOG = "Examples: lrwr config set-key openai · pass show openai | lrwr config set-key openai"

DOWNLOAD_EPILOG = "Example: lrwr config download-model"

UNSET_EPILOG = "Example: lrwr config unset-key openai"

KEYS_EPILOG = "Examples: lrwr config keys · lrwr config keys --json"

KeysNameArgument = Annotated[
    str, typer.Argument(metavar="NAME", help=f"The service: {_KEY_NAMES}.")
]


app = typer.Typer()
config_app = typer.Typer(
    help="Show settings and where they are set; store API keys.",
    invoke_without_command=True,
)


@config_app.callback()
def config_command(context: typer.Context, as_json: JsonOption = False) -> None:
    """Show settings and where they are set; store API keys."""
    if context.invoked_subcommand is None:
        config_show_command(context, as_json)


@config_app.command("show", epilog=SHOW_EPILOG)
def config_show_command(context: typer.Context, as_json: JsonOption = False) -> None:
    """Show every setting with its value and where it is set."""
    settings, output = start_session(context)
    library = resolve_library(settings)
    if as_json:
        setting_rows = [
            {
                "key": key,
                "value": _shown_value(key, settings),
                "source": settings.origin(key).source,
                "where": settings.origin(key).where,
            }
            for key in index_settings()
        ]
        folders = {"root": library.root, "state_dir": library.state_dir}
        output.json({**folders, "settings": setting_rows})
        return
    rows = list_setting_rows(settings)
    with output.paged():
        output.answer(f"Library: {library.root}")
        output.answer(f"State:   {library.state_dir}")
        output.answer()
        output.table(["Setting", "Value", "From"], rows)


@config_app.command("path", epilog=PATH_EPILOG)
def config_path_command(context: typer.Context, as_json: JsonOption = False) -> None:
    """Show the settings files. Works even if one of them is invalid."""
    user_file = get_user_settings_path()
    root = find_library_root(Path.cwd(), user=user_file, home=Path.home())
    files = {"library": root / SETTINGS_FILE_NAME, "user": user_file}
    output = create_output(context)
    if as_json:
        output.json(
            {
                owner: {"path": path, "exists": path.is_file()}
                for owner, path in files.items()
            }
        )
        return
    output.table(
        ["For", "File", "Exists"],
        [_file_row(owner, path) for owner, path in files.items()],
    )


@app.command("init", epilog=INIT_EPILOG)
def init_command(
    context: typer.Context,
    folder: Annotated[
        Path,
        typer.Argument(metavar="[FOLDER]", help="The folder of your manuscript."),
    ] = Path(),
    force: Annotated[
        bool,
        typer.Option(
            "--force",
            help="Replace an existing lrwr.toml; it is renamed to lrwr.toml.old.",
        ),
    ] = False,
) -> None:
    """Create an lrwr.toml that explains every setting.

    All settings in it are commented out, so it changes nothing.
    """
    output = create_output(context)
    if not folder.is_dir():
        raise NotFound(
            f"There is no folder {folder}", hint="Create it, or name another folder."
        )
    file = folder.resolve() / SETTINGS_FILE_NAME
    _write_example(file, output, force=force)
    output.answer(str(file))
    _print_next_step(file, output)


@config_app.command("keys", epilog=KEYS_EPILOG)
def config_keys_command(
    context: typer.Context,
    as_json: JsonOption = False,
) -> None:
    """Show which API keys are set, and whether in the environment or the keyring."""
    output = create_output(context)
    states = list_key_states(os.environ)
    if as_json:
        output.json(states)
        return
    rows = [[state.name, str(state.location), state.variable] for state in states]
    output.table(["Service", "Key", "Variable"], rows)
    output.info(
        "A key alone does not turn a service on. To turn it on, choose the service in"
        " `lrwr.toml`."
    )


@config_app.command("set-key", epilog=SET_EPILOG)
def config_set_key_command(
    context: typer.Context,
    name: KeysNameArgument,
    words: Annotated[list[str] | None, typer.Argument(hidden=True)] = None,
) -> None:
    """Store the API key of a service in the system's keyring.

    The key is read from a hidden prompt, or from standard input. A key alone does not
    turn a service on; to turn it on, choose the service in lrwr.toml.
    """
    if words:  # Typer would print the key in its error message
        raise SettingsProblem(
            "A key must not be part of the command, because shells record commands",
            hint="Run `lrwr config set-key NAME` without the key, and delete the other"
            " command from your shell's history.",
        )
    output = create_output(context)
    keys = {variable: _prompt_key(variable) for variable in list_key_variables(name)}
    for variable, key in keys.items():
        store_key(variable, key)
        output.answer(f"Stored {variable} in the keyring.")
        if os.environ.get(variable):
            output.warn(
                f"The environment variable {variable} is also set and takes precedence."
            )


@config_app.command("unset-key", epilog=UNSET_EPILOG)
def config_unset_key_command(context: typer.Context, name: KeysNameArgument) -> None:
    """Delete the API key of a service from the system's keyring."""
    output = create_output(context)
    for variable in list_key_variables(name):
        is_deleted = delete_key(variable)
        if is_deleted:
            output.answer(f"Deleted {variable} from the keyring.")
        else:
            output.answer(f"{variable} is not in the keyring.")
        if os.environ.get(variable):
            output.warn(f"The environment variable {variable} is still set.")


@config_app.command("download-model", epilog=DOWNLOAD_EPILOG)
def config_download_model_command(context: typer.Context) -> None:
    """Download the embedding model in `embedding.name`, for the package fastembed.

    `embedding.model` must be fastembed. Only the model's name is sent, to Hugging Face.
    """
    settings, output = start_session(context)
    # Imported here: no other command of this module opens a library.
    command = import_module("lrwr.cli.commands.model_download")
    command.run_download(settings, output)


app.add_typer(config_app, name="config")


def _shown_value(key: str, settings: Settings) -> object:
    """Return the value of a setting; an address without its user name and password."""
    value = settings.value(key)
    return mask_credentials(str(value)) if key.endswith("url") else value


def list_setting_rows(settings: Settings, words: str = "") -> list[list[LinePiece]]:
    """Return name, value and origin of the settings whose names contain `words`."""
    names = (key for key in index_settings() if words.casefold() in key)
    return [_row(key, settings) for key in names]


def _row(key: str, settings: Settings) -> list[LinePiece]:
    origin = settings.origin(key)
    if not origin.where:
        place = StyledText(str(origin.source), "faint")
    else:
        place = StyledText(
            origin.where.removeprefix(f"{settings.root}{os.sep}"), "place"
        )
    return [key, format_toml_value(_shown_value(key, settings)), place]


def _file_row(owner: str, path: Path) -> list[LinePiece]:
    return [owner, str(path), "yes" if path.is_file() else "no"]


def _write_example(file: Path, output: Output, *, force: bool) -> None:
    try:
        if force and file.exists():
            old_file = file.replace(file.with_name(f"{file.name}.old"))
            output.info(f"Renamed the old file to {old_file}.")
        with file.open("x", encoding="utf-8", newline="\n") as new_file:
            new_file.write(render_example_toml())
    except FileExistsError as error:
        raise SettingsProblem(
            f"{file} already exists",
            hint="Edit it, or use `--force` to replace it; the old file is renamed.",
        ) from error
    except OSError as error:
        with suppress(OSError):
            file.unlink(missing_ok=True)
        raise LrwrError(
            f"{file} cannot be written: {error.strerror}",
            hint="Check the free disk space and the permissions of the folder.",
        ) from error


def _print_next_step(file: Path, output: Output) -> None:
    output.info("It explains every setting; all of them are commented out.")
    if warning := describe_unsafe_folder(file.parent / STATE_FOLDER_NAME):
        output.warn(warning)
    if (file.parent / STATE_FOLDER_NAME).exists():
        output.info("Edit it, then run `lrwr ingest`.")
        return
    output.info("Next, run `lrwr ingest` with the folder of your manuscript:")
    output.info("lrwr ingest ./manuscript", indent=4)


def _prompt_key(variable: str) -> str:
    if not sys.stdin.isatty():
        return sys.stdin.readline(10_000)

    return getpass(f"{variable} (not shown): ", stream=sys.stderr)
