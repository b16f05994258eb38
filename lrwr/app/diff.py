"""Compares two states of the manuscript, each ingested into a copy of the library."""

import asyncio
import os
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from lrwr.app.container import Workspace, open_workspace
from lrwr.app.history import (
    PACKED_REMARK,
    PREVIOUS,
    EarlierSource,
    EarlierTexts,
    is_plain_text,
    parse_since,
)
from lrwr.app.ingestion import IngestLimits, create_processing_service
from lrwr.app.pending_changes import create_scanner
from lrwr.core.adapters.source.folder import FolderSource
from lrwr.core.adapters.source.git_revisions import (
    GitRepository,
    GitRevision,
    UnreadableFile,
)
from lrwr.core.adapters.storage.sqlite.maintenance import copy_library_for_dry_run
from lrwr.core.model.choices import Pipeline
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.errors import NotFound, SettingsProblem
from lrwr.core.ports.sources import ManuscriptFile, SourceListing
from lrwr.core.settings.library import Library, prepare_state_dir, resolve_library
from lrwr.pipeline.changes import describe_missing_documents
from lrwr.pipeline.diff import (
    StoryDiff,
    add_packed_texts,
    build_manuscript_state,
    diff_states,
)
from lrwr.pipeline.report import MODEL_SKIPPED_TEXT

if TYPE_CHECKING:
    from lrwr.core.bible.projection import StoryKnowledge
    from lrwr.core.ports.sources import ManuscriptSource
    from lrwr.core.settings.model import Settings
    from lrwr.pipeline.report import EmitIngestEvent, IngestReport

INGESTED = "last ingest"
WORKING_TREE = "now"
IGNORE_FILE = ".lrwrignore"


@dataclass(frozen=True, slots=True)
class DiffPoint:
    """A state of the manuscript: the last ingestion, the current files or a git commit.

    `name` is shown to the user. `commit` is the full hash of the git commit, empty for
    the other two.
    """

    name: str
    commit: str = ""


@dataclass(frozen=True, slots=True)
class SkippedDocument:
    """A document that is left out of the comparison; `reason` is text for the user."""

    document: DocumentId
    reason: str


@dataclass(frozen=True, slots=True)
class ManuscriptDiff:
    """The differences in story and text between two states, `before` and `after`.

    `documents` are the ids of all documents of either state, sorted. The documents in
    `left_out` were not compared, and neither were the `missing` ones: they have no file,
    but an ingestion would not delete them, because they are too many. `remarks` are
    sentences for the user that say what makes the comparison less reliable.
    """

    before: DiffPoint
    after: DiffPoint
    difference: StoryDiff
    documents: tuple[DocumentId, ...] = ()
    left_out: tuple[SkippedDocument, ...] = ()
    remarks: tuple[str, ...] = ()
    missing: tuple[DocumentId, ...] = ()


@dataclass(frozen=True, slots=True)
class DiffRequest:
    """The states to compare, as the user names them.

    `revision` is a git revision, or two as `a..b`; `since` selects a revision by time,
    as git reads it ("2 weeks ago"); without a repository, it selects the texts that
    ingestions have replaced since then. With `last`, the states are those before and
    after the last ingestion that changed something. If nothing is set, the state before
    is the last ingestion. The state after is the current files, unless two revisions
    are named.
    """

    revision: str | None = None
    since: str | None = None
    last: bool = False

    @property
    def of_git(self) -> bool:
        """Whether `revision` or `since` is set, so that a git repository is needed."""
        return self.revision is not None or self.since is not None


@dataclass(frozen=True, slots=True)
class _RevisionTree:
    """The manuscript files of a revision, and the documents that could not be written."""

    source: "ManuscriptSource"
    left: tuple[SkippedDocument, ...] = ()


@dataclass(frozen=True, slots=True)
class _RevisionCheckout:
    """Where revisions of the manuscript are written to: folders inside `place`."""

    library: Library
    targets: Sequence[Path]
    repository: GitRepository
    place: Path


@dataclass(frozen=True, slots=True)
class _LearnedState:
    known: "StoryKnowledge"
    left: tuple[SkippedDocument, ...] = ()
    remarks: tuple[str, ...] = ()
    missing: tuple[DocumentId, ...] = ()


