"""Records of a library in a Supabase project; its libraries and migrations.

The project is the source of truth, and a file on each machine replicates it. A record
is everything that one pipeline has stored of one document, as one JSON text. Every
change increments the library's version and is numbered with it, in the order of the
changes, so a replica that has applied all changes up to a version has missed none.
"""

import hashlib
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from importlib.resources import files

from lrwr.core.adapters.storage.supabase.rpc import (
    RpcJson,
    SupabaseRpc,
    encode_postgres_json,
)
from lrwr.core.adapters.storage.supabase.thread_api import (
    ModelReplyRow,
    SupabaseThreadApi,
)
from lrwr.core.model.codec import decode_value, encode_value
from lrwr.core.model.errors import NotFound, StoreProblem
from lrwr.core.model.jobs import JobClaim


@dataclass(frozen=True, slots=True)
class SupabaseRecord:
    """One record of a library: the rows of a document, its attribution, or the cast.

    `kind` is `document`, `woven` (attribution) or `cast`. `content` is the SHA-256 of
    the manuscript file, `digest` that of `body`, and `texts` are the hashes of the
    texts that have a vector in `space`. If `body` is None, the record is deleted and
    the rest empty.
    """

    kind: str
    key: str
    content: str
    digest: str
    body: str | None
    space: str = ""
    texts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PutResult:
    """Result of writing a record.

    `before` and `version` are the library's version before and after. Unless `done`
    nothing was written: the claim was `lost`, the vectors of the hashes in `missing`
    are not stored, another machine has written the record (`overtaken`), or the
    document has changed.
    """

    done: bool
    lost: bool
    version: int
    missing: tuple[str, ...] = ()
    before: int = 0
    overtaken: bool = False


@dataclass(frozen=True, slots=True)
class RecordPage:
    """A page of changed records in the order of their changes, as of one moment.

    With it a replica has all changes up to version `upto`. `version` is the version of
    the library and `spoken` its count of thread changes.
    """

    records: tuple[SupabaseRecord, ...]
    upto: int
    version: int
    spoken: int = 0


@dataclass(frozen=True, slots=True)
class RecordEntry:
    """A record without its body."""

    kind: str
    key: str
    content: str
    digest: str


@dataclass(frozen=True, slots=True)
class RecordManifest:
    """The library's version and all its records that are not deleted."""

    version: int
    entries: tuple[RecordEntry, ...]


@dataclass(frozen=True, slots=True)
class RemoteLibraryState:
    """The version of a library, and whether other replicas have changed it."""

    version: int
    others: bool


@dataclass(frozen=True, slots=True)
class RemoteLibrary:
    """A library of the account, as listed. `created_at` is in seconds since 1970.

    `documents` counts documents that any pipeline has processed.
    """

    id: str
    name: str
    version: int
    documents: int
    threads: int
    created_at: float


