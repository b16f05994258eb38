"""Everything that can go wrong, in the writer's words.

LrwrError                exit code 1: something failed
├── SettingsProblem      2: a flag, file or variable holds a value that cannot be used
├── NotFound             3: a file, folder, document or chapter is not there
├── UnreadableDocument   4: a manuscript file cannot be read as what it claims to be
├── StoreProblem         5: the library in `.lrwr/` cannot be opened, read or written
├── ServiceUnavailable   6: a model or a remote service did not answer
└── Fault               70: an internal problem; what any other exception becomes
"""

from enum import IntEnum
from typing import ClassVar


class ExitCode(IntEnum):
    """What the shell is told when a command ends."""

    OK = 0
    FAILED = 1
    SETTINGS = 2
    NOT_FOUND = 3
    UNREADABLE = 4
    STORE = 5
    SERVICE = 6
    PARTIAL = 7
    """The command did its work, but some documents could not be read."""
    CONTRADICTIONS = 9
    """`lrwr check` found what contradicts confirmed canon, and is not intended."""
    CHANGED = 10
    """`lrwr diff --exit-code` found that something differs."""
    INTERNAL = 70
    """Something went wrong in lrwr itself."""
    INTERRUPTED = 130


class LrwrError(Exception):
    """A failure with something to say and something to try.

    `hint` is one imperative sentence, shown on its own line; empty when there is
    nothing the writer could do.
    """

    exit_code: ClassVar[ExitCode] = ExitCode.FAILED

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint

    @property
    def told(self) -> str:
        """Return it as sentences, for a remark: what happened, and what to try."""
        message = str(self)
        end = "" if message.endswith((".", "!", "?", "…")) else "."
        return f"{message}{end} {self.hint}".rstrip()


class SettingsProblem(LrwrError):
    """A flag, file or variable holds a value that cannot be used."""

    exit_code = ExitCode.SETTINGS


class NotFound(LrwrError):
    """A file, folder, document or chapter is not there."""

    exit_code = ExitCode.NOT_FOUND


class UnreadableDocument(LrwrError):
    """A manuscript file cannot be read as what it claims to be."""

    exit_code = ExitCode.UNREADABLE


class StoreProblem(LrwrError):
    """The library in `.lrwr/` cannot be opened, read or written."""

    exit_code = ExitCode.STORE


class ServiceUnavailable(LrwrError):
    """A model or a remote service did not answer.

    `retryable` says whether waiting may help.
    """

    exit_code = ExitCode.SERVICE

    def __init__(
        self, message: str, *, hint: str = "", retryable: bool = False
    ) -> None:
        super().__init__(message, hint=hint)
        self.retryable = retryable


class InternalError(LrwrError):
    """Something that lrwr did not foresee: made by the command line alone."""

    exit_code = ExitCode.INTERNAL
