"""What the next ingestion would do, without doing it: changed files and names.

Imports nothing that processes documents, unless a language model or a decision about
names needs it, so that `lrwr status` starts fast.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from lrwr.app.container import Workspace
from lrwr.core.adapters.source.folder import FolderSource
from lrwr.core.adapters.source.parser import ManuscriptParser
from lrwr.core.canon.decision import NameDecision
from lrwr.core.canon.model import normalize_canon_path
from lrwr.core.model.choices import Pipeline
from lrwr.core.model.documents import DocumentId, DocumentOutline, DocumentType
from lrwr.core.model.errors import NotFound, SettingsProblem
from lrwr.core.model.facts import RULES_REVISION
from lrwr.core.model.jobs import STOPPED_ERROR, JobState
from lrwr.core.settings.consent import find_model_service
from lrwr.core.settings.library import (
    MOVED_HINT,
    prepare_state_dir,
    resolve_targets,
)
from lrwr.pipeline.scan import (
    ManuscriptScanner,
    build_agentic_recipe_name,
    build_naive_recipe_name,
    find_identical_documents,
)

MAX_JOBS = 2_000
"""Maximum number of jobs that are read to find failed ones."""


@dataclass(frozen=True, slots=True)
class IngestTargets:
    """The files and folders of an ingestion, as absolute paths.

    `existing` ones are read. `absent` ones belong to the manuscript but do not exist.
    `named` says whether the user named the existing ones, as arguments.
    """

    existing: tuple[Path, ...]
    absent: tuple[Path, ...] = ()
    named: bool = False


def select_targets(
    workspace: Workspace, paths: Sequence[Path], *, forget_missing: bool = False
) -> IngestTargets:
    """Return what to ingest: `paths`, or the manuscript's folders if there are none.

    With `forget_missing`, all folders of the manuscript may be absent.

    Raises:
        NotFound: No folder is known, one of `paths` does not exist, or no folder of the
            manuscript does.
    """
    folders = workspace.manuscript(named=bool(paths))
    absent = tuple(folder for folder in folders if not folder.exists())
    if paths:
        return IngestTargets(tuple(resolve_targets(paths, folders)), absent, named=True)
    existing = tuple(folder for folder in folders if folder.exists())
    if not existing and not (absent and forget_missing):
        if absent:
            raise NotFound(f"There is no file or folder {absent[0]}", hint=MOVED_HINT)
        if workspace.is_ingested:
            raise NotFound(
                "The library remembers no manuscript folder any more",
                hint="Run `lrwr ingest FOLDER` with the folder of your chapters.",
            )
        resolve_targets(())
    return IngestTargets(existing, absent)


@dataclass(frozen=True, slots=True)
class PendingCounts:
    """Numbers of documents by what the next ingestion would do with them.

    `total` documents have a file, and some text of `stored` of these is in the library.
    `unread` of them are new or have another content; `unreadable` ones, too, but the
    last attempt to read them failed. `stale` ones have the same content as before, but
    must be analysed again because of other settings or another version of lrwr. `gone`
    ones have no file and are deleted; `missing` ones are kept, because they are too
    many. `conflicted` are those with git conflicts.
    """

    unread: int = 0
    stale: int = 0
    gone: int = 0
    unreadable: int = 0
    missing: int = 0
    conflicted: tuple[DocumentId, ...] = ()
    total: int = 0
    stored: int = 0

    @property
    def changed(self) -> int:
        """How many documents the next ingestion would process or delete."""
        return self.unread + self.stale + self.gone


async def count_pending(workspace: Workspace) -> PendingCounts:
    """Count what the next ingestion would do; zeros if nothing was ingested yet."""
    folders = workspace.manuscript()
    if not workspace.is_ingested or not any(folder.exists() for folder in folders):
        return PendingCounts()
    changes = await create_scanner(workspace).compare()
    pipeline = workspace.settings.pipeline
    versions = await workspace.stores.knowledge.document_versions(pipeline)
    groups = changes.changed, changes.stale, changes.unchanged, changes.conflicted
    files = {document for group in groups for document in group}
    unreadable = await count_unreadable(workspace, changes.changed)
    return PendingCounts(
        unread=len(changes.changed) - unreadable,
        stale=len(changes.stale),
        gone=len(changes.gone),
        unreadable=unreadable,
        missing=len(changes.missing),
        conflicted=changes.conflicted,
        total=len(files),
        stored=len(files.intersection(version.id for version in versions)),
    )


async def count_unreadable(
    workspace: Workspace, changed: Collection[DocumentId]
) -> int:
    """Return how many `changed` documents failed and were not saved since."""
    if not changed:
        return 0
    jobs = await workspace.jobs.jobs(limit=MAX_JOBS, state=JobState.FAILED)
    failed_at: dict[DocumentId, float] = {}
    for job in jobs:  # newest first
        if job.error != STOPPED_ERROR:
            failed_at.setdefault(job.order.document, job.updated)
    files = {document: workspace.library.resolve(document) for document in changed}
    return sum(
        document in failed_at
        and file.exists()
        and file.stat().st_mtime <= failed_at[document]
        for document, file in files.items()
    )


def create_scanner(workspace: Workspace) -> ManuscriptScanner:
    """Return what compares the manuscript's folders with the library.

    No service is contacted. Documents of folders that do not exist count as missing.

    Raises:
        NotFound: No folder is known, or none exists.
        StoreProblem: The state folder cannot be created.
    """
    targets = select_targets(workspace, ())
    prepare_state_dir(workspace.library)
    find_type = load_type_decisions(workspace)
    root, exclude = workspace.library.root, workspace.settings.manuscript.exclude
    recipe = f"{ManuscriptParser().revision()}/{_name_recipe(workspace)}"
    return ManuscriptScanner(
        FolderSource(root, targets.existing, exclude, targets.absent),
        workspace.stores.knowledge,
        workspace.settings.pipeline,
        lambda: recipe,
        complete=may_complete(workspace),
        decision_of=lambda document: find_type(document) or "",
    )


async def load_identical_documents(
    workspace: Workspace, outlines: Sequence[DocumentOutline]
) -> list[tuple[DocumentId, ...]]:
    """Return the groups of stored documents with the same text; see
    `find_identical_documents`.
    """
    pipeline = workspace.settings.pipeline
    versions = await workspace.stores.knowledge.document_versions(pipeline)
    return find_identical_documents(outlines, versions)


def may_complete(workspace: Workspace) -> bool:
    """Return whether documents that an earlier run left unfinished can be finished.

    Those that only wait for a language model cannot, while it may not be asked.
    """
    model = workspace.settings.embedding.model
    return is_model_allowed(workspace) or model in ("openai", "server", "fastembed")


def _name_recipe(workspace: Workspace) -> str:
    """Return the name of the configured recipe, as `Recipe.name` does."""
    settings, embedder = workspace.settings, workspace.embedders.configured
    chunk = settings.chunk
    if settings.pipeline is Pipeline.NAIVE:
        return build_naive_recipe_name(chunk.size, chunk.overlap, embedder)
    model = ""
    if settings.model.use != "off":
        model = _import_ingestion().name_model_analysis(workspace)
    return build_agentic_recipe_name(
        chunk.smallest, chunk.largest, RULES_REVISION, model, embedder
    )


def _import_ingestion() -> Any:
    """Import the module that processes documents, which takes as long as the rest."""
    return import_module("lrwr.app.ingestion")


def load_type_decisions(
    workspace: Workspace,
) -> Callable[[DocumentId], DocumentType | None]:
    """Return a function that returns the type that the user decided for a document.

    If `lrwr.canon.toml` is invalid, there are no decisions: the attribution of speakers
    reports the error.
    """
    try:
        types = workspace.canon_file.load().types
    except SettingsProblem:
        types = {}
    return lambda document: types.get(normalize_canon_path(document))


async def has_pending_names(workspace: Workspace) -> bool:
    """Return whether a decision about names, or its undoing, waits for an ingestion.

    If anything changed since the last attribution, the cast is inferred again and
    compared with the stored one; nothing is stored and no service is contacted. False in pipeline a and for a library in a Supabase project.
    """
    settings = workspace.settings
    if settings.records.keeper != "embedded" or settings.pipeline is Pipeline.NAIVE:
        return False
    history = workspace.canon.history()
    if not any(isinstance(record.decision, NameDecision) for record in history):
        return False
    attributor = _import_ingestion().create_story_attributor(workspace)
    cast = await attributor.infer_cast()
    return cast is not None and bool(cast != await workspace.stories.cast())


def is_model_allowed(workspace: Workspace) -> bool:
    """Return whether the configured language model may be asked, or none is set."""
    service = find_model_service(workspace.settings)
    return workspace.consent_refusal(service) is None