async def diff_manuscript(
    workspace: Workspace,
    targets: Sequence[Path],
    request: DiffRequest,
    place: Path,
    emit: "EmitIngestEvent",
) -> ManuscriptDiff:
    """Compare two states of the manuscript at the absolute paths `targets`.

    Nothing is sent, and the library is not changed. Copies are made in `place`, an
    empty folder; delete it after the event loop was closed, because a thread of a
    cancelled comparison may still write there. `emit` receives the events of the
    ingestions.

    Raises:
        NotFound: There is no library, no repository or no such revision.
        SettingsProblem: The request is contradictory, or some of the manuscript is
            outside the repository.
        LrwrError: git failed.
    """
    settings, library = workspace.settings, workspace.library
    if not request.of_git:
        await workspace.require_text()
    texts = await _select_earlier_texts(workspace, targets, request)
    if texts is not None:
        return await _diff_earlier_texts(workspace, texts, request, place, emit)
    before, after, trees = (
        DiffPoint(INGESTED),
        DiffPoint(WORKING_TREE),
        dict[str, _RevisionTree](),
    )
    missing: tuple[DocumentId, ...] = ()
    away: frozenset[DocumentId] = frozenset()
    if request.of_git:
        repository = await _open_repository(library, targets)
        move = _RevisionCheckout(library, targets, repository, place)
        before, new = await _resolve_points(repository, request)
        after = new or after
        for commit in {before.commit, after.commit} - {""}:
            trees[commit] = await _write_tree(move, commit, settings)
        if new is None and workspace.is_ingested:
            missing = await _list_missing(workspace)
            away = (await _list_committed(move) if missing else away) & {*missing}
    async with open_library_copy(settings, library, place / "library") as copy:
        compared = await _compare(
            _ScratchLibrary(copy, targets, trees, emit), before, after, away
        )
    remarks = [describe_missing_documents(missing)] if missing else []
    return replace(compared, remarks=(*remarks, *compared.remarks))


async def _select_earlier_texts(
    workspace: Workspace, targets: Sequence[Path], request: DiffRequest
) -> Mapping[DocumentId, str | None] | None:
    """Return the texts that ingestions replaced, if `request` asks for these; else None."""
    if not request.last:
        if request.since is None:
            return None
        with suppress(NotFound):  # outside a repository, there are the earlier texts
            await _open_repository(workspace.library, targets)
            return None
    now = datetime.now().astimezone()
    since = None if request.since is None else parse_since(request.since, now)
    texts = await asyncio.to_thread(EarlierTexts(workspace.library).select, since)
    if not texts:
        raise NotFound(
            "No ingest has changed a text since the first one",
            hint="Run `lrwr diff` to compare the last ingest with the files now.",
        )
    return texts


async def _diff_earlier_texts(
    workspace: Workspace,
    texts: Mapping[DocumentId, str | None],
    request: DiffRequest,
    place: Path,
    emit: "EmitIngestEvent",
) -> ManuscriptDiff:
    """Compare the texts that ingestions replaced with those that they stored."""
    before = DiffPoint(f"before {request.since}" if request.since else PREVIOUS)
    async with open_library_copy(
        workspace.settings, workspace.library, place / "library"
    ) as copy:
        versions = await copy.stores.knowledge.document_versions(Pipeline.AGENTIC)
        trees = {"": _RevisionTree(EarlierSource(versions, texts))}
        scratch = _ScratchLibrary(copy, (), trees, emit)
        compared = await _compare(scratch, before, DiffPoint(INGESTED))
        packed = [document for document in texts if not is_plain_text(document)]
        now = await copy.passages.texts(packed)
    difference = add_packed_texts(compared.difference, texts, now)
    remarks = (*compared.remarks, *([PACKED_REMARK] if now else []))
    return replace(compared, difference=difference, remarks=remarks)


async def _list_missing(workspace: Workspace) -> tuple[DocumentId, ...]:
    """Return the documents of the library that have no file, if they are so many that
    an ingestion would not delete them.
    """
    with suppress(NotFound):  # no recorded folder says which files should be there
        return (await create_scanner(workspace).compare()).missing
    return ()


async def _list_committed(move: _RevisionCheckout) -> frozenset[DocumentId]:
    """Return the documents that HEAD has: without a file they were not deleted in git,
    so they are missing by accident.
    """
    head = await move.repository.revision("HEAD")
    top, root = move.repository.top, move.library.root
    inside = [PurePosixPath(t.relative_to(top).as_posix()) for t in move.targets]
    paths = await move.repository.list_files(head.commit, inside)
    relative_paths = await asyncio.to_thread(
        lambda: [os.path.relpath(top / path, root) for path in paths]
    )
    return frozenset(DocumentId(Path(path).as_posix()) for path in relative_paths)


