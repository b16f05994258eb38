"""What leaves this machine, said before it does."""

import os

from lrwr.core.settings.consent import HostedService
from lrwr.core.settings.model import Settings


def describe_consent_question(hosted: HostedService, settings: Settings) -> str:
    """Return what the writer is asked to allow."""
    where = _where(hosted, settings)
    return (
        f"{where}, which may have come with this folder, turns {hosted.title} on."
        f" It would be sent {hosted.what_in(settings)}, to {hosted.host_in(settings)}, paid with your"
        " key."
    )


def describe_data_leaving(hosted: HostedService, settings: Settings) -> str:
    """Return what leaves this machine, to whom, and who says so."""
    where = _where(hosted, settings)
    return (
        f"{hosted.title} is used here for the first time ({where}). It is sent"
        f" {hosted.what_in(settings)}, to {hosted.host_in(settings)}. `lrwr privacy` lists what left."
    )


def describe_answering_model(settings: Settings, model: str) -> str:
    """Return who answers, and what leaves this machine for it; no model is empty."""
    if not model:
        return "No language model: lrwr quotes your text and does not reason."
    if settings.model.use == "openai":
        return f"Your question and what was found for it go to OpenAI ({model})."
    return f"Answered by {model} on its own server."


def _where(hosted: HostedService, settings: Settings) -> str:
    """Return what turns a service on, a file of the library's by its name alone."""
    where = settings.origin(hosted.setting).where
    return where.removeprefix(f"{settings.root}{os.sep}")
