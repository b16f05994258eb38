"""`lrwr status`: where you are, and what the library holds."""

from collections.abc import Callable
from typing import Annotated

import typer

from lrwr.app.container import open_workspace
from lrwr.app.ingestion import create_processing_service
from lrwr.cli.runtime.async_runner import run_async
from lrwr.cli.runtime.output import Output
from lrwr.cli.runtime.session import start_session
from lrwr.core.adapters.chat.factory import list_chat_models
from lrwr.core.bible.claims import list_reader_models
from lrwr.core.model.errors import NotFound
from lrwr.core.model.facts import FactAbout
from lrwr.core.settings.model import Settings
from lrwr.pipeline.changes import DocumentChanges

app = typer.Typer()


@app.command("status")
def status_command(
    context: typer.Context,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Say what the library holds and what waits to be read."""
    settings, output = start_session(context)
    facts = run_async(collect_status(settings, output.story))
    if as_json:
        output.json(facts)
    else:
        print_status(facts, output)


async def collect_status(
    settings: Settings, say: Callable[[str], None]
) -> dict[str, object]:
    """Return what the library holds and what waits, as `--json` prints it.

    Raises:
        NotFound: Nothing has been ingested here.
    """
    async with open_workspace(settings, say=say) as workspace:
        workspace.require_library()
        folders = workspace.manuscript()
        counts = await workspace.passages.counts(settings.pipeline)
        order = await workspace.finder().story_order()
        labelled = await workspace.stories.facts([FactAbout.PASSAGE, FactAbout.SCENE])
        changes, problem = DocumentChanges((), (), (), ()), ""
        if not folders:
            problem = "No folder of a manuscript is known here"
        try:
            changes = await create_processing_service(
                workspace, folders, may_ask=False
            ).scan()
        except NotFound as error:
            problem = str(error)
        return {
            "root": workspace.library.root,
            "state_dir": workspace.library.state_dir,
            "kept": settings.records.keeper,
            "folders": list(folders),
            "pipeline": settings.pipeline,
            "read_by": list(list_reader_models(labelled)) if counts.documents else [],
            "models": list_chat_models(settings),
            "documents": counts.documents,
            "chapters": order.last,
            "words": counts.words,
            "chunks": counts.chunks,
            "embedded": counts.embedded,
            "changed": len(changes.changed) + len(changes.stale),
            "gone": len(changes.gone),
            "newest": counts.newest,
            "problem": problem,
        }


def print_status(facts: dict[str, object], output: Output) -> None:
    """Say the facts in words."""
    output.answer(f"Library: {facts['root']}")
    folders = facts["folders"]
    for folder in folders if isinstance(folders, list) else []:
        output.answer(f"Manuscript: {folder}")
    if facts["kept"] != "embedded":
        output.answer("Kept in your Supabase project: what is here is a copy of that.")
    output.answer(_who_read(facts))
    if facts["models"]:
        output.answer(_models(facts["models"]))
    output.answer(
        f"{facts['documents']:,} documents, {facts['chapters']} chapters,"
        f" {facts['words']:,} words, {facts['chunks']:,} passages"
        f" ({facts['embedded']:,} embedded)."
    )
    if facts["problem"]:
        output.answer(f"{facts['problem']}; what was read of it is kept.")
    elif facts["changed"] or facts["gone"]:
        output.answer(
            f"{facts['changed']} new or changed, {facts['gone']} gone since the last"
            " time. Run `lrwr ingest`."
        )
    else:
        output.answer("The library is up to date with the manuscript.")


def _who_read(facts: dict[str, object]) -> str:
    """Say which pipeline read the manuscript, and with which language model."""
    pipeline_text, models = f"Pipeline {facts['pipeline']}", facts["read_by"]
    if not facts["documents"]:
        return f"{pipeline_text}: nothing is read with it yet."
    if facts["pipeline"] == "a":
        return (
            f"{pipeline_text}: cut into passages; who and what is in them is not known."
        )
    if isinstance(models, list) and models:
        return f"{pipeline_text}: read by rules and by {' and '.join(models)}."
    return f"{pipeline_text}: read by rules alone, without a language model."


def _models(models: object) -> str:
    """Say which language models are set, and what for."""
    purposes_by_model: dict[str, list[str]] = {}
    for purpose, name in models.items() if isinstance(models, dict) else ():
        purposes_by_model.setdefault(name, []).append(purpose)
    phrases = (
        f"{name} for {' and '.join(purposes)}"
        for name, purposes in purposes_by_model.items()
    )
    if len(purposes_by_model) == 1:
        return f"Language model: {next(iter(purposes_by_model))}."
    return f"Language models: {', '.join(phrases)}."