class SupabaseRecords:
    """Reads and writes records, vectors and cached model replies of one library.

    `writer` is the id of the local replica; it tells its own changes from those of
    others. Every method raises LrwrError if the project does not answer or refuses,
    NotFound if the account has no such library.
    """

    def __init__(self, rpc: SupabaseRpc, library: str, writer: str) -> None:
        self._rpc = rpc
        self._library = library
        self._writer = writer
        self.threads = SupabaseThreadApi(rpc, library)

    async def state(self, after: int) -> RemoteLibraryState:
        """Return the version, and whether other replicas changed it since `after`."""
        rpc_json = await self._call_existing("state", writer=self._writer, after=after)
        with self._rpc.decoding():
            return decode_value(rpc_json, RemoteLibraryState)

    async def put(
        self,
        record: SupabaseRecord,
        *,
        claim: JobClaim | None = None,
        if_content: str | None = None,
        if_digest: str | None = None,
    ) -> PutResult:
        """Write a record and complete the claimed job, atomically.

        An identical record is not written again. A record without a body deletes the
        stored one. Changing or deleting a document deletes its attribution. With
        `if_content` the record is written only if the document of the same key was made
        from that content. With `if_digest` it replaces only a record with that digest;
        an empty digest means that no record may exist.
        """
        rpc_json = await self._call_existing(
            "put_record",
            writer=self._writer,
            **encode_value(record),
            job=claim.job if claim else None,
            worker=claim.worker if claim else None,
            attempt=claim.attempt if claim else None,
            if_content=if_content,
            if_digest=if_digest,
        )
        with self._rpc.decoding():
            return decode_value(rpc_json, PutResult)

    async def manifest(self) -> RecordManifest:
        """Return all records without their bodies."""
        rpc_json = await self._call_existing("manifest")
        with self._rpc.decoding():
            entries = decode_value(rpc_json["records"], tuple[RecordEntry, ...])
            return RecordManifest(int(rpc_json["version"]), entries)

    async def changes(self, after: int, *, most: int = 1_000_000) -> RecordPage:
        """Return the records that changed after version `after`, as they are now.

        A page has at least one record, if any changed, and more while their bodies have
        at most `most` characters together.

        Raises:
            StoreProblem: A record does not match its digest.
        """
        rpc_json = await self._call_existing("changes", after=after, most=most)
        with self._rpc.decoding():
            page = decode_value(rpc_json, RecordPage)
        for record in page.records:
            _check_digest(record)
        return page

    async def missing(self, space: str, texts: Collection[str]) -> list[str]:
        """Return those text hashes of `texts` without a vector in `space`.

        The project stores the vectors of the others for at least a day from now.
        """
        rpc_json = await self._call("missing_vectors", space=space, texts=list(texts))
        with self._rpc.decoding():
            return [str(text) for text in rpc_json if text in texts]

    async def put_vectors(self, space: str, vectors: Mapping[str, bytes]) -> None:
        """Store vectors by text hash, as little-endian 32-bit floats.

        The project deletes them after a day unless a record refers to them.
        """
        if vectors:
            await self._call(
                "put_vectors",
                space=space,
                vectors=encode_postgres_json(encode_value(vectors)),
            )

    async def vectors(self, space: str, texts: Collection[str]) -> dict[str, bytes]:
        """Return the stored vectors of `texts`, as little-endian 32-bit floats."""
        rpc_json = await self._call("vectors", space=space, texts=list(texts))
        with self._rpc.decoding():
            return decode_value(rpc_json, dict[str, bytes])

    async def put_replies(self, replies: Collection[ModelReplyRow]) -> None:
        """Cache replies of models.

        Of two replies with the same key the later one stays.
        """
        if replies:
            rows = encode_postgres_json(encode_value(tuple(replies)))
            await self._call("put_replies", rows=rows)

    async def replies(self, keys: Collection[str]) -> list[ModelReplyRow]:
        """Return the cached replies among `keys`, ordered by key."""
        rpc_json = await self._call("replies", keys=list(keys))
        with self._rpc.decoding():
            return decode_value(rpc_json, list[ModelReplyRow])

    async def replies_after(self, after: str, limit: int) -> list[ModelReplyRow]:
        """Return the next `limit` cached replies with a key above `after`, by code point.

        Start with an empty `after`.
        """
        rpc_json = await self._call("replies_after", after=after, limit=max(0, limit))
        with self._rpc.decoding():
            return decode_value(rpc_json, list[ModelReplyRow])

    async def _call_existing(self, function: str, **arguments: RpcJson) -> RpcJson:
        rpc_json = await self._call(function, **arguments)
        if rpc_json is None:
            raise NotFound(
                "Your account has no such library in the project",
                hint="Run `lrwr login` to sign in with the account that owns it.",
            )
        return rpc_json

    async def _call(self, function: str, **arguments: RpcJson) -> RpcJson:
        return await self._rpc.call(function, library=self._library, **arguments)


async def list_remote_libraries(rpc: SupabaseRpc) -> list[RemoteLibrary]:
    """Return the libraries of the account, ordered by name."""
    rows = await rpc.call("libraries")
    with rpc.decoding():
        return decode_value(rows, list[RemoteLibrary])


async def list_applied_migrations(rpc: SupabaseRpc) -> frozenset[int]:
    """Return the numbers of those SQL scripts that the project has run."""
    numbers = await rpc.call("migrations")
    with rpc.decoding():
        return decode_value(numbers, frozenset[int])


async def create_remote_library(rpc: SupabaseRpc, name: str) -> str | None:
    """Create a library and return its id; None if the account has one of that name."""
    library_id = await rpc.call("new_library", name=name)
    return None if library_id is None else str(library_id)


async def delete_remote_library(rpc: SupabaseRpc, library: str) -> bool:
    """Delete a library with all its data; False if the account has no such library."""
    return bool(await rpc.call("delete_library", library=library))


def _check_digest(record: SupabaseRecord) -> None:
    if record.body is None:
        return
    body = record.body.encode("utf-8", "replace")
    if hashlib.sha256(body).hexdigest() != record.digest:
        raise StoreProblem(
            f"The project's record of {record.key} ({record.kind}) is damaged",
            hint="Run `lrwr ingest` for that document.",
        )


@dataclass(frozen=True, slots=True)
class SupabaseMigration:
    """An SQL script that the project's owner runs.

    Numbers start at 1; running twice is safe.
    """

    number: int
    name: str
    sql: str


def list_supabase_migrations() -> list[SupabaseMigration]:
    """Return the SQL scripts shipped with lrwr, in the order in which they must run."""
    folder = files("lrwr.core.adapters.storage.supabase") / "migrations"
    migrations = [
        SupabaseMigration(
            int(file.name[:3]), file.name, file.read_text(encoding="utf-8")
        )
        for file in folder.iterdir()
        if file.name.endswith(".sql")
    ]
    return sorted(migrations, key=lambda migration: migration.number)


def find_missing_migrations(run: Collection[int]) -> list[SupabaseMigration]:
    """Return the shipped scripts whose numbers are not in `run`, in order."""
    return [
        supabase_migration
        for supabase_migration in list_supabase_migrations()
        if supabase_migration.number not in run
    ]
