"""`lrwr config download-model`: downloads the embedding model for fastembed."""

import asyncio

from lrwr.app.container import open_workspace
from lrwr.cli.runtime.output import Output
from lrwr.cli.runtime.services import announce_first_use, prompt_for_consent
from lrwr.core.adapters.embed.fastembed_model import (
    HUGGING_FACE,
    download_fastembed_model,
    resolve_fastembed_model,
)
from lrwr.core.model.errors import SettingsProblem
from lrwr.core.settings.library import get_models_folder
from lrwr.core.settings.model import Settings


def run_download(settings: Settings, output: Output) -> None:
    """Run `download_model` to its end; it raises the same errors."""
    asyncio.run(download_model(settings, output), debug=False)


async def download_model(settings: Settings, output: Output) -> None:
    """Download the model in `embedding.name`, after consent, and print where it is.

    Raises:
        SettingsProblem: `embedding.model` is not fastembed, consent is missing, or a
            setting is invalid.
        ServiceUnavailable: fastembed is not installed, or the model cannot be
            downloaded.
    """
    if settings.embedding.model != "fastembed":
        raise SettingsProblem(
            f"`embedding.model` is {settings.embedding.model}, which downloads nothing",
            hint="Set it to fastembed, and `embedding.name` to the name of a model.",
        )
    async with open_workspace(settings, say=output.info) as workspace:
        prompt_for_consent(workspace, output, HUGGING_FACE, as_json=False)
        refusal = workspace.egress.consent_refusal(HUGGING_FACE)
        if refusal is not None:
            raise refusal
        announce_first_use(workspace, output, HUGGING_FACE)
        model = resolve_fastembed_model(settings.embedding, get_models_folder())
        await download_fastembed_model(model, settings, workspace.egress.request_logger)
    output.answer(f"Stored {model.name} in {model.folder}.")
    output.info("Next, run `lrwr ingest`: everything is embedded again once.")
