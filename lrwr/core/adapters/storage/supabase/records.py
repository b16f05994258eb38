"""What is known of a library's documents, as the project keeps it.

The project holds the truth and a file on each machine follows it. What travels is a
record: all that is known of one document by one pipeline, as one JSON text. Each change
counts the library's version up and is known by it, in the order in which changes were
made: who has read up to a version has missed none before it.
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
    """What is known of one document, was woven of it, or the cast.

    `kind` is `document`, `woven` or `cast`; `content` is the hash of what it was made
    from, `digest` the SHA-256 of `body`. A body that is None is gone, and the rest is
    empty then. `texts` are the hashes of what has a vector in `space`.
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
    """What became of a record.

    The library was at version `before`, and is at `version` since. Unless it is `done`
    nothing was written: the claim was `lost`, vectors are `missing`, or somebody wrote
    that record before, and this one was `overtaken`; or else what the record builds on
    has changed.
    """

    done: bool
    lost: bool
    version: int
    missing: tuple[str, ...] = ()
    before: int = 0
    overtaken: bool = False


@dataclass(frozen=True, slots=True)
class RecordPage:
    """Changes in their order, of one moment.

    Whoever has them has everything up to `upto`; the library was at `version`, and its
    conversations had been changed `spoken` times.
    """

    records: tuple[SupabaseRecord, ...]
    upto: int
    version: int
    spoken: int = 0


@dataclass(frozen=True, slots=True)
class RecordEntry:
    """A record without what it says."""

    kind: str
    key: str
    content: str
    digest: str


@dataclass(frozen=True, slots=True)
class RecordManifest:
    """All records that are not gone, by kind and key, of one moment."""

    version: int
    entries: tuple[RecordEntry, ...]


@dataclass(frozen=True, slots=True)
class RemoteLibraryState:
    """Where a library stands, and whether others have changed it since."""

    version: int
    others: bool


@dataclass(frozen=True, slots=True)
class RemoteLibrary:
    """A library as it is listed. `created_at` is in seconds since 1970, UTC.

    `documents` counts those of which something is known, by whichever pipeline.
    """

    id: str
    name: str
    version: int
    documents: int
    threads: int
    created_at: float


