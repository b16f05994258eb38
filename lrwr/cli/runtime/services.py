"""Opening services for a command: consent first, and a note on what leaves this machine."""

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from lrwr.app.container import Services, open_services
from lrwr.app.presenters.consent import describe_consent_question, describe_data_leaving
from lrwr.cli.runtime.output import Output
from lrwr.core.model.chunks import Pipeline
from lrwr.core.model.errors import NotFound, StoreProblem
from lrwr.core.settings.consent import HOSTED_SERVICES, ConsentState
from lrwr.core.settings.library import prepare_state_dir
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
) -> AsyncIterator[Services]:
    """Lend out services, once the writer knows what a search sends elsewhere.

    Raises:
        NotFound: Nothing has been ingested here, or by another pipeline alone.
    """
    async with open_services(settings, say=output.story) as services:
        await require_passages(services)
        prompt_for_consent(services, output, *SEARCH_SERVICES, as_json=as_json)
        announce_first_use(services, output, *SEARCH_SERVICES)
        yield services


async def require_passages(services: Services) -> None:
    """Make sure that the pipeline in use has read something, if any has.

    Else a search would say of every word that the text does not hold it.

    Raises:
        NotFound: Nothing has been ingested here, or by another pipeline alone.
    """
    wanted = services.settings.pipeline
    counts = {one: await services.passages.counts(one) for one in Pipeline}
    others = [one for one in Pipeline if one is not wanted and counts[one].documents]
    if counts[wanted].documents or not others:
        return
    raise NotFound(
        f"Pipeline {wanted} has read nothing here, only pipeline {others[0]} has",
        hint=f"Run `lrwr ingest --pipeline {wanted}`; what is known already is kept.",
    )


def prompt_for_consent(
    services: Services, output: Output, *names: str, as_json: bool
) -> None:
    """Ask, once for a folder, about services that only its own settings turn on.

    Where nobody can be asked nothing is, and they stay unused.

    Raises:
        StoreProblem: The answer cannot be kept.
    """
    for name in names:
        if services.outward.leave(
            name
        ) is not ConsentState.UNASKED or not _can_be_asked(as_json):
            continue
        output.story(
            describe_consent_question(HOSTED_SERVICES[name], services.settings)
        )
        output.story("Allow it for this folder? [y/N]")
        said = sys.stdin.readline(100)
        if not said:
            continue  # nobody there after all
        allowed = said.strip().lower() in _YES
        prepare_state_dir(services.library)
        services.outward.consents.keep(services.library, name, allowed=allowed)
        services.outward.consents.tell(services.library, name)
        other = "deny" if allowed else "allow"
        output.story(f"To change your mind: lrwr privacy {other} {name}")


def announce_first_use(services: Services, output: Output, *names: str) -> None:
    """Say in a line what will leave, the first time that a library uses a service."""
    for name in names:
        told = services.outward.consents.told(services.library, name)
        if told or not services.outward.leave(name).may:
            continue
        output.story(describe_data_leaving(HOSTED_SERVICES[name], services.settings))
        with suppress(StoreProblem):  # then it is said once more
            services.outward.consents.tell(services.library, name)


def _can_be_asked(as_json: bool) -> bool:
    return not as_json and sys.stdin.isatty() and sys.stderr.isatty()
