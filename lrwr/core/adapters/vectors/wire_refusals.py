"""What went wrong between lrwr and a Qdrant server, in the writer's words."""

from collections.abc import Iterator

from lrwr.core.adapters.refusals import Refused
from lrwr.core.model.errors import ServiceUnavailable

_BUSY = frozenset({408, 429, 500, 502, 503, 504})
"""States of a server in which waiting may help."""

_EMBEDDED = 'or set [vectors] keeper = "embedded"'


class Missing(Refused):
    """The server has no such collection (any more)."""


def by_status(status: int, server: str, after: float | None) -> Refused:
    """Say what a refusal means; `after` are seconds that the server asks to wait."""
    if status in _BUSY:
        reason = "has more requests than it takes" if status == 429 else "failed"
        return Refused(
            f"{server} {reason} ({status})",
            hint="Search again later.",
            retryable=True,
            after=after,
        )
    if status == 404:
        return Missing(
            f"{server} does not have what is asked for ({status})",
            hint=f"Check `vectors.url`, {_EMBEDDED}.",
            retryable=False,
        )
    message, hint = _for_good(status)
    return Refused(f"{server} {message} ({status})", hint=hint, retryable=False)


def refusal(error: Exception, timeout: float, server: str) -> ServiceUnavailable:
    """Say what an error of the client means, or of the libraries below it."""
    import httpx

    for cause in _causes(error):
        if isinstance(cause, ServiceUnavailable):
            return _once_more(cause)
        if isinstance(cause, TimeoutError | httpx.TimeoutException):
            return Refused(
                f"{server} did not answer within {timeout:g} seconds",
                hint="Search again, or raise `vectors.timeout`.",
                retryable=True,
            )
        if isinstance(cause, httpx.ConnectError | httpx.ProxyError):
            return Refused(
                f"{server} cannot be reached",
                hint=f"Start it, correct `vectors.url`, {_EMBEDDED}.",
                retryable=True,
            )
        if isinstance(cause, httpx.TransportError):
            return Refused(
                f"{server} broke off in the middle of its answer",
                hint="Search again.",
                retryable=True,
            )
    return nonsense(server)


def nonsense(server: str) -> Refused:
    """Say that an answer was none."""
    return Refused(
        f"{server} answered with something that is no answer of Qdrant's",
        hint=f"Check `vectors.url`, {_EMBEDDED}.",
        retryable=False,
    )


def unreached(error: Exception) -> bool:
    """Say whether nobody took the request."""
    import httpx

    never = httpx.ConnectError | httpx.ConnectTimeout | httpx.PoolTimeout
    return any(isinstance(cause, never) for cause in _causes(error))


def _for_good(status: int) -> tuple[str, str]:
    match status:
        case 401:
            hint = "Set the key anew with `lrwr config set-key qdrant`."
            return "does not accept the key", hint
        case 403:
            hint = "Set a key that may write, with `lrwr config set-key qdrant`."
            return "does not let this key do what is needed", hint
        case 413:
            hint = f"Raise the size of requests that it takes, {_EMBEDDED}."
            return "takes no requests of this size", hint
        case _ if status < 400:
            hint = "Set `vectors.url` to the address where the server itself is."
            return "wants to be asked elsewhere", hint
        case _:
            return "refused the request", f"Check `vectors.url`, {_EMBEDDED}."


def _once_more(told: ServiceUnavailable) -> ServiceUnavailable:
    """Return what lrwr itself has said below the client, to be raised above it."""
    if isinstance(told, Refused):
        return type(told)(
            str(told), hint=told.hint, retryable=told.retryable, after=told.after
        )
    return ServiceUnavailable(str(told), hint=told.hint)


def _causes(error: Exception) -> Iterator[BaseException]:
    """Yield an error and what lies below it: the client wraps what its libraries say."""
    cause: BaseException | None = error
    while cause is not None:
        yield cause
        source = getattr(cause, "source", None)
        cause = source if isinstance(source, BaseException) else cause.__cause__
