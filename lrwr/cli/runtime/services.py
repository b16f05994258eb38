"""Opening services for a command: consent first, and a note on what leaves this machine."""

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from lrwr.app.container import Workspace, open_workspace
from lrwr.app.egress import (
    announce_first_uses,
    pending_consents,
    record_consent,
)
from lrwr.cli.runtime.output import Output
from lrwr.core.model.chunks import Pipeline
from lrwr.core.model.errors import NotFound
from lrwr.core.settings.model import Settings

SEARCH_SERVICES = ("openai-embeddings", "qdrant", "cohere")
"""What a search may be sent to."""

INGEST_SERVICES = ("openai-embeddings", "supabase", "langsmith")
"""What all that is read is sent to, whoever else reads it."""

ANSWER_SERVICES = ("openai", "tavily", *SEARCH_SERVICES, "supabase", "langsmith")
"""What a question may be sent to."""

_YES = frozenset({"y", "yes"})


@asynccontextmanager
async def open_search_services(
    settings: Settings, output: Output, *, as_json: bool
) -> AsyncIterator[Workspace]:
    """Lend out workspace, once the writer knows what a search sends elsewhere.

    Raises:
        NotFound: Nothing has been ingested here, or by another pipeline alone.
    """
    async with open_workspace(settings, say=output.story) as workspace:
        await require_passages(workspace)
        prompt_for_consent(workspace, output, *SEARCH_SERVICES, as_json=as_json)
        announce_first_use(workspace, output, *SEARCH_SERVICES)
        yield workspace


async def require_passages(workspace: Workspace) -> None:
    """Make sure that the pipeline in use has read something, if any has.

    Else a search would say of every word that the text does not hold it.

    Raises:
        NotFound: Nothing has been ingested here, or by another pipeline alone.
    """
    pipeline = workspace.settings.pipeline
    counts = {
        candidate: await workspace.passages.counts(candidate) for candidate in Pipeline
    }
    others = [
        candidate
        for candidate in Pipeline
        if candidate is not pipeline and counts[candidate].documents
    ]
    if counts[pipeline].documents or not others:
        return
    raise NotFound(
        f"Pipeline {pipeline} has read nothing here, only pipeline {others[0]} has",
        hint=f"Run `lrwr ingest --pipeline {pipeline}`; what is known already is kept.",
    )


def prompt_for_consent(
    workspace: Workspace, output: Output, *names: str, as_json: bool
) -> None:
    """Ask, once for a folder, about services that only its own settings turn on.

    Where nobody can be asked, nothing is and the services stay unused.

    Raises:
        StoreProblem: The answer cannot be stored.
    """
    if not _can_be_asked(as_json):
        return
    for request in pending_consents(workspace.egress, names):
        output.story(request.question)
        output.story("Allow it for this folder? [y/N]")
        line = sys.stdin.readline(100)
        if not line:
            continue  # nobody there after all
        allowed = line.strip().lower() in _YES
        record_consent(workspace.egress, request.name, allowed=allowed)
        other = "deny" if allowed else "allow"
        output.story(f"To change your mind: lrwr privacy {other} {request.name}")


def announce_first_use(workspace: Workspace, output: Output, *names: str) -> None:
    """Print a line about what leaves, the first time that a library uses a service."""
    announce_first_uses(workspace.egress, names, output.story)


def _can_be_asked(as_json: bool) -> bool:
    return not as_json and sys.stdin.isatty() and sys.stderr.isatty()
