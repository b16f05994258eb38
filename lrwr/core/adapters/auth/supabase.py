"""Signing in to Supabase Auth with an email address and a password."""

import asyncio
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NewType, TypeAlias

from lrwr.core.adapters.auth.project import (
    SessionExpired,
    SupabaseConnection,
    build_credentials_error,
    build_supabase_connection,
    open_supabase_http,
    translate_supabase_error,
)
from lrwr.core.adapters.auth.sessions import KeyringSessionStore, SessionLocation
from lrwr.core.model.errors import LrwrError, ServiceUnavailable
from lrwr.core.model.untrusted_text import parse_json
from lrwr.core.settings.library import get_session_path
from lrwr.core.settings.model import Settings

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from httpx import AsyncClient
    from supabase_auth import AsyncGoTrueClient
    from supabase_auth.types import Session, User


AccountId = NewType("AccountId", str)
"""The UUID of an account."""


@dataclass(frozen=True, slots=True)
class Account:
    """An account of the Supabase project; `email` is empty if the service reports
    none.
    """

    id: AccountId
    email: str


_CreateAuthClient: TypeAlias = "Callable[[SupabaseConnection, KeyringSessionStore, AsyncClient], AsyncGoTrueClient]"
TOKEN_RENEWAL_MARGIN = 60.0
"""Seconds before its expiry from which a token is renewed."""


@dataclass(frozen=True, slots=True)
class _AccessToken:
    token: str
    until: float