class SupabaseRecords:
    """Records, vectors and replies of one library.

    `writer` names the copy on this machine, so that its own changes are told from
    those of others. Every function raises NotFound where the account has no such
    library, if it has to know.
    """

    def __init__(self, hosted: SupabaseRpc, library: str, writer: str) -> None:
        self._hosted = hosted
        self._library = library
        self._writer = writer
        self.threads = SupabaseThreadApi(hosted, library)

    async def state(self, after: int) -> RemoteLibraryState:
        """Return the version, and whether others have changed anything `after` one."""
        rpc_json = await self._told("state", writer=self._writer, after=after)
        with self._hosted.reading():
            return decode_value(rpc_json, RemoteLibraryState)

    async def put(
        self,
        record: SupabaseRecord,
        *,
        claim: JobClaim | None = None,
        if_content: str | None = None,
        if_digest: str | None = None,
    ) -> PutResult:
        """Write a record and complete the claimed job, all or nothing.

        What is there already in every part is not written again. A record without a
        body is taken away. What was woven of a document goes with it, and when it
        changes. With `if_content` it is written only while the document of the same
        key is made from that content. With `if_digest` it takes the place of a record
        with that digest alone, or, if that is empty, of none.
        """
        rpc_json = await self._told(
            "put_record",
            writer=self._writer,
            **encode_value(record),
            job=claim.job if claim else None,
            worker=claim.worker if claim else None,
            attempt=claim.attempt if claim else None,
            if_content=if_content,
            if_digest=if_digest,
        )
        with self._hosted.reading():
            return decode_value(rpc_json, PutResult)

    async def manifest(self) -> RecordManifest:
        """Return what there is, without what it says."""
        rpc_json = await self._told("manifest")
        with self._hosted.reading():
            entries = decode_value(rpc_json["records"], tuple[RecordEntry, ...])
            return RecordManifest(int(rpc_json["version"]), entries)

    async def changes(self, after: int, *, most: int = 1_000_000) -> RecordPage:
        """Return what changed after a version, each record as it is now.

        At least one, if there is any, and then as many as have bodies of `most`
        characters together.

        Raises:
            StoreProblem: A record is not as it was written.
        """
        rpc_json = await self._told("changes", after=after, most=most)
        with self._hosted.reading():
            page = decode_value(rpc_json, RecordPage)
        for record in page.records:
            _check(record)
        return page

    async def missing(self, space: str, texts: Collection[str]) -> list[str]:
        """Return the hashes that have no vector; the others keep theirs for a day."""
        rpc_json = await self._call("missing_vectors", space=space, texts=list(texts))
        with self._hosted.reading():
            return [str(text) for text in rpc_json if text in texts]

    async def put_vectors(self, space: str, vectors: Mapping[str, bytes]) -> None:
        """Keep vectors by the hash of their text, as little-endian 32-bit floats.

        They stay for a day, and then as long as a record lists them.
        """
        if vectors:
            await self._call(
                "put_vectors",
                space=space,
                vectors=encode_postgres_json(encode_value(vectors)),
            )

    async def vectors(self, space: str, texts: Collection[str]) -> dict[str, bytes]:
        """Return those vectors that are kept, by the hash of their text."""
        rpc_json = await self._call("vectors", space=space, texts=list(texts))
        with self._hosted.reading():
            return decode_value(rpc_json, dict[str, bytes])

    async def put_replies(self, replies: Collection[ModelReplyRow]) -> None:
        """Keep models' replies; of two with the same key the one made later stays."""
        if replies:
            rows = encode_postgres_json(encode_value(tuple(replies)))
            await self._call("put_replies", rows=rows)

    async def replies(self, keys: Collection[str]) -> list[ModelReplyRow]:
        """Return those replies that are kept, by key."""
        rpc_json = await self._call("replies", keys=list(keys))
        with self._hosted.reading():
            return decode_value(rpc_json, list[ModelReplyRow])

    async def replies_after(self, after: str, limit: int) -> list[ModelReplyRow]:
        """Return the next replies by key, as code points order them; at first `""`."""
        rpc_json = await self._call("replies_after", after=after, limit=max(0, limit))
        with self._hosted.reading():
            return decode_value(rpc_json, list[ModelReplyRow])

    async def _told(self, function: str, **arguments: RpcJson) -> RpcJson:
        rpc_json = await self._call(function, **arguments)
        if rpc_json is None:
            raise NotFound(
                "The project has no such library of yours",
                hint="Sign in with the account that it belongs to: lrwr login",
            )
        return rpc_json

    async def _call(self, function: str, **arguments: RpcJson) -> RpcJson:
        return await self._hosted.call(function, library=self._library, **arguments)


async def list_remote_libraries(hosted: SupabaseRpc) -> list[RemoteLibrary]:
    """Return the account's libraries, by name."""
    rows = await hosted.call("libraries")
    with hosted.reading():
        return decode_value(rows, list[RemoteLibrary])


async def list_applied_migrations(hosted: SupabaseRpc) -> frozenset[int]:
    """Return the numbers of lrwr's SQL scripts that the project has run."""
    numbers = await hosted.call("migrations")
    with hosted.reading():
        return decode_value(numbers, frozenset[int])


async def create_remote_library(hosted: SupabaseRpc, name: str) -> str | None:
    """Make a library and return its id; None where the account has one of that name."""
    library_id = await hosted.call("new_library", name=name)
    return None if library_id is None else str(library_id)


async def delete_remote_library(hosted: SupabaseRpc, library: str) -> bool:
    """Delete a library with all that it holds; False where there is none."""
    return bool(await hosted.call("delete_library", library=library))


def _check(record: SupabaseRecord) -> None:
    if record.body is None:
        return
    body = record.body.encode("utf-8", "replace")
    if hashlib.sha256(body).hexdigest() != record.digest:
        raise StoreProblem(
            f"What the project keeps of {record.key} ({record.kind}) is damaged:"
            " it is not what was written",
            hint="Run `lrwr ingest` for that document again.",
        )


@dataclass(frozen=True, slots=True)
class SupabaseMigration:
    """One script, which the project's owner runs. `number` counts from 1."""

    number: int
    name: str
    sql: str


def list_supabase_migrations() -> list[SupabaseMigration]:
    """Return lrwr's scripts in the order in which they are run."""
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
    """Return the scripts that a project has not run, given the numbers of those it has.

    A later lrwr may have run more than this one knows.
    """
    return [
        supabase_migration
        for supabase_migration in list_supabase_migrations()
        if supabase_migration.number not in run
    ]
