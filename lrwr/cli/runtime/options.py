"""Options and arguments that several commands share."""

import re
from difflib import get_close_matches
from enum import StrEnum
from typing import Annotated, Any, TypeVar

import typer

from lrwr.core.model.errors import SettingsProblem

AsOfOption = Annotated[
    str | None,
    typer.Option(
        metavar="POINT",
        help="Use the story only up to this point: ch12, ch12:s2, vol3.ch6 or a file.",
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]
BookOption = Annotated[
    str | None,
    typer.Option(
        "--book",
        metavar="BOOK",
        help="Use an e-book of `lrwr books` instead of the manuscript, up to your position.",
    ),
]
WholeBookOption = Annotated[
    bool,
    typer.Option("--whole", help="With --book: use the whole book, and say so."),
]
NameArgument = Annotated[
    list[str] | None,
    typer.Argument(metavar="[NAME]", help="Show only entries about this name."),
]
AskCharacterOption = Annotated[
    str | None,
    typer.Option(
        "--character",
        metavar="NAME",
        help="The character you ask about, or who answers with --mode in_character.",
    ),
]
ModeNameOption = Annotated[
    str | None,
    typer.Option(
        "--mode",
        metavar="MODE",
        help="Who answers: analytical (the analyst, the default) or in_character (needs"
        " --character).",
    ),
]
AskThreadNameOption = Annotated[
    str | None,
    typer.Option(
        "--thread",
        metavar="THREAD",
        help="Continue a thread (saved conversation), by its id in `lrwr threads` or words"
        " of its title; 1 is the newest.",
    ),
]


def declare_limit(noun: str, *, most: int, least: int = 1) -> Any:
    """Return the option `--limit`: a command shows at most N of the things `noun`."""
    return typer.Option(
        "--limit",
        "-n",
        "-k",
        min=least,
        max=most,
        metavar="N",
        help=f"Show at most N {noun}.",
    )


ChoiceT = TypeVar("ChoiceT", bound=StrEnum)


def parse_choice(choices: type[ChoiceT], text: str, flag: str) -> ChoiceT:
    """Return the member of the enum `choices` whose value is `text`, ignoring case.

    `flag` names the option in the error message.

    Raises:
        SettingsProblem: There is none; the hint suggests the most similar one.
    """
    names = [member.value for member in choices]
    value = text.strip().lower()
    if value in names:
        return choices(value)
    similar = get_close_matches(value, names, n=1)
    suggestion = f"Did you mean {similar[0]}? " if similar else ""
    raise SettingsProblem(
        f"{text!r} is not a valid value for {flag}",
        hint=f"{suggestion}Choose from: {', '.join(names)}.",
    )


def parse_optional_choice(
    choices: type[ChoiceT], text: str | None, flag: str
) -> ChoiceT | None:
    """Return what `parse_choice` does, with "-" read as "_"; None for None.

    Raises:
        SettingsProblem: There is no such choice.
    """
    if text is None:
        return None
    return parse_choice(choices, text.replace("-", "_"), flag)


def check_budget(budget: float | None) -> float | None:
    """Return `budget`, in US dollars; None for none.

    Raises:
        SettingsProblem: It allows no call.
    """
    if budget is not None and budget <= 0:
        raise SettingsProblem(
            f"A budget of {budget:g} allows no call of a language model",
            hint="Name a higher `--budget`, or do without the model.",
        )
    return budget


_CHAPTER_WORD = re.compile(r"(?:ch|chapter )(\d{1,4})", re.IGNORECASE)


def split_chapter(words: str) -> tuple[str, int | None]:
    """Return a name and a chapter that may follow it, as in "Nell ch4"."""
    name, _, last = words.rpartition(" ")
    match = _CHAPTER_WORD.fullmatch(last)
    return (name.strip(), int(match[1])) if match else (words, None)


def split_hearer(name: str) -> tuple[str, str]:
    """Return a speaker, and who hears it, as in "Nell to Hob"; empty without a hearer."""
    speaker, _, hearer = f" {name}".partition(" to ")
    return speaker.strip(), hearer.strip()


def parse_chapter(text: str) -> int:
    """Return the number of a chapter, such as 4 for "ch4".

    Raises:
        SettingsProblem: It is no chapter.
    """
    match = _CHAPTER_WORD.fullmatch(text.strip())
    if match is None:
        raise SettingsProblem(f"“{text}” is no chapter", hint="Write it as in ch4.")
    return int(match[1])
