"""Storage of a session at a Supabase project: in the system keyring, or in a private
file.

A session proves who is signed in. It belongs to one Supabase project and is sent to no
other.
"""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from enum import StrEnum
from pathlib import Path
from types import ModuleType

from lrwr.core.model.errors import LrwrError, ServiceUnavailable, StoreProblem
from lrwr.core.model.untrusted_text import parse_json
from lrwr.core.settings.library import write_private_file
from lrwr.core.settings.service_access import KEYRING_SERVICE, MAX_KEY_CHARS

KEYRING_SESSION_ENTRY = "SUPABASE_SESSION"
"""The name of the session's entry in the keyring."""

_MAX_FILE_BYTES = 100_000
"""Bytes of a file that are read; session files are shorter."""


class SessionLocation(StrEnum):
    """Where a session is stored: in the system keyring, in a private file, or nowhere.

    `NOWHERE` means that there is none.
    """

    KEYRING = "keyring"
    FILE = "file"
    NOWHERE = "nowhere"


class _KeyringUnavailable(Exception):
    """There is no keyring, or the session is too long for it."""


class KeyringSessionStore:
    """Stores one session in the system keyring.

    If there is no keyring, or the session is too long for it, it is stored in the file
    `path`.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    def read(self, project: str) -> str | None:
        """Return the stored session as JSON text.

        `project` is the URL of the Supabase project. None if no session is stored, or
        one of another project.

        Raises:
            ServiceUnavailable: The system keyring is locked.
        """
        text, _ = self._find_session()
        return _extract_session(text, project)

    def place(self, project: str) -> SessionLocation:
        """Return where the session of the Supabase project with the URL `project` is
        stored.

        `NOWHERE` if there is none.

        Raises:
            ServiceUnavailable: The system keyring is locked.
        """
        text, place = self._find_session()
        return (
            place
            if _extract_session(text, project) is not None
            else SessionLocation.NOWHERE
        )

    def write(self, project: str, session: str) -> None:
        """Store a session, as JSON text, in place of any other session.

        `project` is the URL of the Supabase project.

        Raises:
            ServiceUnavailable: The system keyring is locked.
            StoreProblem: The file cannot be written.
        """
        text = json.dumps({"project": project, "session": session})
        try:
            _write_keyring_entry(text)
        except _KeyringUnavailable:
            self._write_file(text)
        else:
            self._path.unlink(missing_ok=True)

    def clear(self, project: str) -> bool:
        """Delete the session of the Supabase project with the URL `project`.

        Return False if there was none.

        Raises:
            ServiceUnavailable: The system keyring is locked.
            StoreProblem: The file cannot be deleted.
        """
        place = self.place(project)
        if place is SessionLocation.KEYRING:
            _delete_keyring_entry()
        elif place is SessionLocation.FILE:
            with _translate_file_errors(self._path):
                self._path.unlink(missing_ok=True)
        return place is not SessionLocation.NOWHERE

    def _find_session(self) -> tuple[str | None, SessionLocation]:
        with suppress(_KeyringUnavailable):
            text = _read_keyring_entry()
            if text is not None:
                return text, SessionLocation.KEYRING
        with suppress(OSError, UnicodeDecodeError), self._path.open("rb") as file:
            return file.read(_MAX_FILE_BYTES).decode("utf-8"), SessionLocation.FILE
        return None, SessionLocation.NOWHERE

    def _write_file(self, text: str) -> None:
        with suppress(_KeyringUnavailable):
            _delete_keyring_entry()  # an older session there would be read first
        with _translate_file_errors(self._path):
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            write_private_file(self._path, f"{text}\n")


def _extract_session(text: str | None, project: str) -> str | None:
    stored: object = None
    with suppress(ValueError):
        stored = parse_json(text or "null")
    if not isinstance(stored, dict) or stored.get("project") != project:
        return None
    session = stored.get("session")
    return session if isinstance(session, str) else None


def _read_keyring_entry() -> str | None:
    with _open_keyring() as keyring:
        session: str | None = keyring.get_password(
            KEYRING_SERVICE, KEYRING_SESSION_ENTRY
        )
        return session


def _write_keyring_entry(text: str) -> None:
    if os.name == "nt" and len(text) > MAX_KEY_CHARS:
        raise _KeyringUnavailable
    with _open_keyring() as keyring:
        keyring.set_password(KEYRING_SERVICE, KEYRING_SESSION_ENTRY, text)


def _delete_keyring_entry() -> None:
    with _open_keyring() as keyring:
        if keyring.get_password(KEYRING_SERVICE, KEYRING_SESSION_ENTRY) is not None:
            keyring.delete_password(KEYRING_SERVICE, KEYRING_SESSION_ENTRY)


@contextmanager
def _open_keyring() -> Iterator[ModuleType]:
    """Import the slow `keyring` package, yield it, and translate its errors."""
    import keyring.errors

    try:
        yield keyring
    except keyring.errors.KeyringLocked as error:
        raise ServiceUnavailable(
            "The system keyring, which stores your session, is locked",
            hint="Unlock it and try again.",
        ) from error
    except keyring.errors.KeyringError as error:
        raise _KeyringUnavailable from error


@contextmanager
def _translate_file_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except LrwrError:
        raise
    except OSError as error:
        raise StoreProblem(
            f"{path.parent}, which stores your session, cannot be used",
            hint="Check the free disk space and the permissions of the folder.",
        ) from error
