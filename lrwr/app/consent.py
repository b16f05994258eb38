"""Consent to send data to hosted services: open questions, answers and first uses."""

import os
from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lrwr.core.model.errors import StoreProblem
from lrwr.core.settings.consent import HOSTED_SERVICES, ConsentState, HostedService
from lrwr.core.settings.library import prepare_state_dir
from lrwr.core.settings.model import Settings

if TYPE_CHECKING:
    from lrwr.app.egress import ExternalAccess


@dataclass(frozen=True, slots=True)
class ConsentRequest:
    """A service that only the folder's own settings turn on, and the question to ask."""

    name: str
    question: str


def pending_consents(
    egress: "ExternalAccess", names: Collection[str] = HOSTED_SERVICES
) -> tuple[ConsentRequest, ...]:
    """Return the services among `names` that the user must allow first, in order."""
    return tuple(
        ConsentRequest(
            name, describe_consent_question(HOSTED_SERVICES[name], egress.settings)
        )
        for name in names
        if egress.consent(name) is ConsentState.UNASKED
    )


def record_consent(egress: "ExternalAccess", name: str, *, allowed: bool) -> None:
    """Store the user's answer about a service, which counts as its announcement.

    Raises:
        StoreProblem: The answer cannot be written.
    """
    prepare_state_dir(egress.library)
    egress.consents.keep(egress.library, name, allowed=allowed)
    egress.consents.tell(egress.library, name)


def announce_first_uses(
    egress: "ExternalAccess", names: Collection[str], notify: Callable[[str], None]
) -> None:
    """Pass `notify` a sentence about each service that is used here the first time."""
    for name in names:
        may_use = egress.consent(name).may
        if not may_use or egress.consents.told(egress.library, name):
            continue
        notify(describe_data_leaving(HOSTED_SERVICES[name], egress.settings))
        with suppress(StoreProblem):  # the announcement is then repeated next time
            egress.consents.tell(egress.library, name)


def list_data_leaving(egress: "ExternalAccess") -> tuple[str, ...]:
    """Return, for each service that may be used, a sentence on what leaves."""
    return tuple(
        describe_data_leaving(hosted, egress.settings)
        for name, hosted in HOSTED_SERVICES.items()
        if egress.consent(name).may
    )


def describe_consent_question(hosted: HostedService, settings: Settings) -> str:
    """Return the sentences that ask the user to allow a service."""
    origin = _describe_origin(hosted, settings)
    return (
        f"{origin}, which may have come with this folder, turns {hosted.title} on."
        f" It would be sent {hosted.what_in(settings)}, to {hosted.host_in(settings)},"
        " paid with your key."
    )


def describe_data_leaving(hosted: HostedService, settings: Settings) -> str:
    """Return what a service is sent, its host, and which setting turns it on."""
    origin = _describe_origin(hosted, settings)
    return (
        f"{hosted.title} is used here for the first time ({origin}). It is sent"
        f" {hosted.what_in(settings)}, to {hosted.host_in(settings)}. `lrwr privacy` lists what left."
    )


def _describe_origin(hosted: HostedService, settings: Settings) -> str:
    """Return the source of a setting; a file of the library by its name alone."""
    source = settings.origin(hosted.setting).where
    return source.removeprefix(f"{settings.root}{os.sep}")
