"""The Qdrant server that keeps vectors: whether it answers, and holds what it should.

It is asked only where a setting turned it on, and the writer has allowed it.
"""

from collections.abc import Mapping
from contextlib import aclosing
from dataclasses import dataclass
from typing import Protocol

from lrwr.app.container import Workspace, open_workspace
from lrwr.app.maintenance.check_result import (
    HealthFinding,
    HealthState,
    end_with_full_stop,
    finding_from_error,
    pluralize,
)
from lrwr.core.adapters.storage.sqlite.maintenance import inspect_change_feed
from lrwr.core.adapters.storage.sqlite.passage_store import SqliteChangeFeed
from lrwr.core.adapters.vectors.qdrant_collection import QdrantCollection
from lrwr.core.adapters.vectors.qdrant_http import (
    QdrantConnection,
    QdrantCursor,
    QdrantHttpClient,
    build_collection_name,
    build_library_key,
    build_qdrant_connection,
    read_local_mark,
)
from lrwr.core.model.errors import LrwrError, ServiceUnavailable
from lrwr.core.settings.model import Settings

PART = "vector index"

_MEANWHILE = "Vectors are compared on this machine meanwhile."
_ANEW = "The next search makes it anew."


class EmbeddingSpace(Protocol):
    """An embedding space, and how many numbers its vectors have."""

    @property
    def space(self) -> str:
        """Its name."""
        ...

    @property
    def dimensions(self) -> int:
        """How many."""
        ...


@dataclass(frozen=True, slots=True)
class ExpectedCollection:
    """What a collection should bear and hold: see `QdrantCursor`."""

    mark: str
    epoch: str
    seq: int
    vectors: int


async def check_qdrant(
    settings: Settings,
    env: Mapping[str, str],
    model: EmbeddingSpace | None,
    *,
    in_order: bool,
) -> HealthFinding:
    """Ask the server how far the library's collection has come.

    `model` is None where nothing is embedded. `in_order` says whether the database can
    be read: without it nothing is asked. What leaves this machine is noted.
    """
    if model is None or not in_order:
        detail = "Qdrant is set; it is asked once passages are embedded."
        return HealthFinding(PART, HealthState.NOT_CHECKED, detail)
    try:
        connection = build_qdrant_connection(settings, env)
        async with open_workspace(settings) as workspace:
            refusal = workspace.egress.consent_refusal("qdrant")
            if refusal is not None or connection is None:
                detail = f"Qdrant is not asked. {_MEANWHILE}"
                remedy = refusal.full_text if refusal else ""
                return HealthFinding(PART, HealthState.WARNING, detail, remedy)
            return await _check_collection(settings, workspace, connection, model)
    except ServiceUnavailable as error:
        detail = f"{end_with_full_stop(str(error))} {_MEANWHILE}"
        return HealthFinding(PART, HealthState.WARNING, detail, error.hint)
    except LrwrError as error:
        return finding_from_error(PART, error)


async def _check_collection(
    settings: Settings,
    workspace: Workspace,
    connection: QdrantConnection,
    model: EmbeddingSpace,
) -> HealthFinding:
    pipeline, library = settings.pipeline, workspace.library
    egress = workspace.egress
    feed = SqliteChangeFeed(egress.database)
    library_key = build_library_key(library.root, await feed.library())
    wire = QdrantHttpClient(
        connection, request_logger=None if connection.own else egress.request_logger
    )
    name = build_collection_name(library_key, pipeline, model.space)
    async with aclosing(QdrantCollection(wire, name, model.dimensions)) as collection:
        cursor = await collection.cursor()
        vector_count = await collection.count() if cursor else 0
    facts = inspect_change_feed(library.database, pipeline, model.space)
    expected = ExpectedCollection(
        read_local_mark(library.index_dir, name), facts.epoch, facts.seq, facts.vectors
    )
    return describe_collection(
        f"Qdrant at {connection.host}", cursor, vector_count, expected
    )


def describe_collection(
    server: str,
    cursor: QdrantCursor | None,
    vector_count: int,
    expected: ExpectedCollection,
) -> HealthFinding:
    """Say whether a collection that holds so many vectors is as it should be."""
    if cursor is None:
        detail = f"{server} answers, and has no collection of this library yet."
        return HealthFinding(PART, HealthState.OK, f"{detail} {_ANEW}")
    if (cursor.mark, cursor.epoch) != (expected.mark, expected.epoch):
        detail = f"{server} answers; its collection is outdated. {_ANEW}"
        return HealthFinding(PART, HealthState.OK, detail)
    pending_changes = expected.seq - cursor.seq
    if pending_changes > 0:
        detail = f"{server} answers; {pluralize(pending_changes, 'change')} behind."
        return HealthFinding(
            PART, HealthState.OK, f"{detail} The next search catches up."
        )
    if vector_count != expected.vectors:
        detail = f"{server} holds {vector_count:,} vectors, the records {expected.vectors:,}."
        return HealthFinding(PART, HealthState.BROKEN, detail, "Run `lrwr repair`.")
    detail = (
        f"{server} answers; {pluralize(vector_count, 'vector')}, as the records say."
    )
    return HealthFinding(PART, HealthState.OK, detail)