class _ScratchLibrary:
    """A copy of the library that is updated from one state to the other."""

    def __init__(
        self,
        workspace: Workspace,
        targets: Sequence[Path],
        trees: dict[str, _RevisionTree],
        emit: "EmitIngestEvent",
    ) -> None:
        self._workspace = workspace
        self._targets = targets
        self._trees = trees
        self._emit = emit

    async def learn(self, point: DiffPoint) -> _LearnedState:
        """Bring the copy to a state, and return the story data of that state."""
        if point == DiffPoint(INGESTED):
            counts = await self._workspace.passages.counts(Pipeline.AGENTIC)
            if not counts.documents:
                raise NotFound(
                    "This library has no story data to compare",
                    hint="Run `lrwr ingest --pipeline b` first.",
                )
            return _LearnedState(await self._workspace.bible().knowledge())
        tree = self._trees.get(point.commit)
        limits = IngestLimits(
            attribute_now=False,
            vectors=False,
            source=tree.source if tree else None,
            # A revision may have few of the files; that is what is compared.
            forget_missing=bool(self._trees),
        )
        service = create_processing_service(
            self._workspace, self._targets, may_ask=False, limits=limits
        )
        report = await service.process(self._emit)
        skipped = [
            SkippedDocument(problem.document, problem.message)
            for problem in report.problems
        ]
        skipped += tree.left if tree else ()
        knowledge = await self._workspace.bible().knowledge()
        remarks = _remarks(report, point)
        return _LearnedState(knowledge, tuple(skipped), remarks, report.missing)


async def _compare(
    bench: _ScratchLibrary,
    before: DiffPoint,
    after: DiffPoint,
    away: Collection[DocumentId] = (),
) -> ManuscriptDiff:
    """Return the differences of two states, without those of the documents `away`."""
    # The later state is closer to the library, so ingesting it first is cheaper. The
    # earlier one then only needs the documents that differ between the two.
    if before == DiffPoint(INGESTED):
        old = await bench.learn(before)
        new = await bench.learn(after)
    else:
        new = await bench.learn(after)
        old = await bench.learn(before)
    skipped = tuple({skip.document: skip for skip in (*old.left, *new.left)}.values())
    skipped_ids = {*(skip.document for skip in skipped), *away}
    old_state = await asyncio.to_thread(build_manuscript_state, old.known, skipped_ids)
    new_state = await asyncio.to_thread(build_manuscript_state, new.known, skipped_ids)
    difference = await asyncio.to_thread(diff_states, old_state, new_state)
    return ManuscriptDiff(
        before=before,
        after=after,
        difference=difference,
        documents=tuple(sorted({*old.known.texts, *new.known.texts})),
        left_out=skipped,
        remarks=(*old.remarks, *new.remarks),
        missing=(*old.missing, *new.missing, *sorted(away)),
    )


def _remarks(report: "IngestReport", point: DiffPoint) -> tuple[str, ...]:
    remarks = []
    if report.missing:
        remarks.append(describe_missing_documents(report.missing))
    if any(remark.startswith(MODEL_SKIPPED_TEXT) for remark in report.remarks):
        remarks.append(
            f"The language model has not analysed all of {point.name}, so some"
            " differences may be wrong."
        )
    return tuple(remarks)


@asynccontextmanager
async def open_library_copy(
    settings: "Settings", library: Library, state: Path
) -> AsyncIterator[Workspace]:
    """Yield a workspace over a temporary copy of the library, with the same canon."""
    passing = replace(
        settings,
        state_dir=str(state),
        pipeline=Pipeline.AGENTIC,
        records=replace(settings.records, keeper="embedded"),
    )
    copied = resolve_library(passing)
    prepare_state_dir(copied)
    if library.database.exists():
        await asyncio.to_thread(
            copy_library_for_dry_run, library.database, copied.database
        )
    async with open_workspace(passing) as workspace:
        yield workspace


