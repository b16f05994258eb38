"""`lrwr diff`: what is known of the story otherwise than before."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer

from lrwr.app.container import Workspace, open_workspace
from lrwr.app.diff import DiffRequest, ManuscriptDiff, diff_manuscript
from lrwr.cli.presenters.diff import (
    show_skipped_documents,
    show_story_diff,
    story_diff_as_json,
)
from lrwr.cli.presenters.ingestion import create_progress_listener
from lrwr.cli.runtime.async_runner import run_with_cleanup
from lrwr.cli.runtime.options import JsonOption
from lrwr.cli.runtime.output import Output
from lrwr.cli.runtime.session import start_session
from lrwr.core.canon.model import normalize_canon_path
from lrwr.core.canon.resolver import resolve_document
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.errors import ExitCode
from lrwr.core.settings.library import resolve_targets
from lrwr.core.settings.model import Settings
from lrwr.pipeline.diff import filter_story_diff

EPILOG = (
    "Examples: lrwr diff · lrwr diff HEAD~1 · lrwr diff draft-2..HEAD ·"
    ' lrwr diff --since "2 weeks ago" · lrwr diff HEAD --only chapters/07.md --json'
)

RevArgument = Annotated[
    str | None,
    typer.Argument(
        metavar="[REV]",
        help="A revision of git, or two as REV1..REV2; what was ingested last if left"
        " out.",
    ),
]
SinceOption = Annotated[
    str | None,
    typer.Option("--since", metavar="TIME", help="The last revision before this time."),
]
OnlyOption = Annotated[
    list[str] | None,
    typer.Option("--only", metavar="FILE", help="Only what has a place in this file."),
]
ExitOption = Annotated[
    bool, typer.Option("--exit-code", help="End with 10 if anything differs.")
]


app = typer.Typer()


@app.command("diff", epilog=EPILOG)
def diff_command(
    context: typer.Context,
    rev: RevArgument = None,
    since: SinceOption = None,
    only: OnlyOption = None,
    exit_code: ExitOption = False,
    as_json: JsonOption = False,
) -> None:
    """Say what the story gained, changed and lost, and which later scenes touch it.

    It compares the files as they are with the last ingest, or with a revision of git.
    The library is not changed, and nothing is sent anywhere.
    """
    settings, output = start_session(context)
    diff_request = DiffRequest(rev, since)
    with TemporaryDirectory(prefix="lrwr-diff-") as folder:
        work = _compare(settings, output, diff_request, only or [], Path(folder))
        manuscript_diff = run_with_cleanup(work)
    for remark in manuscript_diff.remarks:
        output.warn(remark)
    if as_json:
        output.json(story_diff_as_json(manuscript_diff))
    else:
        with output.paged():
            show_story_diff(manuscript_diff, output)
        show_skipped_documents(manuscript_diff, output)
    if exit_code and not manuscript_diff.difference.same:
        raise typer.Exit(int(ExitCode.CHANGED))


async def _compare(
    settings: Settings,
    output: Output,
    request: DiffRequest,
    only: Sequence[str],
    place: Path,
) -> ManuscriptDiff:
    async with open_workspace(settings, say=output.story) as workspace:
        targets = resolve_targets(workspace.manuscript())
        with output.progress("Comparing", None) as advance:
            emit = create_progress_listener(advance, output)
            manuscript_diff = await diff_manuscript(
                workspace, targets, request, place, emit
            )
        if not only:
            return manuscript_diff
        documents = _documents(workspace, manuscript_diff, only)
        story_diff = filter_story_diff(manuscript_diff.difference, documents)
        return replace(manuscript_diff, difference=story_diff)


def _documents(
    workspace: Workspace, manuscript_diff: ManuscriptDiff, only: Sequence[str]
) -> set[DocumentId]:
    """Return the documents that the writer calls so, in either state.

    Raises:
        NotFound: Neither state has such a document.
    """
    spelled = {
        normalize_canon_path(document): document
        for document in manuscript_diff.documents
    }
    root, current_folder = workspace.library.root, Path.cwd()
    document_ids = [
        resolve_document(
            path,
            document_ids=list(spelled),
            root=root,
            working_directory=current_folder,
        )
        for path in only
    ]
    return {spelled.get(document_id, document_id) for document_id in document_ids}
