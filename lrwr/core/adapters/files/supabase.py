"""Manuscript files in Supabase Storage, in a bucket that only their owner can read."""

import asyncio
import json
from collections.abc import Collection, Mapping
from contextlib import AsyncExitStack, aclosing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from lrwr.core.adapters.auth.project import (
    RETRY_HINT,
    SupabaseConnection,
    build_supabase_headers,
    open_supabase_http,
    translate_supabase_error,
    translate_supabase_status,
)
from lrwr.core.adapters.files.folder import hash_file_content, is_stored_file_name
from lrwr.core.adapters.http.egress_log import EgressLogEntry, EgressLogger
from lrwr.core.adapters.storage.supabase.rpc import AccessTokenProvider
from lrwr.core.model.egress import OutboundRequest, RequestPurpose
from lrwr.core.model.errors import (
    LrwrError,
    NotFound,
    ServiceUnavailable,
    StoreProblem,
)
from lrwr.core.model.untrusted_text import parse_json

if TYPE_CHECKING:
    from httpx import AsyncClient, Request


StorageJson = Any
"""Any JSON value."""
_MB = 1_000_000

# Storage reports most errors with status 400 and names them in the body.
_FILE_MISSING = frozenset({"NoSuchKey", "not_found"})
_BUCKET_MISSING = frozenset({"NoSuchBucket", "Bucket not found"})
_SESSION_INVALID = frozenset(
    {"InvalidJWT", "InvalidSignature", "ExpiredToken", "SignatureDoesNotMatch"}
)
_CONFLICT_STATUSES = frozenset({409, 423})
"""Statuses that mean that another request is changing the same file."""


class SupabaseStorageClient:
    """HTTP client for the Storage of a Supabase project; it repeats no failed request.

    `token` returns the access token of the account. With a `request_logger`, each
    request is recorded in the send log before it is sent.
    """

    def __init__(
        self,
        project: SupabaseConnection,
        token: AccessTokenProvider,
        request_logger: EgressLogger | None = None,
    ) -> None:
        self._project = project
        self._token = token
        self._request_logger = request_logger
        self._client: AsyncClient | None = None
        self._opening = asyncio.Lock()
        self._stack = AsyncExitStack()

    async def request(
        self, method: str, path: str, body: bytes, headers: Mapping[str, str]
    ) -> bytes:
        """Send a request to Storage and return the body of the response.

        `method` is the HTTP method; `path` follows `/storage/v1/object/` in the URL.
        Headers with the key and the access token are added to `headers`.

        Raises:
            NotFound: The file does not exist or belongs to another account.
            LrwrError: No account is signed in, or it is not allowed to do this.
            StoreProblem: The Supabase project lacks lrwr's bucket, or the file is too
                large for it.
            ServiceUnavailable: The Supabase project did not answer in time, or failed.
        """
        token = await self._token()
        client = await self._get_client()
        request = _request(client, self._project, method, path, body)
        request.headers.update({**headers, "Authorization": f"Bearer {token}"})
        about = OutboundRequest("supabase", self._project.host, RequestPurpose.FILES)
        async with aclosing(EgressLogEntry(self._request_logger, about)) as note:
            if self._request_logger is not None:
                await note.record_request(len(body))
            status, content = await self._send(client, request)
            note.record_response(
                ok=status == 200, is_complete=True, received=lambda: len(content)
            )
        if status != 200:
            raise _translate_error(status, content, self._project, len(body))
        return content

    async def _send(
        self, client: "AsyncClient", request: "Request"
    ) -> tuple[int, bytes]:
        """Send the request and return status and body."""
        try:
            response = await client.send(request)
        except Exception as error:  # the client raises exceptions of its libraries
            raise translate_supabase_error(error, self._project) from error
        return response.status_code, response.content

    async def aclose(self) -> None:
        """Close all connections. Idempotent."""
        await self._stack.aclose()
        self._client = None

    def build_response_error(self) -> LrwrError:
        """Return the error for a response that Supabase Storage cannot have sent."""
        return translate_supabase_status(0, self._project)

    async def _get_client(self) -> "AsyncClient":
        async with self._opening:
            if self._client is None:
                self._client = await asyncio.to_thread(
                    open_supabase_http, self._project
                )
                self._stack.push_async_callback(self._client.aclose)
            return self._client


def parse_storage_json(body: bytes) -> StorageJson:
    """Return the JSON value in a response body; None if it is not JSON."""
    try:
        return parse_json(body)
    except ValueError:
        return None


def build_missing_file_error(project: SupabaseConnection) -> NotFound:
    """Return the error for a file that is not in the Supabase project."""
    return NotFound(
        f"The file is not in your library at {project.host}",
        hint="Run `lrwr push` in the manuscript's folder to upload it.",
    )


def _request(
    client: "AsyncClient",
    project: SupabaseConnection,
    method: str,
    path: str,
    body: bytes,
) -> "Request":
    return client.build_request(
        method,
        f"{project.url}/storage/v1/object/{quote(path)}",
        content=body,
        headers={**build_supabase_headers(project), "Accept-Encoding": "identity"},
    )


@dataclass(frozen=True, slots=True)
class _StorageErrorBody:
    """An error as Storage reports it: HTTP status and the names of the error."""

    status: int
    kinds: frozenset[str]


def _parse_error_body(status: int, body: bytes) -> _StorageErrorBody:
    storage_json = parse_storage_json(body)
    if not isinstance(storage_json, dict):
        return _StorageErrorBody(status, frozenset())
    status_code = str(storage_json.get("statusCode", ""))
    if status == 400 and len(status_code) == 3 and status_code.isdecimal():
        status = int(status_code)
    return _StorageErrorBody(
        status,
        frozenset({str(storage_json.get("code")), str(storage_json.get("error"))}),
    )