class SupabaseAuth:
    """Signs one account in to a Supabase project and out, and provides its access
    token.

    `now` returns seconds since 1970. The Supabase client is imported on first use.
    Several processes may share a session; if another process has renewed it, it is read
    again.
    """

    def __init__(
        self,
        project: SupabaseConnection,
        sessions: KeyringSessionStore,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._project = project
        self._sessions = sessions
        self._now = now
        self._token: _AccessToken | None = None
        self._lock = asyncio.Lock()

    async def sign_in(self, email: str, password: str) -> Account:
        """Sign in with an email address and a password, replacing any other account.

        The session is stored, the password is not.

        Raises:
            LrwrError: The address or the password is wrong, the address is not
                confirmed, or the account is locked.
            ServiceUnavailable: The service did not answer, or the system keyring is
                locked.
        """
        if not (_is_sendable(email) and _is_sendable(password)):
            raise build_credentials_error()
        async with self._client() as client:
            response = await client.sign_in_with_password(
                {"email": email, "password": password}
            )
        if response.session is None:
            raise ServiceUnavailable("Supabase returned no session", hint="Try again.")
        self._set_token(response.session)
        return _account(response.session.user)

    async def sign_out(self) -> bool:
        """Sign out; return False if no account was signed in.

        The session on this machine is deleted in any case.

        Raises:
            ServiceUnavailable: The service did not answer, so the session there remains
                valid for a while; or the system keyring is locked.
        """
        session = await asyncio.to_thread(self._sessions.read, self._project.url)
        if session is None:
            return False
        try:
            await self._sign_out_remotely()
        finally:
            self._token = None
            await asyncio.to_thread(self._sessions.clear, self._project.url)
        return True

    async def account(self) -> Account | None:
        """Ask the service for the account that is signed in; None if there is none.

        Raises:
            ServiceUnavailable: The service did not answer, or the system keyring is
                locked.
        """
        access_token = await self._get_token()
        if access_token is None:
            return None
        async with self._client() as client:
            user = await client.get_user(access_token.token)
        return _account(user.user) if user is not None else None

    async def token(self) -> str:
        """Return an access token that is valid for at least `TOKEN_RENEWAL_MARGIN`
        seconds.

        If the stored one ends sooner, the session is renewed at the service.

        Raises:
            LrwrError: No account is signed in, or the session has expired.
            ServiceUnavailable: The service did not answer, or the system keyring is
                locked.
        """
        access_token = await self._get_token()
        if access_token is None:
            raise LrwrError(
                "You are not signed in to Supabase", hint="Run `lrwr login` to sign in."
            )
        return access_token.token

    async def _sign_out_remotely(self) -> None:
        try:
            access_token = await self._get_token()
            if access_token is not None:
                async with self._client() as client:
                    await client.admin.sign_out(access_token.token, "local")
        except ServiceUnavailable:
            raise
        except LrwrError:
            pass  # the session had ended already

    async def _get_token(self) -> _AccessToken | None:
        async with self._lock:
            if (
                self._token is None
                or self._token.until <= self._now() + TOKEN_RENEWAL_MARGIN
            ):
                self._token = await self._load_token()
            return self._token

    async def _load_token(self) -> _AccessToken | None:
        """Read the session and renew it if it ends soon; retry if it has changed."""
        read_session = self._sessions.read
        before = await asyncio.to_thread(read_session, self._project.url)
        try:
            return await self._renew(before)
        except SessionExpired:
            meanwhile = await asyncio.to_thread(read_session, self._project.url)
            if meanwhile != before:
                return await self._renew(meanwhile)
            await asyncio.to_thread(self._sessions.clear, self._project.url)
            return None

    async def _renew(self, stored_text: str | None) -> _AccessToken | None:
        parsed = _parse_session(stored_text)
        if parsed is None:
            return None
        token, refresh = parsed
        if token.until > self._now() + TOKEN_RENEWAL_MARGIN:
            return token
        async with self._client() as client:
            response = await client.refresh_session(refresh)
        return (
            self._set_token(response.session) if response.session is not None else None
        )

    def _set_token(self, session: "Session") -> _AccessToken:
        until = float(session.expires_at or self._now() + session.expires_in)
        self._token = _AccessToken(session.access_token, until)
        return self._token

    def _client(self) -> "AbstractAsyncContextManager[AsyncGoTrueClient]":
        return _open_client(self._project, self._sessions)


@asynccontextmanager
async def _open_client(
    project: SupabaseConnection, sessions: KeyringSessionStore
) -> "AsyncIterator[AsyncGoTrueClient]":
    """Yield Supabase's client and translate its exceptions."""
    http, create_client = await asyncio.to_thread(_prepare, project)
    async with http:
        try:
            async with asyncio.timeout(project.timeout):
                yield create_client(project, sessions, http)
        except LrwrError:
            raise
        except Exception as error:  # the client raises exceptions of its libraries
            raise translate_supabase_error(error, project) from error


def _prepare(project: SupabaseConnection) -> "tuple[AsyncClient, _CreateAuthClient]":
    """Import the client, which takes half a second, and create its HTTP client."""
    from lrwr.core.adapters.auth.session_storage import create_auth_client

    return open_supabase_http(project), create_auth_client


def _is_sendable(text: str) -> bool:
    """Return whether `text` is not blank and can be encoded."""
    try:
        return bool(text.strip().encode("utf-8"))
    except UnicodeEncodeError:
        return False


def _parse_session(stored_text: str | None) -> tuple[_AccessToken, str] | None:
    try:
        fields = parse_json(stored_text or "null")
        access_token = _AccessToken(
            str(fields["access_token"]), float(fields["expires_at"])
        )
        return access_token, str(fields["refresh_token"])
    except (ValueError, KeyError, TypeError):
        return None


def _account(user: "User") -> Account:
    return Account(AccountId(user.id), user.email or "")


@dataclass(frozen=True, slots=True)
class SupabaseSignIn:
    """The objects needed to sign in to one Supabase project.

    `file` is where `sessions` stores the session if there is no system keyring.
    """

    auth: SupabaseAuth
    project: SupabaseConnection
    sessions: KeyringSessionStore
    file: Path

    def place(self) -> SessionLocation:
        """Return where the session of this Supabase project is stored; `NOWHERE` if
        there is none.

        Raises:
            ServiceUnavailable: The system keyring is locked.
        """
        return self.sessions.place(self.project.url)


def create_supabase_sign_in(
    settings: Settings, env: Mapping[str, str]
) -> SupabaseSignIn:
    """Return the objects needed to sign in to the Supabase project in `settings`.

    Nothing is sent. `env` are the environment variables; one of them may hold the key.

    Raises:
        SettingsProblem: No project is set, its key is missing or is a secret key, or
            the address comes from a file that may not set it.
        ServiceUnavailable: The system keyring is locked.
    """
    project = build_supabase_connection(settings, env)
    file = get_session_path()
    sessions = KeyringSessionStore(file)
    return SupabaseSignIn(SupabaseAuth(project, sessions), project, sessions, file)
