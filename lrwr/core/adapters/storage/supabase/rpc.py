"""Calls of a Supabase project's database functions, as the account that is signed
in.
"""

import asyncio
import json
import re
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AsyncExitStack, aclosing, contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from lrwr.core.adapters.auth.project import (
    SupabaseConnection,
    build_supabase_headers,
    open_supabase_http,
    translate_supabase_error,
    translate_supabase_status,
)
from lrwr.core.adapters.http.egress_log import EgressLogEntry, EgressLogger
from lrwr.core.model.egress import OutboundRequest, RequestPurpose
from lrwr.core.model.errors import LrwrError, NotFound, StoreProblem

if TYPE_CHECKING:
    from httpx import Response
    from postgrest import APIError, AsyncPostgrestClient


PostgresJson = Any
"""Any JSON value."""
_ESCAPE = "\x10"
_ESCAPES = (("\x10", "\x101"), ("\x00", "\x100"))
_UNESCAPES = {"\x101": "\x10", "\x100": "\x00"}


def encode_postgres_text(value: PostgresJson) -> PostgresJson:
    """Return a JSON value in which every text is one that PostgreSQL can store.

    PostgreSQL has no U+0000, so it is escaped by U+0010 and a digit. A lone surrogate
    becomes `?`.
    """
    return _map_strings(value, _escape)


def encode_postgres_json(value: PostgresJson) -> str:
    """Return `value` as JSON text, with strings that PostgreSQL can store.

    They are escaped as by `encode_postgres_text`.
    """
    return json.dumps(
        encode_postgres_text(value), ensure_ascii=False, separators=(",", ":")
    )


def decode_postgres_text(value: PostgresJson) -> PostgresJson:
    """Return the JSON value from which `encode_postgres_text` made `value`.

    Lone surrogates remain `?`.
    """
    return _map_strings(value, _unescape)


def _map_strings(value: PostgresJson, change: Any) -> PostgresJson:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return {name: _map_strings(item, change) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_map_strings(item, change) for item in value]
    return value


def _escape(text: str) -> str:
    text = text.encode("utf-8", "replace").decode("utf-8")
    for plain, away in _ESCAPES:
        text = text.replace(plain, away)
    return text


def _unescape(text: str) -> str:
    if _ESCAPE not in text:
        return text
    first, *escaped = text.split(_ESCAPE)
    pieces = [first]
    for piece in escaped:
        pieces += (
            _UNESCAPES.get(f"{_ESCAPE}{piece[:1]}", _ESCAPE + piece[:1]),
            piece[1:],
        )
    return "".join(pieces)


RpcJson = Any
"""Any JSON value."""
AccessTokenProvider = Callable[[], Awaitable[str]]
"""Returns an access token that is valid for at least a minute."""
_current_entry: ContextVar[EgressLogEntry | None] = ContextVar(
    "_current_entry", default=None
)
"""The log entry of the request that the current task sends."""
_SQLSTATE = re.compile("[0-9A-Z]{5}")
"""An SQLSTATE code."""
_JSON_STARTS = b'{["-0123456789tfn'
"""Bytes with which a JSON value can start."""
_NO_FUNCTION = frozenset({"PGRST202", "PGRST205"})
_OTHERS_ROW = "new row violates row-level security policy"
"""PostgreSQL's words, with code 42501, for a row of a library of another account."""
_NOT_ALLOWED = frozenset({"42501", "PGRST301", "PGRST302", "PGRST303"})
_NOT_FROM_DATABASE = frozenset({401, 408, 429})


