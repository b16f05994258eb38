"""What the next ingestion would do, without doing it: changed files and names."""

from dataclasses import dataclass

from lrwr.app.container import Workspace
from lrwr.app.ingestion import (
    IngestLimits,
    create_processing_service,
    create_story_attributor,
    select_targets,
)
from lrwr.core.canon.decision import NameDecision
from lrwr.core.model.documents import DocumentId
from lrwr.core.settings.consent import find_model_service
from lrwr.pipeline.service import DocumentProcessingService


@dataclass(frozen=True, slots=True)
class PendingCounts:
    """Numbers of documents that the next ingestion would process or delete (`changed`)
    and that have no file (`missing`); documents with git conflicts (`conflicted`).
    """

    changed: int = 0
    missing: int = 0
    conflicted: tuple[DocumentId, ...] = ()


async def count_pending(workspace: Workspace) -> PendingCounts:
    """Count what the next ingestion would do; zeros if nothing was ingested yet.

    Changed documents are new, changed or deleted, or were ingested with other settings.
    """
    folders = workspace.manuscript()
    if not workspace.is_ingested or not any(folder.exists() for folder in folders):
        return PendingCounts()
    changes = await create_scanning_service(workspace).compare()
    changed = len(changes.changed) + len(changes.stale) + len(changes.gone)
    return PendingCounts(changed, len(changes.missing), changes.conflicted)


def create_scanning_service(workspace: Workspace) -> DocumentProcessingService:
    """Return the service that compares the manuscript's folders with the library.

    No service is contacted. Documents of folders that do not exist count as missing.

    Raises:
        NotFound: No folder is known, or none exists.
        StoreProblem: The state folder cannot be created.
    """
    targets = select_targets(workspace, ())
    limits = IngestLimits(absent=targets.absent)
    return create_processing_service(
        workspace, targets.existing, may_ask=False, limits=limits
    )


async def has_pending_names(workspace: Workspace) -> bool:
    """Return whether a decision about names, or its undoing, waits for an ingestion.

    The cast is inferred again and compared with the stored one; nothing is stored and
    no service is contacted. False in pipeline a and for a library in a Supabase project.
    """
    embedded = workspace.settings.records.keeper == "embedded"
    attributor = create_story_attributor(workspace) if embedded else None
    history = workspace.canon.history()
    if attributor is None or not any(
        isinstance(record.decision, NameDecision) for record in history
    ):
        return False
    return await attributor.infer_cast() != await workspace.stories.cast()


def is_model_allowed(workspace: Workspace) -> bool:
    """Return whether the configured language model may be asked, or none is set."""
    service = find_model_service(workspace.settings)
    return workspace.egress.consent_refusal(service) is None
