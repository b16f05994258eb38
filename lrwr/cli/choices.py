"""Reading a flag that takes one of a few words."""

from difflib import get_close_matches
from enum import StrEnum
from typing import TypeVar

from lrwr.core.model.errors import SettingsProblem
from lrwr.core.model.turns import Mode

Choice = TypeVar("Choice", bound=StrEnum)


def one_of(choices: type[Choice], given: str, flag: str) -> Choice:
    """Return the member that `given` names, whatever its case.

    Raises:
        SettingsProblem: It names none; the hint offers the nearest.
    """
    names = [member.value for member in choices]
    word = given.strip().lower()
    if word in names:
        return choices(word)
    near = get_close_matches(word, names, n=1)
    offer = f"Did you mean {near[0]}? " if near else ""
    raise SettingsProblem(
        f"{flag} cannot be {given!r}", hint=f"{offer}Choose from: {', '.join(names)}."
    )


def mode_named(name: str | None) -> Mode | None:
    """Return the mode that `--mode` names, None where it was not given.

    Raises:
        SettingsProblem: It names none.
    """
    return None if name is None else one_of(Mode, name.replace("-", "_"), "--mode")
