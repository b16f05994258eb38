"""`lrwr diff`: what changed in the story between two states of the manuscript."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer

from lrwr.app.container import Workspace, open_workspace
from lrwr.app.diff import DiffPoint, DiffRequest, ManuscriptDiff, diff_manuscript
from lrwr.app.ingestion import resolve_manuscript
from lrwr.app.presenters.contradictions import (
    contradiction_as_json,
)
from lrwr.app.presenters.diff import (
    is_changed_fact,
    render_manuscript_diff,
)
from lrwr.app.presenters.story_json import evidence_as_json
from lrwr.app.presenters.text import sanitize_line
from lrwr.app.presenters.watch import (
    document_delta_as_json,
)
from lrwr.cli.runtime.event_loop import run_with_cleanup
from lrwr.cli.runtime.options import JsonOption
from lrwr.cli.runtime.output import Output, start_session
from lrwr.cli.runtime.services import create_progress_listener
from lrwr.core.bible.changes import StoryChange, StoryChangeKind
from lrwr.core.bible.values import TextEvidence
from lrwr.core.canon.model import normalize_canon_path
from lrwr.core.canon.resolver import resolve_document
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.errors import ExitCode, SettingsProblem
from lrwr.core.settings.model import Settings
from lrwr.pipeline.diff import ParagraphEdit, filter_story_diff

EPILOG = (
    "Examples: lrwr diff · lrwr diff --last --words · lrwr diff HEAD~1 · lrwr diff draft-2..HEAD ·"
    ' lrwr diff --since "2 weeks ago" · lrwr diff --words ·'
    " lrwr diff HEAD --only chapters/06-fog.md --json"
)

RevArgument = Annotated[
    str | None,
    typer.Argument(
        metavar="[REV]",
        help="A git revision, or two as REV1..REV2; the last ingest if left out.",
    ),
]

SinceOption = Annotated[
    str | None,
    typer.Option(
        "--since",
        metavar="TIME",
        help="Compare with the last git revision before this time; without git, with the "
        "texts that ingests replaced.",
    ),
]

LastOption = Annotated[
    bool, typer.Option("--last", help="Show what the last ingest changed.")
]

OnlyOption = Annotated[
    list[str] | None,
    typer.Option(
        "--only",
        metavar="FILE",
        help="Show only changes located in this file. Repeatable.",
    ),
]

WordsOption = Annotated[
    bool, typer.Option("--words", help="Show the changed words of each paragraph too.")
]
ExitOption = Annotated[
    bool, typer.Option("--exit-code", help="Exit with code 10 if anything differs.")
]


app = typer.Typer()


@app.command("diff", epilog=EPILOG)
def diff_command(
    context: typer.Context,
    rev: RevArgument = None,
    since: SinceOption = None,
    last: LastOption = False,
    only: OnlyOption = None,
    words: WordsOption = False,
    exit_code: ExitOption = False,
    as_json: JsonOption = False,
) -> None:
    """Show what changed in the story since the last ingest.

    With REV, the comparison is with a git revision.


    Lists gained, changed and lost facts, and later scenes that mention them. The library
    is not changed, and nothing is sent to any service.
    """
    settings, output = start_session(context)
    if last and (rev or since):
        raise SettingsProblem(
            "`--last` cannot be combined with a revision or `--since`",
            hint="Use one of them.",
        )
    diff_request = DiffRequest(rev, since, last)
    with TemporaryDirectory(prefix="lrwr-diff-") as folder:
        work = _compare(settings, output, diff_request, only or [], Path(folder))
        manuscript_diff = run_with_cleanup(work)
    if as_json:
        for remark in manuscript_diff.remarks:
            output.warn(remark)
        output.json(story_diff_as_json(manuscript_diff))
    else:
        with output.paged():
            _show_story_diff(manuscript_diff, output, with_words=words)
        if manuscript_diff.difference.same and diff_request == DiffRequest():
            output.info("`lrwr diff --last` shows what the last ingest changed.")
    if exit_code and not manuscript_diff.difference.same:
        raise typer.Exit(int(ExitCode.CHANGED))


def _show_story_diff(
    manuscript_diff: ManuscriptDiff, output: Output, *, with_words: bool
) -> None:
    for remark in manuscript_diff.remarks:
        output.notice_warning(sanitize_line(remark))
    output.show(render_manuscript_diff(manuscript_diff, with_words=with_words))
    for skipped in manuscript_diff.left_out:
        output.notice_warning(
            sanitize_line(f"{skipped.document} was not compared: {skipped.reason}")
        )


def story_diff_as_json(manuscript_diff: ManuscriptDiff) -> dict[str, object]:
    """Return the comparison of two states of the story as JSON; see docs/diff.md.

    `gained`, `changed`, `lost` and `gaps` are changes with the values `before` and
    `after` (None if there is none) and their quotations. `same` is true if nothing
    changed.
    """
    difference = manuscript_diff.difference
    groups = {
        kind: [c for c in difference.changes if c.kind is kind]
        for kind in StoryChangeKind
    }
    facts = (
        groups[StoryChangeKind.NAME]
        + groups[StoryChangeKind.FACT]
        + groups[StoryChangeKind.MOMENT]
    )
    return {
        "before": _point(manuscript_diff.before),
        "after": _point(manuscript_diff.after),
        "same": difference.same,
        "documents": [
            document_delta_as_json(document, "paragraphs")
            for document in difference.documents
        ],
        "edits": [_edit(edit) for edit in difference.edits],
        "gained": [_change(fact) for fact in facts if not fact.shift.before],
        "changed": [_change(fact) for fact in facts if is_changed_fact(fact)],
        "lost": [_change(fact) for fact in facts if not fact.shift.after],
        "gaps": {
            "opened": [
                _change(gap) for gap in groups[StoryChangeKind.GAP] if gap.shift.after
            ],
            "closed": [
                _change(gap) for gap in groups[StoryChangeKind.GAP] if gap.shift.before
            ],
        },
        "contradictions": {
            "appeared": [
                contradiction_as_json(contradiction)
                for contradiction in difference.appeared
            ],
            "vanished": [
                contradiction_as_json(contradiction)
                for contradiction in difference.vanished
            ],
        },
        **_exclusions_as_json(manuscript_diff),
    }


def _edit(edit: ParagraphEdit) -> dict[str, object]:
    return {
        "file": edit.document,
        "line": edit.line,
        "before": edit.before or None,
        "after": edit.after or None,
    }


def _exclusions_as_json(manuscript_diff: ManuscriptDiff) -> dict[str, object]:
    return {
        "not_compared": [
            {"file": skipped.document, "reason": skipped.reason}
            for skipped in manuscript_diff.left_out
        ],
        "missing": manuscript_diff.missing,
    }


def _point(point: DiffPoint) -> dict[str, object]:
    return {"name": point.name, "commit": point.commit or None}


def _change(story_change: StoryChange) -> dict[str, object]:
    shift = story_change.shift
    return {
        "kind": story_change.kind,
        "about": shift.about,
        "subject": shift.subject or None,
        "what": shift.what or None,
        "before": shift.before or None,
        "after": shift.after or None,
        "was": _all(story_change.was),
        "now": _all(story_change.now),
        "later": [
            {
                "file": scene.document,
                "line": scene.line,
                "chapter": scene.chapter,
                "scene": scene.scene,
                "still_says_before": scene.says,
            }
            for scene in story_change.later
        ],
    }


def _all(words: Iterable[TextEvidence]) -> list[dict[str, object]]:
    return [evidence_as_json(word) for word in words]


async def _compare(
    settings: Settings,
    output: Output,
    request: DiffRequest,
    only: Sequence[str],
    place: Path,
) -> ManuscriptDiff:
    async with open_workspace(settings, say=output.info) as workspace:
        targets = resolve_manuscript(workspace)
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
    """Return the documents that `only` names in either state.

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
