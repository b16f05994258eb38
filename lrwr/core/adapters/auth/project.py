"""Connection settings, HTTP client and error translation for a Supabase project."""

import base64
import ssl
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import httpx

from lrwr.core.adapters.http.timeouts import (
    BoundedHttpClient,
    ExchangeTimeout,
    ResponseTooLarge,
)
from lrwr.core.model.errors import LrwrError, ServiceUnavailable, SettingsProblem
from lrwr.core.model.text import format_seconds
from lrwr.core.model.untrusted_text import parse_json
from lrwr.core.settings.model import Settings
from lrwr.core.settings.service_access import (
    find_key,
    is_loopback_host,
    parse_host,
    resolve_address,
)

if TYPE_CHECKING:
    from httpx import AsyncClient, Response


MAX_RESPONSE_BYTES = 300 * 1024 * 1024
"""Largest response in bytes. lrwr reads no file that is larger, and so uploads none.

Records are smaller: they describe a text, of which at most 50 MB are read.
"""
EXAMPLE_PROJECT_URL = "https://abcdefghijkl.supabase.co"
_KEY_VARIABLE = "SUPABASE_KEY"
_SECRET_PREFIX = "sb_secret_"
_WHICH_KEY = "Copy the publishable key (in older projects: anon) from its API settings."


@dataclass(frozen=True, slots=True)
class SupabaseConnection:
    """Address and key of a Supabase project.

    `key` is the publishable key, which identifies the project but no account. `timeout`
    is the time in seconds for which the server may be silent, `most` the largest
    response in bytes. `own` says that the server is on this machine; then no proxy is
    used.
    """

    url: str
    key: str = field(repr=False)
    timeout: float = 20.0
    own: bool = False
    most: int = MAX_RESPONSE_BYTES

    @property
    def host(self) -> str:
        """The host name of the Supabase project, without a port."""
        return parse_host(self.url)


def build_supabase_connection(
    settings: Settings, env: Mapping[str, str]
) -> SupabaseConnection:
    """Return the connection to the Supabase project in `settings`. Nothing is sent.

    `env` are the environment variables; one of them may hold the key.

    Raises:
        SettingsProblem: No project is set, its key is missing or is a secret key, or
            the address comes from a file that may not set it.
        ServiceUnavailable: The system keyring is locked.
    """
    if not settings.supabase.url.strip():
        raise SettingsProblem(
            "No Supabase project is configured",
            hint=f'Set `[supabase] url = "{EXAMPLE_PROJECT_URL}"` in your own settings'
            " file (`lrwr config path` shows it), or the environment variable"
            " LRWR_SUPABASE_URL.",
        )
    url = resolve_address(settings, "supabase.url", EXAMPLE_PROJECT_URL, secret=True)
    key = (find_key(_KEY_VARIABLE, env) or "").strip()
    if not key:
        raise SettingsProblem(
            "The key of your Supabase project is missing",
            hint=f"{_WHICH_KEY} Store it with `lrwr config set-key supabase`, or set {_KEY_VARIABLE}.",
        )
    if _is_secret_key(key):
        raise SettingsProblem(
            "The key of the Supabase project is a secret key, which gives access to all"
            " accounts. lrwr does not use such a key",
            hint=f"{_WHICH_KEY} Store it with `lrwr config set-key supabase`.",
        )
    timeout = float(settings.supabase.timeout)
    return SupabaseConnection(url, key, timeout, is_loopback_host(parse_host(url)))


def open_supabase_http(
    project: SupabaseConnection, on_response: "Callable[[Response], None] | None" = None
) -> "AsyncClient":
    """Return an HTTP client for the Supabase project; it follows no redirects.

    `on_response` is called with each response that was received completely. Requests
    raise `ExchangeTimeout` and `ResponseTooLarge` (see `BoundedHttpClient`).
    """
    # Loading the certificates takes 100 ms; a context without them costs nothing.
    nobody = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    return BoundedHttpClient(
        project.timeout,
        project.most,
        on_response,
        follow_redirects=False,
        trust_env=not project.own,
        verify=True if project.url.startswith("https:") else nobody,
    )


def build_supabase_headers(project: SupabaseConnection) -> dict[str, str]:
    """Return the headers of every request to the Supabase project: its key, and nothing
    that describes this machine.
    """
    return {"apikey": project.key, "X-Client-Info": "lrwr"}


def _is_secret_key(key: str) -> bool:
    """Return whether a key bypasses all policies; in older keys a JWT claim says so."""
    if key.startswith(_SECRET_PREFIX):
        return True
    middle = key.split(".")[1] if key.count(".") == 2 else ""
    try:
        claims = parse_json(base64.urlsafe_b64decode(middle + "=" * (-len(middle) % 4)))
    except ValueError:
        return False
    return isinstance(claims, dict) and claims.get("role") == "service_role"


RETRY_HINT = "Try again in a minute."
_MB = 1024 * 1024
_CHECK_URL_HINT = (
    "Check `supabase.url`: it must be the project's address without a path."
)


