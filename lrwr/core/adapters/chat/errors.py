"""What an error of OpenAI's client means, in the writer's words."""

from lrwr.core.adapters.http.errors import (
    Asked,
    Refusal,
    Refused,
    broken_off,
    by_status,
    no_answer,
    ours,
    timed_out,
    unreachable,
)


def refusal(error: Exception, asked: Asked, *, now: float) -> Refused:
    """Say what an error of the client means; `now` is the time of day, for dates."""
    import openai

    own = ours(error)
    if own is not None:
        return own
    if isinstance(error, openai.APIStatusError):
        body = error.body if isinstance(error.body, dict) else {}
        said = f"{body.get('message') or ''} {error.code or ''}"
        headers = error.response.headers
        return by_status(Refusal(error.status_code, said, headers), asked, now)
    if isinstance(error, openai.APITimeoutError | TimeoutError):
        return timed_out(asked)
    if isinstance(error, openai.APIConnectionError):
        return broken_off(asked) if _began(error) else unreachable(asked)
    return broken_off(asked) if _cut(error) else no_answer(asked)


def _began(error: Exception) -> bool:
    """Say whether a connection that failed had been there."""
    import httpx2

    return isinstance(error.__cause__, httpx2.ReadError | httpx2.RemoteProtocolError)


def _cut(error: Exception) -> bool:
    import openai

    return isinstance(error, openai.APIError) or type(error).__module__.startswith(
        "http"
    )
