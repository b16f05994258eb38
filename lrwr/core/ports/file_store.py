"""Where the manuscript's files are kept as they are, byte for byte."""

from collections.abc import Collection
from typing import Protocol


class FileStore(Protocol):
    """Files of one library, each under the SHA-256 of what it holds, in hex.

    A file is there whole or not at all, and what a name stands for never changes.
    Every call but a first `put` may be made again and changes nothing more.

    Raises, from each: `StoreProblem` where files cannot be kept or read there, and of a
    service also `LrwrError`, nobody is signed in, and `ServiceUnavailable`, it did not
    answer. What was done until then stays done.
    """

    async def put(self, content: bytes) -> str:
        """Keep `content` and return its name; kept twice, it is there once.

        A file that was damaged is whole after it.
        """
        ...

    async def get(self, sha256: str) -> bytes:
        """Return what is kept under a name.

        Raises:
            NotFound: Nothing is.
            StoreProblem: What is there is damaged: it is not what its name says.
        """
        ...

    async def held(self) -> set[str]:
        """Return the names of what is kept; that each is whole is not looked at."""
        ...

    async def remove(self, names: Collection[str]) -> int:
        """Take files away; return how many were there. Other names are let be."""
        ...
