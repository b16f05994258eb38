"""Keyrings for tests: one that keeps, one that is locked."""

from keyring.backend import KeyringBackend
from keyring.errors import KeyringLocked


class MemoryKeyring(KeyringBackend):
    """Keeps keys for as long as it lives."""

    priority = 1
    viable = False  # used only where a test sets it

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # keyring has no types
        self.kept: dict[tuple[str, str], str] = {}

    def get_password(self, service: str, username: str) -> str | None:
        return self.kept.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        self.kept[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        del self.kept[service, username]


class LockedKeyring(KeyringBackend):
    """Answers nothing: nobody has unlocked it."""

    priority = 1
    viable = False  # used only where a test sets it

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # keyring has no types

    def get_password(self, service: str, username: str) -> str | None:
        raise KeyringLocked("Failed to unlock the collection!")

    def set_password(self, service: str, username: str, password: str) -> None:
        raise KeyringLocked("Failed to unlock the collection!")