class SupabaseRpc:
    """Calls the database functions of a Supabase project; each returns one JSON value.

    One value, because Supabase silently cuts off result rows above a limit. No failed
    call is repeated. `token` returns the access token of the account. With a
    `request_logger`, each request is recorded in the send log before it is sent, unless
    the server is on this machine.
    """

    def __init__(
        self,
        project: SupabaseConnection,
        token: AccessTokenProvider,
        request_logger: EgressLogger | None = None,
    ) -> None:
        self._project = project
        self._token = token
        self._request_logger = None if project.own else request_logger
        self._client: AsyncPostgrestClient | None = None
        self._api_error: type[APIError] | None = None
        self._opening = asyncio.Lock()
        self._stack = AsyncExitStack()

    async def call(self, function: str, **arguments: RpcJson) -> RpcJson:
        """Call a database function, and return its result.

        `function` is its name without the prefix `lrwr_`; the names of `arguments` are
        those in the database without the prefix `p_`.

        Raises:
            LrwrError: No account is signed in, or the session has expired.
            StoreProblem: The Supabase project refused, or its tables are incomplete.
            ServiceUnavailable: The Supabase project did not answer.
        """
        token = await self._token()
        parameters = {
            f"p_{name}": encode_postgres_text(value)
            for name, value in arguments.items()
        }
        client = await self._get_client()
        request = client.rpc(f"lrwr_{function}", parameters)
        request.request.headers["Authorization"] = f"Bearer {token}"
        about = OutboundRequest("supabase", self._project.host, RequestPurpose.RECORDS)
        async with aclosing(EgressLogEntry(self._request_logger, about)) as note:
            if self._request_logger is not None:
                await note.record_request(
                    len(json.dumps(parameters, ensure_ascii=False).encode())
                )
            rpc_json = await self._execute(request, note)
            note.mark_complete()
        return decode_postgres_text(rpc_json)

    @contextmanager
    def decoding(self) -> Iterator[None]:
        """Inside this context, turn errors of decoding a result into errors for the
        user.

        Raises:
            ServiceUnavailable: The result does not have the expected shape.
        """
        try:
            yield
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise translate_supabase_status(0, self._project) from error

    async def _execute(self, request: Any, note: EgressLogEntry) -> RpcJson:
        under_way = _current_entry.set(note)
        try:
            response = await request.execute()
        except LrwrError:
            raise
        except Exception as error:  # the client raises exceptions of its libraries
            raise self._translate_error(error) from error
        finally:
            _current_entry.reset(under_way)
        return response.data

    async def aclose(self) -> None:
        """Close all connections. Idempotent."""
        await self._stack.aclose()
        self._client = None

    async def _get_client(self) -> "AsyncPostgrestClient":
        async with self._opening:
            if self._client is None:
                client, self._api_error = await asyncio.to_thread(
                    _client, self._project
                )
                self._stack.push_async_callback(client.aclose)
                self._client = client
            return self._client

    def _translate_error(self, error: Exception) -> LrwrError:
        if self._api_error is not None and isinstance(error, self._api_error):
            return _translate_api_error(error, self._project)
        return translate_supabase_error(error, self._project)


def _client(
    project: SupabaseConnection,
) -> "tuple[AsyncPostgrestClient, type[APIError]]":
    """Return Supabase's client and its error class; the import takes 250 ms."""
    from postgrest import APIError, AsyncPostgrestClient

    async def check(response: "Response") -> None:
        # A proxy before the database answers in a format of its own; the client would
        # drop the status, which is all that can be interpreted.
        if (note := _current_entry.get()) is not None:
            await note.on_response(response)
        status = response.status_code
        if status in _NOT_FROM_DATABASE or status >= 500:
            raise translate_supabase_status(status, project)

    def check_whole(response: "Response") -> None:
        if response.is_success and not _starts_like_json(response.content):
            raise translate_supabase_status(
                0, project
            )  # the client would return it as a text

    http = open_supabase_http(project, check_whole)
    http.event_hooks["response"].append(check)
    client = AsyncPostgrestClient(
        f"{project.url}/rest/v1",
        headers=build_supabase_headers(project),
        http_client=http,
        retry_enabled=False,
    )
    return client, APIError


def _starts_like_json(body: bytes) -> bool:
    """Return whether a body is empty or starts like JSON, unlike a page of HTML."""
    return body.lstrip()[:1] in _JSON_STARTS


def _translate_api_error(error: "APIError", project: SupabaseConnection) -> LrwrError:
    code = error.code or ""
    if code in _NO_FUNCTION:
        return StoreProblem(
            f"The project at {project.host} lacks some of lrwr's tables",
            hint="Run the output of `lrwr doctor --sql` in the project's SQL editor.",
        )
    if code == "23503" or _OTHERS_ROW in (error.message or ""):
        return NotFound(
            f"The library of this folder is not in your account at {project.host}",
            hint="Run `lrwr login` to sign in with the account that owns it.",
        )
    if code in _NOT_ALLOWED:
        return LrwrError(
            f"{project.host} does not allow this account to use the library",
            hint="Run `lrwr login` to sign in again.",
        )
    if code.isdecimal() and len(code) == 3:
        return translate_supabase_status(int(code), project)
    # The server's message may quote the request, with manuscript text and token.
    state = f" ({code})" if _SQLSTATE.fullmatch(code) else ""
    return StoreProblem(
        f"The database at {project.host} refused the request{state}",
        hint="Nothing was changed. If it happens again, report a bug.",
    )
