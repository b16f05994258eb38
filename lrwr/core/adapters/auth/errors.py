"""What went wrong between lrwr and a Supabase project, in the writer's words."""

import httpx

from lrwr.core.adapters.auth.project import SupabaseConnection
from lrwr.core.adapters.http.timeouts import ExchangeTimeout, ResponseTooLarge
from lrwr.core.model.errors import LrwrError, ServiceUnavailable

RETRY_HINT = "Try again in a minute."
_MB = 1024 * 1024
_NO_PROJECT = "Check `supabase.url`: it is the project's address and nothing behind it."


class SessionExpired(LrwrError):
    """A session that the service does not know any more."""


def translate_supabase_error(
    error: Exception, project: SupabaseConnection
) -> LrwrError:
    """Say what an error of Supabase's clients means, or of the libraries below."""
    met = [error, *_causes(error)]
    if any(isinstance(exception, ResponseTooLarge) for exception in met):
        return _endless(project)
    if any(
        isinstance(exception, TimeoutError | httpx.TimeoutException)
        for exception in met
    ):
        waited = [
            exception.seconds
            for exception in met
            if isinstance(exception, ExchangeTimeout)
        ]
        seconds = min(waited, default=project.timeout)
        return ServiceUnavailable(
            f"{project.host} did not answer within {seconds:g} seconds",
            hint="Try again, or raise `supabase.timeout`.",
            retryable=True,
        )
    if any(
        isinstance(exception, httpx.ConnectError | httpx.ProxyError)
        for exception in met
    ):
        return ServiceUnavailable(
            f"{project.host} cannot be reached",
            hint="Start it, or correct `supabase.url`."
            if project.own
            else "Check the connection to the internet, and `supabase.url`.",
            retryable=True,
        )
    if any(isinstance(exception, httpx.TransportError) for exception in met):
        return ServiceUnavailable(
            f"{project.host} broke off in the middle of its answer",
            hint=RETRY_HINT,
            retryable=True,
        )
    status, code = _told(error)
    return _by_code(code) or translate_supabase_status(status, project)


def _endless(project: SupabaseConnection) -> ServiceUnavailable:
    return ServiceUnavailable(
        f"The answer of {project.host} is larger than {project.most / _MB:.3g} MB:"
        " nothing that lrwr keeps is",
        hint=_NO_PROJECT,
    )


def translate_supabase_status(status: int, project: SupabaseConnection) -> LrwrError:
    """Say what the state of an HTTP answer means; 0 where there is none."""
    status_text = f"({status})"
    if status == 429:
        return ServiceUnavailable(
            f"{project.host} has more requests than it takes {status_text}",
            hint=RETRY_HINT,
            retryable=True,
        )
    if status >= 500 or status == 408:
        return ServiceUnavailable(
            f"{project.host} failed {status_text}", hint=RETRY_HINT, retryable=True
        )
    if status in (401, 403):
        return LrwrError(
            f"{project.host} does not accept the session or the key {status_text}",
            hint="Sign in again with `lrwr login`; if that does not help, set the key"
            " anew with `lrwr config set-key supabase`.",
        )
    if status in (400, 422):
        return LrwrError(
            f"{project.host} does not understand what was asked {status_text}",
            hint="Try again; if that does not help, look for a newer lrwr.",
        )
    status_suffix = f" {status_text}" if status else ""
    return ServiceUnavailable(
        f"What answers at {project.host} is no Supabase project{status_suffix}",
        hint=_NO_PROJECT,
    )


def _by_code(code: str) -> LrwrError | None:
    match code:
        case "invalid_credentials" | "user_not_found":
            return LrwrError(
                "The email address or the password is wrong",
                hint="Try again; nothing was changed.",
            )
        case "email_not_confirmed":
            return LrwrError(
                "This email address is not confirmed yet",
                hint="Open the link in the message that Supabase sent you.",
            )
        case "user_banned":
            return LrwrError(
                "This account is locked", hint="Ask whoever runs the project."
            )
        case "email_provider_disabled":
            return LrwrError(
                "The project does not let anybody sign in with a password",
                hint="Turn the email provider on in the project's settings.",
            )
        case "validation_failed" | "email_address_invalid":
            return build_credentials_error()
        case "refresh_token_not_found" | "refresh_token_already_used":
            return build_session_expired_error()
        case "session_not_found" | "session_expired" | "bad_jwt":
            return build_session_expired_error()
    return None


def build_credentials_error() -> LrwrError:
    """Say that nobody can sign in with that."""
    return LrwrError(
        "That is no email address, or no password",
        hint="Try again; nothing was changed.",
    )


def build_session_expired_error() -> SessionExpired:
    """Say that a session is over."""
    return SessionExpired("Your session is over", hint="To sign in again: lrwr login")


def _told(error: Exception) -> tuple[int, str]:
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
