"""Reads the state of the library for the screens, ingests and compares manuscripts."""

import asyncio
import atexit
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import takewhile
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING

from lrwr.app.diff import DiffRequest, ManuscriptDiff, diff_manuscript
from lrwr.app.ingestion import (
    check_named_targets,
    ingest_manuscript,
    resolve_manuscript,
)
from lrwr.app.pending_changes import select_targets
from lrwr.app.presenters.ingestion import (
    describe_document_problem,
    describe_ingest_report,
)
from lrwr.core.model.jobs import IngestEvent, Job
from lrwr.core.ports.stores import LibraryCounts
from lrwr.tui.queries.passages import require_ingested

if TYPE_CHECKING:
    from lrwr.app.container import Workspace

MAX_JOBS = 100
"""Maximum number of jobs loaded."""


@dataclass(frozen=True, slots=True)
class LibraryOverview:
    """The state of the library of the folder `root`.

    `counts` is None if no manuscript was ingested. `folders` are those of the
    manuscript, empty if none is configured; `jobs` are the newest `MAX_JOBS`, newest
    first.
    """

    counts: "LibraryCounts | None"
    folders: tuple[Path, ...]
    jobs: tuple[Job, ...]
    root: Path


async def load_library_overview(workspace: "Workspace") -> LibraryOverview:
    """Return the library's counts, the manuscript's folders, and the newest jobs.

    Raises:
        LrwrError: The library cannot be read.
    """
    root, folders = workspace.library.root, workspace.manuscript()
    if not workspace.is_ingested:
        return LibraryOverview(None, folders, (), root)
    counts = await workspace.passages.counts(workspace.settings.pipeline)
    jobs = await workspace.jobs.jobs(limit=MAX_JOBS)
    return LibraryOverview(counts, folders, tuple(jobs), root)


def complete_folder(root: Path, text: str) -> str:
    """Return `text`, the beginning of a folder's path, completed as far as possible.

    It is relative to `root`. Hidden folders are left out unless a dot is typed. A path
    that cannot be completed is returned unchanged.
    """
    head, slash, begun = text.rpartition("/")
    try:
        entries = list((root / Path(f"{head}{slash}" or ".").expanduser()).iterdir())
    except (OSError, RuntimeError):  # no such folder, or no such user after `~`
        return text
    names = [
        entry.name
        for entry in entries
        if entry.name.startswith(begun) and entry.is_dir()
    ]
    if not begun:
        names = [name for name in names if not name.startswith(".")]
    if not names:
        return text
    if len(names) == 1:
        return f"{head}{slash}{names[0]}/"
    pairs = zip(min(names), max(names), strict=False)
    shared = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
    return f"{head}{slash}{names[0][:shared]}"


async def ingest_folder(
    workspace: "Workspace", folder: str, report_event: Callable[[IngestEvent], None]
) -> list[str]:
    """Ingest `folder`, or the known folders if it is empty; return the report as lines.

    `folder` is relative to the library's folder; `~` is the home folder.

    Raises:
        NotFound: There is no such folder, or it holds no document.
        StoreProblem: The library cannot be written.
    """
    paths = _resolve_targets(workspace.library.root, folder)
    targets = await check_named_targets(workspace, select_targets(workspace, paths))
    report = await ingest_manuscript(workspace, targets, report_event)
    counts = await workspace.passages.counts(workspace.settings.pipeline)
    return [
        *describe_ingest_report(report, counts, workspace.settings),
        *(f"{describe_document_problem(p)}. {p.hint}" for p in report.problems),
        *report.remarks,
    ]


def _resolve_targets(root: Path, folder: str) -> list[Path]:
    return [root / Path(folder).expanduser()] if folder else []


def parse_diff_request(words: str) -> DiffRequest:
    """Return which states `words` name: the last ingest, a revision, or a time.

    Empty words are the last ingest, "last" is what that changed. One word is a git
    revision, or two as `a..b`, unless it is a day such as "yesterday"; several words
    are a time, as git reads it.
    """
    words = words.strip()
    if words.casefold() in {"", "last"}:
        return DiffRequest(last=bool(words))
    is_time = " " in words or words.casefold() in {"yesterday", "today"}
    return DiffRequest(since=words) if is_time else DiffRequest(words)


async def compare_manuscript(
    workspace: "Workspace", request: DiffRequest
) -> ManuscriptDiff:
    """Return what `lrwr diff` compares; the library is not changed.

    Raises:
        NotFound: No manuscript was ingested, or there is no such revision.
        SettingsProblem: The manuscript is outside the repository.
        LrwrError: git failed.
    """
    require_ingested(workspace)
    targets = resolve_manuscript(workspace)
    place = await asyncio.to_thread(partial(mkdtemp, prefix="lrwr-diff-"))
    delete = partial(shutil.rmtree, place, ignore_errors=True)
    # A thread of a cancelled comparison may write there until the end.
    atexit.register(delete)
    compared = await diff_manuscript(
        workspace, targets, request, Path(place), lambda _: None
    )
    await asyncio.to_thread(delete)
    atexit.unregister(delete)
    return compared
