"""Asking a project's Storage for files, in the name of who is signed in."""

import asyncio
import json
from collections.abc import Mapping
from contextlib import AsyncExitStack, aclosing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from lrwr.core.adapters.auth.errors import (
    RETRY_HINT,
    translate_supabase_error,
    translate_supabase_status,
)
from lrwr.core.adapters.auth.project import (
    SupabaseConnection,
    build_supabase_headers,
    open_supabase_http,
)
from lrwr.core.adapters.http.egress_log import EgressLogEntry, EgressLogger
from lrwr.core.adapters.storage.supabase.rpc import AccessTokenProvider
from lrwr.core.model.egress import OutboundRequest, RequestPurpose
from lrwr.core.model.errors import (
    LrwrError,
    NotFound,
    ServiceUnavailable,
    StoreProblem,
)

if TYPE_CHECKING:
    from httpx import AsyncClient, Request

StorageJson = Any
"""What JSON can say."""

_MB = 1_000_000

# Storage says most of its refusals under 400, and in the body what they are.
_NO_FILE = frozenset({"NoSuchKey", "not_found"})
_NO_BUCKET = frozenset({"NoSuchBucket", "Bucket not found"})
_NO_SESSION = frozenset(
    {"InvalidJWT", "InvalidSignature", "ExpiredToken", "SignatureDoesNotMatch"}
)
_CROSSED = frozenset({409, 423})
"""States that say that another request is at the same file."""


class SupabaseStorageClient:
    """The Storage of a project. Nothing is tried twice here.

    Each request is noted before it leaves, unless there is no `request_logger`.
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

    async def ask(
        self, method: str, path: str, body: bytes, headers: Mapping[str, str]
    ) -> bytes:
        """Ask for an object and return the body of a good answer.

        Raises:
            NotFound: There is no such file, or it is another account's.
            LrwrError: Nobody is signed in, or may not do that.
            StoreProblem: The project lacks lrwr's bucket, or takes no file so large.
            ServiceUnavailable: The project did not answer, or not in time.
        """
        token = await self._token()
        client = await self._opened()
        request = _request(client, self._project, method, path, body)
        request.headers.update({**headers, "Authorization": f"Bearer {token}"})
        about = OutboundRequest("supabase", self._project.host, RequestPurpose.FILES)
        async with aclosing(EgressLogEntry(self._request_logger, about)) as note:
            if self._request_logger is not None:
                await note.record_request(len(body))
            status, content = await self._answered(client, request)
            note.record_response(
                ok=status == 200, is_complete=True, received=lambda: len(content)
            )
        if status != 200:
            raise _refused(status, content, self._project, len(body))
        return content

    async def _answered(
        self, client: "AsyncClient", request: "Request"
    ) -> tuple[int, bytes]:
        """Return state and body of the answer."""
        try:
            response = await client.send(request)
        except Exception as error:  # the client lets anything of its libraries through
            raise translate_supabase_error(error, self._project) from error
        return response.status_code, response.content

    async def aclose(self) -> None:
        """Let go of connections. Safe to call twice."""
        await self._stack.aclose()
        self._client = None

    def nonsense(self) -> LrwrError:
        """Say that what answers is not what was asked."""
        return translate_supabase_status(0, self._project)

    async def _opened(self) -> "AsyncClient":
        async with self._opening:
            if self._client is None:
                self._client = await asyncio.to_thread(
                    open_supabase_http, self._project
                )
                self._stack.push_async_callback(self._client.aclose)
            return self._client


def parse_storage_json(body: bytes) -> StorageJson:
    """Return what a body says in JSON, None where it is none."""
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None


def build_missing_file_error(project: SupabaseConnection) -> NotFound:
    """Say that a file is not there."""
    return NotFound(
        f"There is no such file of your library at {project.host}",
        hint="Run `lrwr push` where your manuscript is: it sends the files there.",
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
    """A refusal as Storage words it: a state of HTTP, and what it calls itself."""

    status: int
    kinds: frozenset[str]


def _said(status: int, body: bytes) -> _StorageErrorBody:
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


def _refused(
    status: int, body: bytes, project: SupabaseConnection, size: int
) -> LrwrError:
    storage_error_body = _said(status, body)
    if storage_error_body.kinds & _NO_FILE:
        return build_missing_file_error(project)
    if storage_error_body.kinds & _NO_BUCKET:
        return StoreProblem(
            f"The project at {project.host} has no place for lrwr's files",
            hint="Run in its SQL editor what `lrwr doctor --sql` prints.",
        )
    if storage_error_body.kinds & _NO_SESSION:
        return translate_supabase_status(401, project)
    if storage_error_body.status == 413:
        return StoreProblem(
            f"A file of {size / _MB:.1f} MB is larger than {project.host} takes",
            hint="Raise the file size limit in the project's Storage settings (50 MB"
            " in Supabase's free plan, at most), or split the file.",
        )
    if storage_error_body.status in _CROSSED:
        return ServiceUnavailable(
            f"{project.host} is busy with the same file ({storage_error_body.status})",
            hint=RETRY_HINT,
            retryable=True,
        )
    return translate_supabase_status(storage_error_body.status, project)
