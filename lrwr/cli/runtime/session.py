"""What every command does first: read the settings, set up the output."""

import os
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from lrwr.cli.runtime.output import Output
from lrwr.core.settings.loader import load_settings
from lrwr.core.settings.model import Settings

if TYPE_CHECKING:
    from lrwr.app.container import Workspace


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
    given = {**before, **(flags or {})}
    settings = load_settings(start or Path.cwd(), os.environ, given)
    output = Output(
        color=settings.output.color,
        progress=settings.output.progress,
        pager=settings.output.pager,
    )
    for warning in settings.warnings:
        output.warn(warning)
    return settings, output


@asynccontextmanager
async def open_search_services(
    settings: "Settings", output: "Output", *, as_json: bool
) -> "AsyncIterator[Workspace]":
    """Lend out services, once the writer knows what a search sends elsewhere.

    Raises:
        NotFound: Nothing has been ingested here, or by another pipeline alone.
    """
    from lrwr.app.container import open_workspace
    from lrwr.cli.runtime.consent import (
        SEARCH_SERVICES,
        announce_first_use,
        prompt_for_consent,
    )

    async with open_workspace(settings, say=output.story) as workspace:
        await require_passages(workspace)
        prompt_for_consent(workspace, output, *SEARCH_SERVICES, as_json=as_json)
        announce_first_use(workspace, output, *SEARCH_SERVICES)
        yield workspace


async def require_passages(workspace: "Workspace") -> None:
    """Make sure that the pipeline in use has read something, if any has.

    Else a search would say of every word that the text does not hold it.

    Raises:
        NotFound: Nothing has been ingested here, or by another pipeline alone.
    """
    from lrwr.core.model.chunks import Pipeline
    from lrwr.core.model.errors import NotFound

    wanted = workspace.settings.pipeline
    counts = {one: await workspace.passages.counts(one) for one in Pipeline}
    others = [one for one in Pipeline if one is not wanted and counts[one].documents]
    if counts[wanted].documents or not others:
        return
    raise NotFound(
        f"Pipeline {wanted} has read nothing here, only pipeline {others[0]} has",
        hint=f"Run `lrwr ingest --pipeline {wanted}`; what is known already is kept.",
    )
