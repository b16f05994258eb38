"""Errors that users see, and the exit codes of commands.

LrwrError                exit code 1: a command failed
├── SettingsProblem      2: an option, file or variable holds an invalid value
├── NotFound             3: a file, folder, document or chapter does not exist
│   └── DamagedDocument     the stored text of a document is damaged
├── UnreadableDocument   4: a manuscript file cannot be parsed
├── StoreProblem         5: the library in `.lrwr/` cannot be opened, read or written
├── ServiceUnavailable   6: a model or a remote service did not answer
└── InternalError       70: an unexpected error; wraps any other exception
"""

from enum import IntEnum
from typing import ClassVar


class ExitCode(IntEnum):
    """Exit code of a command: 0 for success, 1 and above for each kind of error."""

    OK = 0
    FAILED = 1
    SETTINGS = 2
    NOT_FOUND = 3
    UNREADABLE = 4
    STORE = 5
    SERVICE = 6
    PARTIAL = 7
    """The command finished, but some documents could not be read, or are missing."""
    CONTRADICTIONS = 9
    """`lrwr check` found contradictions of confirmed canon that are not intended, or
    `lrwr draft check` found something in a draft."""
    CHANGED = 10
    """`lrwr diff --exit-code` found differences."""
    UNSUPPORTED = 11
    """`lrwr post check` found statements that the author has to look at."""
    INTERNAL = 70
    """A bug in lrwr."""
    INTERRUPTED = 130


class LrwrError(Exception):
    """A user-facing failure: a message and, where possible, a hint.

    `hint` is one imperative sentence shown on its own line; empty if the user cannot do
    anything about it.
    """

    exit_code: ClassVar[ExitCode] = ExitCode.FAILED

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint

    @property
    def full_text(self) -> str:
        """The message and, if there is one, the hint as consecutive sentences, on one
        line.
        """
        message = str(self)
        end = "" if message.endswith((".", "!", "?", "…")) else "."
        return f"{message}{end} {self.hint}".rstrip()


class SettingsProblem(LrwrError):
    """An option, settings file or environment variable holds an invalid value."""

    exit_code = ExitCode.SETTINGS


class NotFound(LrwrError):
    """A file, folder, document, chapter or other named thing does not exist."""

    exit_code = ExitCode.NOT_FOUND


class DamagedDocument(NotFound):
    """The library contains a document whose stored text is damaged."""


class UnreadableDocument(LrwrError):
    """A manuscript file cannot be parsed in the format of its extension."""

    exit_code = ExitCode.UNREADABLE


class StoreProblem(LrwrError):
    """The library in `.lrwr/` cannot be opened, read or written."""

    exit_code = ExitCode.STORE


class ServiceUnavailable(LrwrError):
    """A model or a remote service did not answer.

    `retryable` says whether the same request may succeed later.
    """

    exit_code = ExitCode.SERVICE

    def __init__(
        self, message: str, *, hint: str = "", retryable: bool = False
    ) -> None:
        super().__init__(message, hint=hint)
        self.retryable = retryable


class InternalError(LrwrError):
    """An unexpected exception; only the command-line interface raises it."""

    exit_code = ExitCode.INTERNAL
