"""The texts of documents as their files are now, where they differ from the library."""

import asyncio
from collections.abc import Collection, Mapping
from pathlib import Path

from lrwr.app.container import Workspace
from lrwr.core.adapters.source.parser import FORMATS_BY_SUFFIX, parse_layout
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.errors import UnreadableDocument
from lrwr.core.ports.stores import DocumentText
from lrwr.core.retrieval.freshness import find_changed_files


async def read_changed_texts(
    workspace: Workspace, documents: Collection[DocumentId]
) -> dict[DocumentId, DocumentText]:
    """Return the present texts of those of `documents` whose file has another text than
    the library.

    Files that are missing or cannot be read are left out.

    Raises:
        StoreProblem: The library cannot be read.
    """
    root, pipeline = workspace.library.root, workspace.settings.pipeline
    changed = await find_changed_files(workspace.versions, pipeline, root, documents)
    stored = await workspace.passages.texts(changed)
    return await asyncio.to_thread(_read_changed, root, stored)


def _read_changed(
    root: Path, stored: Mapping[DocumentId, DocumentText]
) -> dict[DocumentId, DocumentText]:
    changed = {}
    for document in sorted(stored):
        path = root / document
        kind = FORMATS_BY_SUFFIX.get(path.suffix.lower())
        if kind is None:
            continue
        try:
            layout = parse_layout(kind, path.read_bytes(), document)
        except (OSError, UnreadableDocument):
            continue
        if layout.text != stored[document].text:
            changed[document] = DocumentText(layout.text, layout.lines)
    return changed
