"""An account at the service that stores the user's library."""

from dataclasses import dataclass
from typing import NewType

AccountId = NewType("AccountId", str)
"""An account's own name: a UUID."""


@dataclass(frozen=True, slots=True)
class Account:
    """Somebody whom the service knows, by id and email address."""

    id: AccountId
    email: str
