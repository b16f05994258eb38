"""What went wrong between lrwr and Modal, in the writer's words."""

from types import ModuleType

from lrwr.core.model.errors import LrwrError, UnreadableDocument
from lrwr.core.ports.jobs import RunnerUnavailable

_HERE = 'or read here: `lrwr ingest`, with [ingest] runner = "local"'
_TOKEN = "Set both parts of the token anew with `lrwr config set-key modal`."


def build_modal_timeout_error(seconds: float) -> RunnerUnavailable:
    """Say that nothing answers."""
    return RunnerUnavailable(
        f"Modal did not answer within {seconds:g} seconds",
        hint=f"Check the connection to the internet, {_HERE}.",
        retryable=True,
    )


def build_not_deployed_error(app: str) -> RunnerUnavailable:
    """Say that the app is not there."""
    return RunnerUnavailable(
        f"lrwr is not deployed at Modal: there is no app {app!r} with what reads",
        hint="Run `lrwr deploy modal` once, and again after each update of lrwr.",
    )


def build_version_mismatch_error() -> RunnerUnavailable:
    """Say that another lrwr is deployed."""
    return RunnerUnavailable(
        "The lrwr that is deployed at Modal is another version, or has other settings",
        hint="Run `lrwr deploy modal` again.",
    )


def translate_modal_outage(
    error: Exception, app: str, seconds: float
) -> RunnerUnavailable | None:
    """Say what an error of Modal's client means for all documents; None: for one.

    The service's own words are left out: they may repeat what it was sent.
    """
    modal = _import_exceptions()
    match error:
        case modal.AuthError() | modal.PermissionDeniedError():
            return RunnerUnavailable("Modal does not accept the token", hint=_TOKEN)
        case modal.NotFoundError():
            return build_not_deployed_error(app)
        case modal.ResourceExhaustedError():
            return RunnerUnavailable(
                "Modal takes no more work from this account now",
                hint="Look at the account's limits and balance at modal.com.",
                retryable=True,
            )
        case TimeoutError():
            return build_modal_timeout_error(seconds)
        case (
            modal.ConnectionError() | modal.ServiceError() | OSError()
            | modal.ClientClosed()
        ):  # fmt: skip
            return RunnerUnavailable(
                "Modal cannot be reached",
                hint=f"Check the connection to the internet, {_HERE}.",
                retryable=True,
            )
        case modal.InternalError() | modal.VersionError() | modal.InvalidError():
            return build_unexpected_modal_error(error)
        case _:
            return None


def build_unexpected_modal_error(error: Exception) -> RunnerUnavailable:
    """Say that it does not work, and what the client calls that."""
    return RunnerUnavailable(
        f"Modal refused the work ({type(error).__name__})",
        hint=f"Run `lrwr deploy modal` again, {_HERE}.",
    )


def translate_modal_deploy_error(error: Exception, seconds: float) -> RunnerUnavailable:
    """Say why lrwr could not be put at Modal."""
    modal = _import_exceptions()
    if isinstance(error, modal.NotFoundError):
        return RunnerUnavailable(
            "Modal lacks what the app needs: the secret lrwr-openai, with OPENAI_API_KEY",
            hint="Make it with `modal secret create lrwr-openai OPENAI_API_KEY=…`.",
        )
    if isinstance(error, modal.ImageBuildError | modal.RemoteError):
        return RunnerUnavailable(
            "Modal could not build what the containers run in",
            hint="Look at the app's page at modal.com, and try again.",
        )
    return translate_modal_outage(error, "", seconds) or RunnerUnavailable(
        f"Modal refused the app ({type(error).__name__})",
        hint="Look at the app's page at modal.com, and try again.",
    )


def translate_modal_document_error(document: str, error: Exception) -> LrwrError:
    """Say that one document was not read there, and why as far as it is known."""
    modal = _import_exceptions()
    if isinstance(error, modal.FunctionTimeoutError):
        reason = "it took longer than a container may"
    else:
        reason = f"its container failed ({type(error).__name__})"
    return UnreadableDocument(
        f"{document} was not read at Modal: {reason}.",
        hint='Read it here: `lrwr ingest`, with [ingest] runner = "local".',
    )


def build_invalid_result_error(document: str) -> LrwrError:
    """Say that what came back cannot be used."""
    return UnreadableDocument(
        f"{document} was not read at Modal: what came back does not fit the file.",
        hint="Run `lrwr deploy modal` again.",
    )


def is_unknown_call(error: Exception) -> bool:
    """Say whether Modal does not know a call any more, or has dropped its result."""
    modal = _import_exceptions()
    return isinstance(error, modal.NotFoundError | modal.OutputExpiredError)


def _import_exceptions() -> ModuleType:
    # Imported here: Modal's client must first be set up, and takes half a second.
    from modal import exception

    return exception
