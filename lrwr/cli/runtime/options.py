"""Options that many commands share."""

from difflib import get_close_matches
from enum import StrEnum
from typing import Annotated, TypeVar

import typer

from lrwr.core.model.errors import SettingsProblem
from lrwr.core.model.turns import AnswerMode

AsOfOption = Annotated[
    str | None,
    typer.Option(
        metavar="PLACE",
        help="As the story stands at ch12, ch12:s2, vol3.ch6 or a file; nothing later"
        " is shown.",
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]
NameArgument = Annotated[
    list[str] | None,
    typer.Argument(metavar="[NAME]", help="A name; only what concerns it."),
]
AskCharacterOption = Annotated[
    str | None,
    typer.Option(
        "--character", metavar="NAME", help="Whom it is about, or who answers."
    ),
]
ModeNameOption = Annotated[
    str | None,
    typer.Option(
        "--mode",
        metavar="MODE",
        help="Who answers: analytical, or in_character with --character.",
    ),
]
AskAsOfOption = Annotated[
    str | None,
    typer.Option(
        metavar="PLACE",
        help="As the story stands at ch12, ch12:s2, vol3.ch6 or a file; nothing"
        " later is used.",
    ),
]
AskThreadNameOption = Annotated[
    str | None,
    typer.Option(
        "--thread",
        metavar="THREAD",
        help="Go on with a conversation: see `lrwr threads`.",
    ),
]


ChoiceT = TypeVar("ChoiceT", bound=StrEnum)


def parse_choice(choices: type[ChoiceT], text: str, flag: str) -> ChoiceT:
    """Return the member that `text` names, whatever its case.

    Raises:
        SettingsProblem: It names none; the hint offers the nearest.
    """
    names = [member.value for member in choices]
    value = text.strip().lower()
    if value in names:
        return choices(value)
    nearest = get_close_matches(value, names, n=1)
    offer = f"Did you mean {nearest[0]}? " if nearest else ""
    raise SettingsProblem(
        f"{flag} cannot be {text!r}", hint=f"{offer}Choose from: {', '.join(names)}."
    )


def parse_mode(name: str | None) -> AnswerMode | None:
    """Return the mode that `--mode` names, None where it was not given.

    Raises:
        SettingsProblem: It names none.
    """
    return (
        None
        if name is None
        else parse_choice(AnswerMode, name.replace("-", "_"), "--mode")
    )
