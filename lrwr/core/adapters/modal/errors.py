"""Errors of Modal's client as errors with messages for the user."""

from types import ModuleType

from lrwr.core.model.errors import LrwrError, UnreadableDocument
from lrwr.core.model.text import format_seconds
from lrwr.core.ports.jobs import RunnerUnavailable

_LOCAL = 'process documents on this machine: set `[ingest] runner = "local"`'
_CONNECTION = f"Check your internet connection, or {_LOCAL}."
_DEPLOY = "Run `lrwr deploy modal` again."
_APP_PAGE = "Look at the app's page at modal.com, and try again."


def build_modal_timeout_error(seconds: float) -> RunnerUnavailable:
    """Return the error for a request to Modal that took more than `seconds`."""
    return RunnerUnavailable(
        f"Modal did not answer within {format_seconds(seconds)}",
        hint=_CONNECTION,
        retryable=True,
    )


def build_not_deployed_error(app: str) -> RunnerUnavailable:
    """Return the error for an app that does not exist at Modal; `app` is its name."""
    return RunnerUnavailable(
        f"lrwr is not deployed at Modal: there is no app {app!r} with lrwr's function",
        hint="Run `lrwr deploy modal` once, and again after each update of lrwr.",
    )


def build_version_mismatch_error() -> RunnerUnavailable:
    """Return the error for a deployed lrwr of another version, or with other
    settings.
    """
    return RunnerUnavailable(
        "The version or the settings of lrwr at Modal differ from those on this machine",
        hint=_DEPLOY,
    )


def translate_modal_outage(
    error: Exception, app: str, seconds: float
) -> RunnerUnavailable | None:
    """Return the error with a message for the user, if `error` affects all documents.

    That is a refused token or app, a limit of the account, a timeout or a failed
    connection. None if it affects only the document that was processed. `app` is the
    name of the app, `seconds` the timeout of a request. Modal's own text is left out:
    it may repeat what was sent.
    """
    modal = _import_exceptions()
    match error:
        case modal.AuthError() | modal.PermissionDeniedError():
            return RunnerUnavailable(
                "Modal does not accept the token",
                hint="Set both parts of the token again with `lrwr config set-key modal`.",
            )
        case modal.NotFoundError():
            return build_not_deployed_error(app)
        case modal.ResourceExhaustedError():
            return RunnerUnavailable(
                "Modal rejects calls from this account because of a limit",
                hint="Check the limits and the balance of your account at modal.com.",
                retryable=True,
            )
        case TimeoutError():
            return build_modal_timeout_error(seconds)
        case (
            modal.ConnectionError() | modal.ServiceError() | OSError()
            | modal.ClientClosed()
        ):  # fmt: skip
            return RunnerUnavailable(
                "Modal cannot be reached", hint=_CONNECTION, retryable=True
            )
        case modal.InternalError() | modal.VersionError() | modal.InvalidError():
            return build_unexpected_modal_error(error)
        case _:
            return None


def build_unexpected_modal_error(error: Exception) -> RunnerUnavailable:
    """Return the error for a failure of Modal's client that has no message of its own
    in lrwr; it names the class of `error`.
    """
    return RunnerUnavailable(
        f"Modal rejected the call ({type(error).__name__})",
        hint=f"Run `lrwr deploy modal` again, or {_LOCAL}.",
    )


def translate_modal_deploy_error(error: Exception, seconds: float) -> RunnerUnavailable:
    """Return the error with a message for the user, for a failed deployment.

    It tells apart a missing secret, an image that cannot be built, and the causes of
    `translate_modal_outage`. `seconds` is the timeout of a request.
    """
    modal = _import_exceptions()
    if isinstance(error, modal.NotFoundError):
        return RunnerUnavailable(
            "Modal does not have the secret `lrwr-openai` with OPENAI_API_KEY",
            hint="Create it with `modal secret create lrwr-openai OPENAI_API_KEY=…`.",
        )
    if isinstance(error, modal.ImageBuildError | modal.RemoteError):
        return RunnerUnavailable(
            "Modal could not build the container image", hint=_APP_PAGE
        )
    return translate_modal_outage(error, "", seconds) or RunnerUnavailable(
        f"Modal rejected the app ({type(error).__name__})", hint=_APP_PAGE
    )


def translate_modal_document_error(document: str, error: Exception) -> LrwrError:
    """Return the error for a document whose container failed with `error`.

    It is an `UnreadableDocument`; the message says that the time limit was exceeded, or
    names the class of `error`. `document` is the document's id.
    """
    modal = _import_exceptions()
    if isinstance(error, modal.FunctionTimeoutError):
        reason = "it took longer than a container may run"
    else:
        reason = f"its container failed ({type(error).__name__})"
    return UnreadableDocument(
        f"{document} was not processed at Modal: {reason}",
        hint="Process it on this machine: run `lrwr ingest` with"
        ' `[ingest] runner = "local"`.',
    )


def build_invalid_result_error(document: str) -> LrwrError:
    """Return the error for a result that cannot be decoded or does not fit the file.

    It is an `UnreadableDocument`. `document` is the document's id.
    """
    return UnreadableDocument(
        f"{document} was not processed at Modal: the result does not match the file",
        hint=_DEPLOY,
    )


def is_unknown_call(error: Exception) -> bool:
    """Return whether `error` says that Modal knows no such call, or has deleted its
    result.
    """
    modal = _import_exceptions()
    return isinstance(error, modal.NotFoundError | modal.OutputExpiredError)


def _import_exceptions() -> ModuleType:
    # Imported late: the environment must be set first (see `calls`), and it is slow.
    from modal import exception

    return exception
