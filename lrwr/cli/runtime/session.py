"""What every command does first: read the settings, set up the output."""

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
    """Return the settings that hold in `start`, here by default, and the output.

    `flags` go by dotted name ("search.limit"), None for one that was not given; those
    given before the command's name are a dict in `context.obj`. What the settings warn
    of is said on stderr.

    Raises:
        SettingsProblem: A file, variable or flag cannot be understood.
    """
    before = context.find_object(dict) or {}
    overrides = {**before, **(flags or {})}
    settings = load_settings(start or Path.cwd(), os.environ, overrides)
    output = Output(
        color=settings.output.color,
        progress=settings.output.progress,
        pager=settings.output.pager,
    )
    for warning in settings.warnings:
        output.warn(warning)
    return settings, output
