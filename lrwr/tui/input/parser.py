"""What a writer types: a question, or a command that begins with a slash."""

from collections.abc import Collection
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TypeAlias

BY_SPACE = "A question may begin with a slash, if a space stands before it."


@dataclass(frozen=True, slots=True)
class TypedQuestion:
    """A question, without what stands around it."""

    text: str


@dataclass(frozen=True, slots=True)
class TypedCommand:
    """A command by its name, and what follows it."""

    name: str
    words: str


@dataclass(frozen=True, slots=True)
class UnclearInput:
    """Neither: `why` says it in a line."""

    why: str


PromptInput: TypeAlias = TypedQuestion | TypedCommand | UnclearInput


def parse_prompt_input(text: str, names: Collection[str]) -> PromptInput:
    """Return what `text` is, `names` being the commands that there are.

    Two slashes, or a space before one, make it a question.
    """
    if not text.startswith("/"):
        return TypedQuestion(text.strip())
    if text.startswith("//"):
        return TypedQuestion(text[1:].strip())
    first, *rest = text[1:].split(maxsplit=1) or [""]
    name = first.lower() if text[1:2].strip() else ""
    if name in names:
        return TypedCommand(name, rest[0].strip() if rest else "")
    if not name:
        return UnclearInput(
            f"A command follows the slash: /help shows them. {BY_SPACE}"
        )
    near = get_close_matches(name, names, n=1)
    offer = f"Did you mean /{near[0]}?" if near else BY_SPACE
    return UnclearInput(f"No command /{first[:40]}. {offer}")


def escape_question(question: str) -> str:
    """Return a question as it is typed, so that it is not taken for a command."""
    return f" {question}" if question.startswith("/") else question