def _translate_error(
    status: int, body: bytes, project: SupabaseConnection, size: int
) -> LrwrError:
    storage_error_body = _parse_error_body(status, body)
    if storage_error_body.kinds & _FILE_MISSING:
        return build_missing_file_error(project)
    if storage_error_body.kinds & _BUCKET_MISSING:
        return StoreProblem(
            f"The project at {project.host} has no bucket for lrwr's files",
            hint="Run the output of `lrwr doctor --sql` in the project's SQL editor.",
        )
    if storage_error_body.kinds & _SESSION_INVALID:
        return translate_supabase_status(401, project)
    if storage_error_body.status == 413:
        return StoreProblem(
            f"A file of {size / _MB:.1f} MB is larger than {project.host} accepts",
            hint="Raise the file size limit in the project's Storage settings (50 MB"
            " in Supabase's free plan, at most), or split the file.",
        )
    if storage_error_body.status in _CONFLICT_STATUSES:
        return ServiceUnavailable(
            f"{project.host} is busy with the same file ({storage_error_body.status})",
            hint=RETRY_HINT,
            retryable=True,
        )
    return translate_supabase_status(storage_error_body.status, project)


STORAGE_BUCKET = "lrwr"
FILES_PER_PAGE = 1000
"""Names requested at once; a project may send fewer."""
FILES_PER_DELETION = 100
"""Files deleted in one request; Supabase accepts 1,000."""
_FILE_HEADERS = {"Content-Type": "application/octet-stream", "x-upsert": "true"}
_JSON_HEADERS = {"Content-Type": "application/json"}


class SupabaseFileStore:
    """The `FileStore` port over Supabase Storage.

    Files are stored as `<account>/<library>/<sha256>` in one bucket, where `account`
    and `library` are ids; an account can access its own folder only. `token` returns
    the access token. No failed request is repeated. Any method may raise the errors of
    `SupabaseStorageClient.request`.
    """

    def __init__(
        self,
        project: SupabaseConnection,
        token: AccessTokenProvider,
        account: str,
        library: str,
        request_logger: EgressLogger | None = None,
    ) -> None:
        self._project = project
        self._storage = SupabaseStorageClient(project, token, request_logger)
        self._folder = f"{account}/{library}/"

    async def put(self, content: bytes) -> str:
        """Upload `content`, and return its SHA-256. Idempotent.

        Raises:
            LrwrError: The Supabase project does not answer or refuses.
        """
        name = await asyncio.to_thread(hash_file_content, content)
        path = f"{STORAGE_BUCKET}/{self._folder}{name}"
        storage_json = parse_storage_json(
            await self._storage.request("POST", path, content, _FILE_HEADERS)
        )
        if not (isinstance(storage_json, dict) and storage_json.get("Key") == path):
            raise self._storage.build_response_error()
        return name

    async def get(self, sha256: str) -> bytes:
        """Return the content of the file with this SHA-256.

        Raises:
            LrwrError: The Supabase project does not answer or refuses.
            NotFound: No such file is stored.
            StoreProblem: The file is damaged: it does not match its SHA-256.
        """
        if not is_stored_file_name(sha256):
            raise build_missing_file_error(self._project)
        path = f"{STORAGE_BUCKET}/{self._folder}{sha256}"
        content = await self._storage.request("GET", path, b"", {})
        if await asyncio.to_thread(hash_file_content, content) != sha256:
            raise StoreProblem(
                f"The file {sha256[:12]}… at {self._project.host} is damaged",
                hint="Run `lrwr push` in the manuscript's folder to upload it again.",
            )
        return content

    async def stored_names(self) -> set[str]:
        """Return the SHA-256 of every stored file of the library.

        A file that is added or deleted during the listing may be missing.

        Raises:
            LrwrError: The Supabase project does not answer or refuses.
        """
        listed: list[str] = []
        while page := await self._list_page(len(listed)):
            if set(page) <= set(listed):
                raise self._storage.build_response_error()  # it repeats one page
            listed += page
        names = {name.removeprefix(self._folder) for name in listed}
        return set(filter(is_stored_file_name, names))

    async def remove(self, names: Collection[str]) -> int:
        """Delete the files with the SHA-256 in `names`, and return the number deleted.

        Missing files are ignored.

        Raises:
            LrwrError: The Supabase project does not answer or refuses.
        """
        paths = [
            f"{self._folder}{name}"
            for name in sorted(filter(is_stored_file_name, set(names)))
        ]
        removed = 0
        for first in range(0, len(paths), FILES_PER_DELETION):
            query = {"prefixes": paths[first : first + FILES_PER_DELETION]}
            removed += len(await self._request_names("DELETE", STORAGE_BUCKET, query))
        return removed

    async def aclose(self) -> None:
        """Close all connections. Idempotent."""
        await self._storage.aclose()

    async def _list_page(self, offset: int) -> list[str]:
        query = {
            "prefix": self._folder,
            "limit": FILES_PER_PAGE,
            "offset": offset,
            "sortBy": {"column": "name", "order": "asc"},
        }
        return await self._request_names("POST", f"list/{STORAGE_BUCKET}", query)

    async def _request_names(
        self, method: str, path: str, query: Mapping[str, object]
    ) -> list[str]:
        """Send a request whose response lists files, and return their names."""
        body = json.dumps(query).encode()
        storage_json = parse_storage_json(
            await self._storage.request(method, path, body, _JSON_HEADERS)
        )
        if not isinstance(storage_json, list):
            raise self._storage.build_response_error()
        names = [entry.get("name") for entry in storage_json if isinstance(entry, dict)]
        if len(names) != len(storage_json) or not all(
            isinstance(n, str) for n in names
        ):
            raise self._storage.build_response_error()
        return [str(name) for name in names]
