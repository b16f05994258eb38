"""What went wrong between lrwr and Modal, in the writer's words."""

from lrwr.core.model.errors import LrwrError, UnreadableDocument
from lrwr.core.ports.job_runner import RunnerAway

_HERE = 'or read here: `lrwr ingest`, with [ingest] runner = "local"'
_TOKEN = "Set both parts of the token anew with `lrwr config set-key modal`."


def timed_out(seconds: float) -> RunnerAway:
    """Say that nothing answers."""
    return RunnerAway(
        f"Modal did not answer within {seconds:g} seconds",
        hint=f"Check the connection to the internet, {_HERE}.",
        retryable=True,
    )


def not_deployed(app: str) -> RunnerAway:
    """Say that the app is not there."""
    return RunnerAway(
        f"lrwr is not deployed at Modal: there is no app {app!r} with what reads",
        hint="Run `lrwr deploy modal` once, and again after each update of lrwr.",
    )


def other_version() -> RunnerAway:
    """Say that another lrwr is deployed."""
    return RunnerAway(
        "The lrwr that is deployed at Modal is another version, or has other settings",
        hint="Run `lrwr deploy modal` again.",
    )


def away(error: Exception, app: str, seconds: float) -> RunnerAway | None:
    """Say what an error of Modal's client means for all documents; None: for one.

    The service's own words are left out: they may repeat what it was sent.
    """
    from modal import exception as modal

    match error:
        case modal.AuthError() | modal.PermissionDeniedError():
            return RunnerAway("Modal does not accept the token", hint=_TOKEN)
        case modal.NotFoundError():
            return not_deployed(app)
        case modal.ResourceExhaustedError():
            return RunnerAway(
                "Modal takes no more work from this account now",
                hint="Look at the account's limits and balance at modal.com.",
                retryable=True,
            )
        case TimeoutError():
            return timed_out(seconds)
        case (
            modal.ConnectionError() | modal.ServiceError() | OSError()
            | modal.ClientClosed()
        ):  # fmt: skip
            return RunnerAway(
                "Modal cannot be reached",
                hint=f"Check the connection to the internet, {_HERE}.",
                retryable=True,
            )
        case modal.InternalError() | modal.VersionError() | modal.InvalidError():
            return unforeseen(error)
        case _:
            return None


def unforeseen(error: Exception) -> RunnerAway:
    """Say that it does not work, and what the client calls that."""
    return RunnerAway(
        f"Modal refused the work ({type(error).__name__})",
        hint=f"Run `lrwr deploy modal` again, {_HERE}.",
    )


def refused(error: Exception, seconds: float) -> RunnerAway:
    """Say why lrwr could not be put at Modal."""
    from modal import exception as modal

    if isinstance(error, modal.NotFoundError):
        return RunnerAway(
            "Modal lacks what the app needs: the secret lrwr-openai, with OPENAI_API_KEY",
            hint="Make it with `modal secret create lrwr-openai OPENAI_API_KEY=…`.",
        )
    if isinstance(error, modal.ImageBuildError | modal.RemoteError):
        return RunnerAway(
            "Modal could not build what the containers run in",
            hint="Look at the app's page at modal.com, and try again.",
        )
    return away(error, "", seconds) or RunnerAway(
        f"Modal refused the app ({type(error).__name__})",
        hint="Look at the app's page at modal.com, and try again.",
    )


def unread(document: str, error: Exception) -> LrwrError:
    """Say that one document was not read there, and why as far as it is known."""
    from modal import exception as modal

    if isinstance(error, modal.FunctionTimeoutError):
        why = "it took longer than a container may"
    else:
        why = f"its container failed ({type(error).__name__})"
    return UnreadableDocument(
        f"{document} was not read at Modal: {why}.",
        hint='Read it here: `lrwr ingest`, with [ingest] runner = "local".',
    )


def misfit(document: str) -> LrwrError:
    """Say that what came back cannot be used."""
    return UnreadableDocument(
        f"{document} was not read at Modal: what came back does not fit the file.",
        hint="Run `lrwr deploy modal` again.",
    )
