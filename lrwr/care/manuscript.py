"""The manuscript, as far as a look without reading can tell."""

from collections.abc import Sequence
from pathlib import Path

from lrwr.care.findings import Finding, State, counted
from lrwr.pipeline.changes import Changes

PART = "manuscript"
INGEST = "Run `lrwr ingest`."


def check_folders(folders: Sequence[Path]) -> Finding | None:
    """Say what is wrong with where the manuscript should be; None when nothing is."""
    if not folders:
        detail = "lrwr does not know yet where it is."
        return Finding(PART, State.OFF, detail, "Run `lrwr ingest FOLDER`.")
    missing = [str(folder) for folder in folders if not folder.exists()]
    if missing:
        detail = f"Not there: {', '.join(missing)}. What was read of it is kept."
        remedy = "Bring it back, or run `lrwr ingest FOLDER` with where it is now."
        return Finding(PART, State.WARNING, detail, remedy)
    return None


def check_changes(folders: Sequence[Path], changes: Changes) -> Finding:
    """Say how far the library is behind the manuscript."""
    where = ", ".join(str(folder) for folder in folders)
    behind = [
        f"{len(documents):,} {said}"
        for documents, said in (
            (changes.changed, "new or changed"),
            (changes.stale, "read by other settings or another version"),
            (changes.gone, "gone"),
        )
        if documents
    ]
    if behind:
        detail = f"{where}: {', '.join(behind)} since the last ingestion."
        return Finding(PART, State.WARNING, detail, INGEST)
    known = counted(len(changes.unchanged), "document")
    return Finding(PART, State.OK, f"{where}: {known}, all as they were read.")
