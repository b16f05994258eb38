"""Short ids that the writer types: made of a few letters, and found by their beginning."""

from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from hashlib import sha256
from typing import Protocol, TypeVar

from lrwr.core.model.errors import NotFound

_LETTERS = "bcdfghjkmnpqrstvwxz"
_SHORTEST = 4
_LONGEST = 12

KeyT = TypeVar("KeyT", bound=tuple[str, ...])


class HasId(Protocol):
    """Something with an id."""

    @property
    def id(self) -> str:
        """The id, in lower case."""
        ...


IdentifiedT = TypeVar("IdentifiedT", bound=HasId)


def assign_short_ids(keys: Iterable[KeyT]) -> Mapping[KeyT, str]:
    """Return a few letters for each key, more where few would be those of another."""
    whole = {key: _letters("\0".join(key)) for key in keys}
    ids: dict[KeyT, str] = {}
    for key, letters in whole.items():
        others = [other for k, other in whole.items() if k != key]
        size = next(
            n
            for n in range(_SHORTEST, _LONGEST + 1)
            if n == _LONGEST or not any(o.startswith(letters[:n]) for o in others)
        )
        ids[key] = letters[:size]
    return ids


def find_by_id_prefix(
    text: str, every: Sequence[IdentifiedT], *, noun: str, listed_by: str
) -> IdentifiedT:
    """Return the one whose id is `text`, or begins with it and no other does.

    `noun` and `listed_by`, a command, are for the message where there is none.

    Raises:
        NotFound: There is none, or more than one.
    """
    word = text.strip().casefold()
    fits = [one for one in every if word and one.id.startswith(word)]
    exact = [one for one in fits if one.id == word]
    if len(exact or fits) == 1:
        return (exact or fits)[0]
    near = get_close_matches(word, [one.id for one in every], n=1)
    offered = f"Did you mean {near[0]}? " if near and not fits else ""
    what = f"More than one {noun} begins with" if fits else f"No {noun} is called"
    raise NotFound(
        f"{what} {text!r}", hint=f"{offered}`{listed_by}` lists them with their ids."
    )


def _letters(text: str) -> str:
    number = int.from_bytes(sha256(text.encode()).digest(), "big")
    found = []
    for _ in range(_LONGEST):
        number, rest = divmod(number, len(_LETTERS))
        found.append(_LETTERS[rest])
    return "".join(found)
