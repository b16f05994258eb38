"""What an error of OpenAI's client means, in the writer's words."""

from lrwr.core.adapters.http.errors import (
    HttpErrorResponse,
    HttpRequestInfo,
    ServiceCallError,
    build_interrupted_error,
    build_invalid_response_error,
    build_timeout_error,
    build_unreachable_error,
    find_service_call_error,
    translate_http_status,
)


def translate_chat_error(
    error: Exception, asked: HttpRequestInfo, *, now: float
) -> ServiceCallError:
    """Say what an error of the client means; `now` is the time of day, for dates."""
    import openai

    own = find_service_call_error(error)
    if own is not None:
        return own
    if isinstance(error, openai.APIStatusError):
        body = error.body if isinstance(error.body, dict) else {}
        said = f"{body.get('message') or ''} {error.code or ''}"
        headers = error.response.headers
        return translate_http_status(
            HttpErrorResponse(error.status_code, said, headers), asked, now
        )
    if isinstance(error, openai.APITimeoutError | TimeoutError):
        return build_timeout_error(asked)
    if isinstance(error, openai.APIConnectionError):
        return (
            build_interrupted_error(asked)
            if _began(error)
            else build_unreachable_error(asked)
        )
    return (
        build_interrupted_error(asked)
        if _cut(error)
        else build_invalid_response_error(asked)
    )


def _began(error: Exception) -> bool:
    """Say whether a connection that failed had been there."""
    import httpx2

    return isinstance(error.__cause__, httpx2.ReadError | httpx2.RemoteProtocolError)


def _cut(error: Exception) -> bool:
    import openai

    return isinstance(error, openai.APIError) or type(error).__module__.startswith(
        "http"
    )
