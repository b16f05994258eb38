"""Records of a library in a Supabase project; its libraries and migrations.

The Supabase project is the source of truth, and a file on each machine replicates it. A
record is everything that one pipeline has stored of one document, as one JSON text.
Every change increments the library's version and is numbered with it, in the order of
the changes, so a replica that has applied all changes up to a version has missed none.
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

    `kind` is `document`, `woven` (the attribution: who speaks and appears) or `cast`.
    `key` identifies the record among those of its kind. `content` is the SHA-256 of the
    manuscript file, `digest` that of `body`, and `texts` are the hashes of the texts
    that have a vector in the embedding space `space`. If `body` is None, the record is
    deleted and the rest empty.
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
    """Result of writing a record; unless `done`, nothing was written.

    `before` and `version` are the library's version before and after. Reasons for not
    writing: the job's claim was `lost`, the vectors of the hashes in `missing` are not
    stored, another machine has written the record (`overtaken`), or, if none of these
    is set, the document has changed.
    """

    done: bool
    lost: bool
    version: int
    missing: tuple[str, ...] = ()
    before: int = 0
    overtaken: bool = False


@dataclass(frozen=True, slots=True)
class RecordPage:
    """Some of the changed records, in the order of their changes.

    A replica that applies them has all changes up to version `upto`. `version` is the
    version of the library, and `spoken` its count of thread changes, at that moment.
    """

    records: tuple[SupabaseRecord, ...]
    upto: int
    version: int
    spoken: int = 0


@dataclass(frozen=True, slots=True)
class RecordEntry:
    """A record without its body; the fields are those of `SupabaseRecord`."""

    kind: str
    key: str
    content: str
    digest: str


@dataclass(frozen=True, slots=True)
class RecordManifest:
    """The library's version, and entries of all its records that are not deleted."""

    version: int
    entries: tuple[RecordEntry, ...]


@dataclass(frozen=True, slots=True)
class RemoteLibraryState:
    """The version of a library, and whether `others`, that is other replicas, have
    changed it.
    """

    version: int
    others: bool


@dataclass(frozen=True, slots=True)
class RemoteLibrary:
    """A library of the account in the Supabase project.

    `version` counts its changes. `documents` counts documents that any pipeline has
    processed, `threads` the threads. `created_at` is in seconds since 1970.
    """

    id: str
    name: str
    version: int
    documents: int
    threads: int
    created_at: float


