"""Asking a project's own functions, in the name of who is signed in."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Any

from lrwr.core.adapters.auth.project import Project, headers_of, open_http
from lrwr.core.adapters.auth.refusals import by_status, refusal
from lrwr.core.adapters.records.supabase.packing import packed, unpacked
from lrwr.core.model.errors import LrwrError, NotFound, StoreProblem

if TYPE_CHECKING:
    from httpx import Response
    from postgrest import AsyncPostgrestClient
    from postgrest.exceptions import APIError

Json = Any
"""What JSON can say."""

Token = Callable[[], Awaitable[str]]
"""Returns what proves who asks, good for a minute at least."""

_NO_FUNCTION = frozenset({"PGRST202", "PGRST205"})
_NOT_ALLOWED = frozenset({"42501", "PGRST301", "PGRST302", "PGRST303"})
_NOT_FROM_DATABASE = frozenset({401, 408, 429})


class Hosted:
    """A project's functions. Every one answers with one JSON value.

    Supabase cuts rows off after a number that the project sets, and says nothing; one
    value is whole or not there. Nothing is tried twice here: who calls knows whether
    it may be.
    """

    def __init__(self, project: Project, token: Token) -> None:
        self._project = project
        self._token = token
        self._client: AsyncPostgrestClient | None = None
        self._opening = asyncio.Lock()
        self._stack = AsyncExitStack()

    async def call(self, function: str, **arguments: Json) -> Json:
        """Call a function; arguments are named without the `p_` that they have there.

        Raises:
            LrwrError: Nobody is signed in, or not any more.
            StoreProblem: The project refused, or lacks what lrwr needs.
            ServiceUnavailable: The project did not answer.
        """
        token = await self._token()
        asked = {f"p_{name}": packed(value) for name, value in arguments.items()}
        client = await self._opened()
        request = client.rpc(f"lrwr_{function}", asked)
        request.request.headers["Authorization"] = f"Bearer {token}"
        try:
            async with asyncio.timeout(self._project.timeout):
                came = await request.execute()
        except LrwrError:
            raise
        except Exception as error:  # the client lets anything of its libraries through
            raise self._refused(error) from error
        return unpacked(came.data)

    async def aclose(self) -> None:
        """Let go of connections. Safe to call twice."""
        await self._stack.aclose()
        self._client = None

    async def _opened(self) -> "AsyncPostgrestClient":
        async with self._opening:
            if self._client is None:
                self._client = await asyncio.to_thread(_client, self._project)
                self._stack.push_async_callback(self._client.aclose)
            return self._client

    def _refused(self, error: Exception) -> LrwrError:
        from postgrest.exceptions import APIError

        if isinstance(error, APIError):
            return _said(error, self._project)
        return refusal(error, self._project)


def _client(project: Project) -> "AsyncPostgrestClient":
    """Make Supabase's client; importing it takes a quarter of a second."""
    from postgrest import AsyncPostgrestClient

    async def check(response: "Response") -> None:
        # What stands before the database answers in words of its own, and the client
        # drops the state that tells what they mean.
        status = response.status_code
        if status in _NOT_FROM_DATABASE or status >= 500:
            raise by_status(status, project)

    http = open_http(project)
    http.event_hooks["response"].append(check)
    return AsyncPostgrestClient(
        f"{project.url}/rest/v1",
        headers=headers_of(project),
        http_client=http,
        retry_enabled=False,
    )


def _said(error: "APIError", project: Project) -> LrwrError:
    code = error.code or ""
    if code in _NO_FUNCTION:
        return StoreProblem(
            f"The project at {project.host} has not all of lrwr's tables",
            hint="Run lrwr's SQL scripts there, in the order of their numbers.",
        )
    if code in _NOT_ALLOWED:
        return LrwrError(
            f"{project.host} does not let this account do that",
            hint="Sign in again with `lrwr login`.",
        )
    if code.isdecimal() and len(code) == 3:
        return by_status(int(code), project)
    if code == "23503":
        return NotFound(
            f"There is no such library of yours at {project.host}",
            hint="Sign in with the account that it belongs to: lrwr login",
        )
    shown = f": {error.message}" if error.message else ""
    return StoreProblem(
        f"The database at {project.host} refused ({code}){shown}",
        hint="Nothing was changed. If it happens again, tell the makers of lrwr.",
    )