class SessionExpired(LrwrError):
    """The session at the Supabase project has ended, so the user must sign in again."""


def translate_supabase_error(
    error: Exception, project: SupabaseConnection
) -> LrwrError:
    """Return the error with a message for the user, for any exception of Supabase's
    clients.
    """
    chain = [error, *_causes(error)]
    if any(isinstance(exception, ResponseTooLarge) for exception in chain):
        return _build_too_large_error(project)
    if any(
        isinstance(exception, TimeoutError | httpx.TimeoutException)
        for exception in chain
    ):
        waited = [
            exception.seconds
            for exception in chain
            if isinstance(exception, ExchangeTimeout)
        ]
        seconds = min(waited, default=project.timeout)
        return ServiceUnavailable(
            f"{project.host} did not answer within {format_seconds(seconds)}",
            hint="Try again, or raise `supabase.timeout`.",
            retryable=True,
        )
    if any(
        isinstance(exception, httpx.ConnectError | httpx.ProxyError)
        for exception in chain
    ):
        return ServiceUnavailable(
            f"{project.host} cannot be reached",
            hint="Start the server, or correct `supabase.url`."
            if project.own
            else "Check your internet connection and `supabase.url`.",
            retryable=True,
        )
    if any(isinstance(exception, httpx.TransportError) for exception in chain):
        return ServiceUnavailable(
            f"{project.host} closed the connection before the response was complete",
            hint=RETRY_HINT,
            retryable=True,
        )
    status, code = _get_status_and_code(error)
    return _translate_auth_code(code) or translate_supabase_status(status, project)


def _build_too_large_error(project: SupabaseConnection) -> ServiceUnavailable:
    return ServiceUnavailable(
        f"The response of {project.host} is larger than {project.most / _MB:.3g} MB,"
        " the largest that lrwr accepts",
        hint=_CHECK_URL_HINT,
    )


def translate_supabase_status(status: int, project: SupabaseConnection) -> LrwrError:
    """Return the error with a message for the user, for an HTTP status of 400 or more.

    `status` is 0 for a response that cannot come from a Supabase project.
    """
    status_text = f"({status})"
    if status == 429:
        return ServiceUnavailable(
            f"{project.host} received too many requests {status_text}",
            hint=RETRY_HINT,
            retryable=True,
        )
    if status >= 500 or status == 408:
        return ServiceUnavailable(
            f"{project.host} failed {status_text}", hint=RETRY_HINT, retryable=True
        )
    if status in (401, 403):
        return LrwrError(
            f"{project.host} rejected the session or the key {status_text}",
            hint="Run `lrwr login`. If that does not help, run"
            " `lrwr config set-key supabase`.",
        )
    if status in (400, 422):
        return LrwrError(
            f"{project.host} rejected the request {status_text}",
            hint="Try again. If it fails again, upgrade lrwr.",
        )
    status_suffix = f" {status_text}" if status else ""
    return ServiceUnavailable(
        f"The server at {project.host} is not a Supabase project{status_suffix}",
        hint=_CHECK_URL_HINT,
    )


def _translate_auth_code(code: str) -> LrwrError | None:
    match code:
        case "invalid_credentials" | "user_not_found":
            return LrwrError(
                "The email address or the password is wrong",
                hint="Try again; nothing was changed.",
            )
        case "email_not_confirmed":
            return LrwrError(
                "This email address is not confirmed yet",
                hint="Open the link in the email that Supabase sent you.",
            )
        case "user_banned":
            return LrwrError(
                "This account is locked", hint="Ask the owner of the project."
            )
        case "email_provider_disabled":
            return LrwrError(
                "The project does not allow signing in with a password",
                hint="Enable the email provider in the project's settings.",
            )
        case "validation_failed" | "email_address_invalid":
            return build_credentials_error()
        case "refresh_token_not_found" | "refresh_token_already_used":
            return build_session_expired_error()
        case "session_not_found" | "session_expired" | "bad_jwt":
            return build_session_expired_error()
    return None


def build_credentials_error() -> LrwrError:
    """Return the error for an email address or a password that cannot be valid."""
    return LrwrError(
        "The email address or the password is not valid",
        hint="Try again; nothing was changed.",
    )


def build_session_expired_error() -> SessionExpired:
    """Return the error for a session that has ended, which asks the user to sign in
    again.
    """
    return SessionExpired(
        "Your session has expired", hint="Run `lrwr login` to sign in again."
    )


def _get_status_and_code(error: Exception) -> tuple[int, str]:
    status = getattr(error, "status", 0)
    code = getattr(error, "code", "")
    return (status if isinstance(status, int) else 0), str(code or "")


def _causes(error: BaseException) -> list[BaseException]:
    base_exceptions: list[BaseException] = []
    cause = error.__cause__ or error.__context__
    while cause is not None and cause not in base_exceptions:
        base_exceptions.append(cause)
        cause = cause.__cause__ or cause.__context__
    return base_exceptions