class SupabaseRecords:
    """Reads and writes records, vectors and cached model replies of one library.

    `library` is its id, `writer` the id of the local replica, by which the Supabase
    project tells the changes of different machines apart.
    """

    def __init__(self, rpc: SupabaseRpc, library: str, writer: str) -> None:
        self._rpc = rpc
        self._library = library
        self._writer = writer
        self.threads = SupabaseThreadApi(rpc, library)

    async def state(self, after: int) -> RemoteLibraryState:
        """Return the library's version, and whether other replicas changed it since
        version `after`.

        Raises:
            LrwrError: The Supabase project does not answer or refuses.
            NotFound: The account has no such library.
        """
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
        """Write a record, and complete the job of `claim`, atomically.

        An identical record is not written again. A record without a body deletes the
        stored one. Changing or deleting a document deletes its attribution. With
        `if_content`, the record is written only if the document with the same key was
        made from a file with that SHA-256. With `if_digest`, it replaces only a record
        with that digest; an empty digest means that no record may exist.

        Raises:
            LrwrError: The Supabase project does not answer or refuses.
            NotFound: The account has no such library.
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
        """Return the entries of all records that are not deleted, without their bodies.

        Raises:
            LrwrError: The Supabase project does not answer or refuses.
            NotFound: The account has no such library.
        """
        rpc_json = await self._call_existing("manifest")
        with self._rpc.decoding():
            entries = decode_value(rpc_json["records"], tuple[RecordEntry, ...])
            return RecordManifest(int(rpc_json["version"]), entries)

    async def changes(self, after: int, *, most: int = 1_000_000) -> RecordPage:
        """Return the records that changed after version `after`, in the order of their
        changes.

        They have their present content. A page has at least one record, if any changed,
        and more while their bodies have at most `most` characters together.

        Raises:
            LrwrError: The Supabase project does not answer or refuses.
            NotFound: The account has no such library.
            StoreProblem: A record does not match its digest.
        """
        rpc_json = await self._call_existing("changes", after=after, most=most)
        with self._rpc.decoding():
            page = decode_value(rpc_json, RecordPage)
        for record in page.records:
            _check_digest(record)
        return page

    async def missing(self, space: str, texts: Collection[str]) -> list[str]:
        """Return those of `texts`, which are text hashes, that have no vector in the
        embedding space `space`.

        The Supabase project stores the vectors of the others for at least a day from
        now.

        Raises:
            LrwrError: The Supabase project does not answer or refuses.
        """
        rpc_json = await self._call("missing_vectors", space=space, texts=list(texts))
        with self._rpc.decoding():
            return [str(text) for text in rpc_json if text in texts]

    async def put_vectors(self, space: str, vectors: Mapping[str, bytes]) -> None:
        """Store vectors of the embedding space `space`, by text hash.

        A vector is given as little-endian 32-bit floats. The Supabase project deletes
        it after a day unless a record refers to it.

        Raises:
            LrwrError: The Supabase project does not answer or refuses.
        """
        if vectors:
            await self._call(
                "put_vectors",
                space=space,
                vectors=encode_postgres_json(encode_value(vectors)),
            )

    async def vectors(self, space: str, texts: Collection[str]) -> dict[str, bytes]:
        """Return the stored vectors of `texts`, by text hash, as little-endian 32-bit
        floats.

        `texts` are text hashes; those without a vector in `space` are missing in the
        result.

        Raises:
            LrwrError: The Supabase project does not answer or refuses.
        """
        rpc_json = await self._call("vectors", space=space, texts=list(texts))
        with self._rpc.decoding():
            return decode_value(rpc_json, dict[str, bytes])

    async def put_replies(self, replies: Collection[ModelReplyRow]) -> None:
        """Store replies of language models in the library; of two with one key, the one
        made later stays.

        Raises:
            LrwrError: The Supabase project does not answer or refuses.
        """
        if replies:
            rows = encode_postgres_json(encode_value(tuple(replies)))
            await self._call("put_replies", rows=rows)

    async def replies(self, keys: Collection[str]) -> list[ModelReplyRow]:
        """Return the cached replies of language models with a cache key in `keys`,
        ordered by key.

        A cache key is a SHA-256 that identifies the request; keys without a reply are
        ignored.

        Raises:
            LrwrError: The Supabase project does not answer or refuses.
        """
        rpc_json = await self._call("replies", keys=list(keys))
        with self._rpc.decoding():
            return decode_value(rpc_json, list[ModelReplyRow])

    async def replies_after(self, after: str, limit: int) -> list[ModelReplyRow]:
        """Return the next `limit` cached replies with a key above `after`, ordered by
        key.

        Keys are compared by code points. Start with an empty `after`.

        Raises:
            LrwrError: The Supabase project does not answer or refuses.
        """
        rpc_json = await self._call("replies_after", after=after, limit=max(0, limit))
        with self._rpc.decoding():
            return decode_value(rpc_json, list[ModelReplyRow])

    async def _call_existing(self, function: str, **arguments: RpcJson) -> RpcJson:
        rpc_json = await self._call(function, **arguments)
        if rpc_json is None:
            raise NotFound(
                "The library of this folder is not in your account",
                hint="Run `lrwr login` to sign in with the account that owns it.",
            )
        return rpc_json

    async def _call(self, function: str, **arguments: RpcJson) -> RpcJson:
        return await self._rpc.call(function, library=self._library, **arguments)


async def list_remote_libraries(rpc: SupabaseRpc) -> list[RemoteLibrary]:
    """Return the libraries of the account in the Supabase project, ordered by name.

    Raises:
        LrwrError: The Supabase project does not answer or refuses.
    """
    rows = await rpc.call("libraries")
    with rpc.decoding():
        return decode_value(rows, list[RemoteLibrary])


async def list_applied_migrations(rpc: SupabaseRpc) -> frozenset[int]:
    """Return the numbers of lrwr's SQL scripts that the Supabase project has run.

    Raises:
        LrwrError: The Supabase project does not answer or refuses.
    """
    numbers = await rpc.call("migrations")
    with rpc.decoding():
        return decode_value(numbers, frozenset[int])


async def create_remote_library(rpc: SupabaseRpc, name: str) -> str | None:
    """Create a library called `name`, and return its id.

    None if the account has a library of that name already.

    Raises:
        LrwrError: The Supabase project does not answer or refuses.
    """
    library_id = await rpc.call("new_library", name=name)
    return None if library_id is None else str(library_id)


async def delete_remote_library(rpc: SupabaseRpc, library: str) -> bool:
    """Delete the library with this id and all its data; False if the account has none.

    Raises:
        LrwrError: The Supabase project does not answer or refuses.
    """
    return bool(await rpc.call("delete_library", library=library))


def _check_digest(record: SupabaseRecord) -> None:
    if record.body is None:
        return
    body = record.body.encode("utf-8", "replace")
    if hashlib.sha256(body).hexdigest() != record.digest:
        raise StoreProblem(
            f"The project's record of {record.key} ({record.kind}) is damaged",
            hint="Upload the library again from a machine that has it:"
            " `lrwr push --new --name NAME`.",
        )


_OPTIONAL_MIGRATIONS = frozenset({6, 7})


@dataclass(frozen=True, slots=True)
class SupabaseMigration:
    """An SQL script that the owner of a Supabase project runs there.

    Scripts are numbered from 1; running one twice is safe.
    """

    number: int
    name: str
    sql: str

    @property
    def is_required(self) -> bool:
        """Whether lrwr works only in a project that has run it.

        The others only withdraw rights.
        """
        return self.number not in _OPTIONAL_MIGRATIONS


def list_supabase_migrations() -> list[SupabaseMigration]:
    """Return the SQL scripts that come with lrwr, in the order in which they must
    run.
    """
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
    """Return lrwr's SQL scripts whose numbers are not in `run`, in the order of their
    numbers.
    """
    return [
        supabase_migration
        for supabase_migration in list_supabase_migrations()
        if supabase_migration.number not in run
    ]
