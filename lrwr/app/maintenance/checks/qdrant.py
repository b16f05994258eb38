"""The check of the Qdrant server that stores vectors, if it is configured and
allowed.
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
)
from lrwr.app.presenters.text import format_count
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

_FALLBACK = "Until then, vectors are compared on this machine."
_REBUILD = "The next search creates it."


class EmbeddingSpace(Protocol):
    """The name of an embedding model's vector space, and the length of its vectors.

    Only vectors of one space can be compared.
    """

    @property
    def space(self) -> str:
        """The name of the space, which identifies the model and its version."""
        ...

    @property
    def dimensions(self) -> int:
        """The number of numbers in a vector."""
        ...


@dataclass(frozen=True, slots=True)
class ExpectedCollection:
    """The state that the library's collection on a Qdrant server should have.

    `mark` is a random text, stored there and here, which shows that this folder's
    library filled the collection. `epoch` is the name of the database's list of vector
    changes, `seq` the number of the last change in it, `vectors` the number of vectors.
    """

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
    """Compare the library's collection on the Qdrant server with the database.

    `model` is None if nothing is embedded. With `in_order` False (the database has
    problems), nothing is sent. Requests that leave this machine are recorded in the
    send log.
    """
    if model is None or not in_order:
        detail = "Qdrant is configured. It will be checked once passages are embedded."
        return HealthFinding(PART, HealthState.NOT_CHECKED, detail)
    try:
        connection = build_qdrant_connection(settings, env)
        async with open_workspace(settings) as workspace:
            refusal = workspace.egress.consent_refusal("qdrant")
            if refusal is not None or connection is None:
                detail = f"lrwr is not allowed to use Qdrant. {_FALLBACK}"
                remedy = refusal.full_text if refusal else ""
                return HealthFinding(PART, HealthState.WARNING, detail, remedy)
            return await _check_collection(settings, workspace, connection, model)
    except ServiceUnavailable as error:
        detail = f"{end_with_full_stop(str(error))} {_FALLBACK}"
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
    """Compare a collection on a Qdrant server with the `expected` state.

    `cursor` is its state, None if it does not exist; `vector_count` is its number of
    vectors. `server` is the subject of sentences, such as "Qdrant at HOST".
    """
    if cursor is None:
        detail = f"{server} answers, but has no collection for this library yet."
        return HealthFinding(PART, HealthState.OK, f"{detail} {_REBUILD}")
    if (cursor.mark, cursor.epoch) != (expected.mark, expected.epoch):
        detail = f"{server} answers; its collection is outdated. {_REBUILD}"
        return HealthFinding(PART, HealthState.OK, detail)
    pending_changes = expected.seq - cursor.seq
    if pending_changes > 0:
        detail = f"{server} answers; {format_count(pending_changes, 'change')} behind."
        return HealthFinding(
            PART, HealthState.OK, f"{detail} The next search updates it."
        )
    if vector_count != expected.vectors:
        detail = (
            f"{server} has {vector_count:,} vectors, the database {expected.vectors:,}."
        )
        return HealthFinding(PART, HealthState.BROKEN, detail, "Run `lrwr repair`.")
    detail = f"{server} answers; {format_count(vector_count, 'vector')}, matching the database."
    return HealthFinding(PART, HealthState.OK, detail)
