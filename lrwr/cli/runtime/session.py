"""The start of every command: load the settings and create the output."""

import os
from collections.abc import Mapping
from pathlib import Path

import typer

from lrwr.cli.runtime.output import Output
from lrwr.core.settings.loader import load_settings
from lrwr.core.settings.model import Settings


def start_session(
    context: typer.Context,
    flags: Mapping[str, object] | None = None,
    *,
    start: Path | None = None,
) -> tuple[Settings, Output]:
    """Return the settings of the library that contains `start`, and the output.

    `start` None means the working directory. `flags` override settings by dotted name
    ("search.limit"); a value None means that the option was not used. Options before
    the command's name come from `context.obj`. Warnings about the settings are printed.

    Raises:
        SettingsProblem: A file, variable or option has an invalid value.
    """
    global_flags = context.find_object(dict) or {}
    overrides = {**global_flags, **(flags or {})}
    settings = load_settings(start or Path.cwd(), os.environ, overrides)
    output = Output(
        color=settings.output.color,
        progress=settings.output.progress,
        pager=settings.output.pager,
        as_json=bool(context.params.get("as_json")),
    )
    for warning in settings.warnings:
        output.warn(warning)
    return settings, output


def create_output(context: typer.Context) -> Output:
    """Return the output for a command that works even with invalid settings files.

    It uses only the options of the command line.
    """
    flags = context.find_object(dict) or {}
    return Output(
        color=flags.get("output.color") or "auto",
        as_json=bool(context.params.get("as_json")),
    )