async def _open_repository(library: Library, targets: Sequence[Path]) -> GitRepository:
    first = targets[0]
    folder = first if first.is_dir() else first.parent
    repository = await GitRepository.around(folder)
    for target in targets:
        if not target.is_relative_to(repository.top):
            raise SettingsProblem(
                f"{library.name_of(target)} is outside the repository {repository.top}",
                hint="Compare with the last ingest (`lrwr diff`), or move the whole"
                " manuscript into one repository.",
            )
    return repository


async def _resolve_points(
    repository: GitRepository, request: DiffRequest
) -> tuple[DiffPoint, DiffPoint | None]:
    if request.since is not None:
        if request.revision is not None:
            raise SettingsProblem(
                "A revision and `--since` cannot be combined",
                hint="Use one of them.",
            )
        return _to_point(await repository.before(request.since)), None
    first_revision, dots, second_revision = (request.revision or "").partition("..")
    if second_revision.startswith("."):
        raise SettingsProblem(
            "`...` between revisions is not supported", hint="Write REV1..REV2."
        )
    old = _to_point(
        await repository.revision(
            first_revision if first_revision or not dots else "HEAD"
        )
    )
    if not dots:
        return old, None
    return old, _to_point(await repository.revision(second_revision or "HEAD"))


def _to_point(revision: GitRevision) -> DiffPoint:
    return DiffPoint(revision.name, revision.commit)


async def _write_tree(
    move: _RevisionCheckout, commit: str, settings: "Settings"
) -> _RevisionTree:
    """Write the manuscript of a revision, with today's exclusions, into a folder."""
    destination, top, library = move.place / commit, move.repository.top, move.library
    # Document ids are paths relative to the library's folder, which may be inside the
    # repository or contain it: so their common parent is reproduced.
    shared = Path(os.path.commonpath([library.root, top]))
    relative_targets = [
        PurePosixPath(t.relative_to(top).as_posix()) for t in move.targets
    ]
    tree_root = destination / top.relative_to(shared)
    await asyncio.to_thread(tree_root.mkdir, parents=True)
    unread = await move.repository.write_out(commit, relative_targets, tree_root)
    moved = [destination / target.relative_to(shared) for target in move.targets]
    for target, copy in zip(move.targets, moved, strict=True):
        await asyncio.to_thread(_prepare_folder, target, copy)

    def to_skipped_document(unreadable_file: UnreadableFile) -> SkippedDocument:
        path = os.path.relpath(top / unreadable_file.path, library.root)
        return SkippedDocument(
            DocumentId(Path(path).as_posix()), unreadable_file.reason
        )

    root = destination / library.root.relative_to(shared)
    existing = [target for target in moved if target.exists()]
    absent = [target for target in moved if not target.exists()]
    source = FolderSource(root, existing, settings.manuscript.exclude, absent)
    return _RevisionTree(source, tuple(map(to_skipped_document, unread)))


def _prepare_folder(target: Path, moved: Path) -> None:
    """Create a folder that the revision may not have, with today's ignore file."""
    if not target.is_dir():
        return
    moved.mkdir(parents=True, exist_ok=True)
    patterns = target / IGNORE_FILE
    if patterns.is_file() and not patterns.is_symlink():
        (moved / IGNORE_FILE).write_bytes(patterns.read_bytes())


class OverlaySource:
    """A manuscript with one file added or replaced; keeps `ManuscriptSource`.

    `content` takes the place of the file `document` of `base`.
    """

    def __init__(
        self, base: "ManuscriptSource", document: DocumentId, content: bytes
    ) -> None:
        self._base = base
        self._document = document
        self._content = content

    async def list(self) -> SourceListing:
        """Return the files of `base` with the added one, and the skipped files.

        Raises:
            NotFound: A folder does not exist.
            SettingsProblem: An exclude pattern is invalid.
        """
        listing = await self._base.list()
        others = [file for file in listing.found if file.id != self._document]
        files = sorted((*others, self._file()), key=lambda file: file.id)
        return replace(listing, found=tuple(files))

    def covers(self, document: DocumentId) -> bool:
        """Return whether `document`, if it is not listed, has been deleted."""
        return document == self._document or self._base.covers(document)

    async def read(self, document: DocumentId) -> tuple[bytes, str]:
        """Return the bytes of a file, and their revision.

        Raises:
            NotFound: The file no longer exists.
            UnreadableDocument: The file cannot be read.
        """
        if document == self._document:
            return self._content, self._file().revision
        return await self._base.read(document)

    def _file(self) -> ManuscriptFile:
        return ManuscriptFile(self._document, f"draft {hash(self._content)}")
