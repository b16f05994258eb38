"""`lrwr status`: where you are, and what the library holds."""

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from lrwr.cli.output import Output
    from lrwr.core.settings.values import Settings


def status(
    context: typer.Context,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Say what the library holds and what waits to be read."""
    from lrwr.cli.begin import begin
    from lrwr.cli.running import run_async

    settings, output = begin(context)
    run_async(_status(settings, output, as_json=as_json))


async def _status(settings: "Settings", output: "Output", *, as_json: bool) -> None:
    from lrwr.wiring import open_services

    async with open_services(settings) as services:
        services.require_library()
        folders = services.manuscript()
        counts = await services.passages.counts(settings.pipeline)
        order = await services.finder().story_order()
        changes = await services.processing(folders).look()
        facts: dict[str, object] = {
            "root": services.library.root,
            "state_dir": services.library.state_dir,
            "folders": list(folders),
            "pipeline": settings.pipeline,
            "documents": counts.documents,
            "chapters": order.last,
            "words": counts.words,
            "chunks": counts.chunks,
            "embedded": counts.embedded,
            "changed": len(changes.changed) + len(changes.stale),
            "gone": len(changes.gone),
            "newest": counts.newest,
        }
    if as_json:
        output.json(facts)
        return
    _tell(facts, output)


def _tell(facts: "dict[str, object]", output: "Output") -> None:
    output.answer(f"Library: {facts['root']}")
    folders = facts["folders"]
    for folder in folders if isinstance(folders, list) else []:
        output.answer(f"Manuscript: {folder}")
    output.answer(
        f"{facts['documents']:,} documents, {facts['chapters']} chapters,"
        f" {facts['words']:,} words, {facts['chunks']:,} passages"
        f" ({facts['embedded']:,} embedded)."
    )
    if facts["changed"] or facts["gone"]:
        output.answer(
            f"{facts['changed']} documents are new or changed, {facts['gone']} are"
            " gone. Run `lrwr ingest`."
        )
    else:
        output.answer("The library is up to date with the manuscript.")
