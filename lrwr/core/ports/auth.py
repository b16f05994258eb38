"""Who the writer is to the service that keeps their records."""

from dataclasses import dataclass
from typing import NewType, Protocol

AccountId = NewType("AccountId", str)
"""An account's own name: a UUID."""


@dataclass(frozen=True, slots=True)
class Account:
    """Somebody whom the service knows."""

    id: AccountId
    email: str


class Auth(Protocol):
    """One account at a time, signed in until it signs out or the service ends it."""

    async def sign_in(self, email: str, password: str) -> Account:
        """Sign in, in place of whoever was; the password is kept nowhere.

        Raises:
            LrwrError: The address or the password is wrong, or not confirmed yet.
            ServiceUnavailable: The service did not answer.
        """
        ...

    async def sign_out(self) -> bool:
        """Sign out; False when nobody was signed in.

        Here the account is signed out whatever happens.

        Raises:
            ServiceUnavailable: The service was not told; the session ends there later.
        """
        ...

    async def account(self) -> Account | None:
        """Return who is signed in, as the service has it; None for nobody.

        Raises:
            ServiceUnavailable: The service did not answer.
        """
        ...

    async def token(self) -> str:
        """Return what proves to the service, for the next minute, who asks.

        Raises:
            LrwrError: Nobody is signed in, or not any more.
            ServiceUnavailable: The service did not answer.
        """
        ...
