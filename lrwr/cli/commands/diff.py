"""`lrwr diff`: what is known of the story otherwise than before."""

from typing import TYPE_CHECKING, Annotated

import typer

from lrwr.cli.runtime.options import Json

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from lrwr.app.container import Services
    from lrwr.app.diff import Asked, Compared
    from lrwr.cli.runtime.output import Output
    from lrwr.core.model.documents import DocumentId
    from lrwr.core.settings.model import Settings

EPILOG = (
    "Examples: lrwr diff · lrwr diff HEAD~1 · lrwr diff draft-2..HEAD ·"
    ' lrwr diff --since "2 weeks ago" · lrwr diff HEAD --only chapters/07.md --json'
)

Rev = Annotated[
    str | None,
    typer.Argument(
        metavar="[REV]",
        help="A revision of git, or two as REV1..REV2; what was ingested last if left"
        " out.",
    ),
]
Since = Annotated[
    str | None,
    typer.Option("--since", metavar="TIME", help="The last revision before this time."),
]
Only = Annotated[
    list[str] | None,
    typer.Option("--only", metavar="FILE", help="Only what has a place in this file."),
]
Exit = Annotated[
    bool, typer.Option("--exit-code", help="End with 10 if anything differs.")
]


def diff(
    context: typer.Context,
    rev: Rev = None,
    since: Since = None,
    only: Only = None,
    exit_code: Exit = False,
    as_json: Json = False,
) -> None:
    """Say what the story gained, changed and lost, and which later scenes touch it.

    It compares the files as they are with the last ingest, or with a revision of git.
    The library is not changed, and nothing is sent anywhere.
    """
    from pathlib import Path
    from tempfile import TemporaryDirectory

    from lrwr.app.diff import Asked
    from lrwr.cli.presenters import diff as diffed
    from lrwr.cli.runtime.async_runner import run_to_clean_up
    from lrwr.cli.runtime.session import begin
    from lrwr.core.model.errors import ExitCode

    settings, output = begin(context)
    asked = Asked(rev, since)
    with TemporaryDirectory(prefix="lrwr-diff-") as folder:
        work = _compare(settings, output, asked, only or [], Path(folder))
        compared = run_to_clean_up(work)
    for remark in compared.remarks:
        output.warn(remark)
    if as_json:
        output.json(diffed.as_json(compared))
    else:
        with output.paged():
            diffed.show(compared, output)
        diffed.show_left_out(compared, output)
    if exit_code and not compared.difference.same:
        raise typer.Exit(int(ExitCode.CHANGED))


async def _compare(
    settings: "Settings",
    output: "Output",
    asked: "Asked",
    only: "Sequence[str]",
    place: "Path",
) -> "Compared":
    from dataclasses import replace

    from lrwr.app.container import open_services
    from lrwr.app.diff import compare
    from lrwr.cli.commands.ingest import watcher
    from lrwr.core.settings.targets import targets_of
    from lrwr.pipeline.diff import only as narrowed

    async with open_services(settings, say=output.story) as services:
        targets = targets_of(services.manuscript())
        with output.progress("Comparing", None) as advance:
            emit = watcher(advance, output)
            compared = await compare(services, targets, asked, place, emit)
        if not only:
            return compared
        documents = _documents(services, compared, only)
        kept = narrowed(compared.difference, documents)
        return replace(compared, difference=kept)


def _documents(
    services: "Services", compared: "Compared", only: "Sequence[str]"
) -> "set[DocumentId]":
    """Return the documents that the writer calls so, in either state.

    Raises:
        NotFound: Neither state has such a document.
    """
    from pathlib import Path

    from lrwr.core.canon.model import plain_path
    from lrwr.core.canon.resolver import document_named

    spelled = {plain_path(one): one for one in compared.documents}
    root, here = services.library.root, Path.cwd()
    named = [
        document_named(path, known=list(spelled), root=root, here=here) for path in only
    ]
    return {spelled.get(one, one) for one in named}
