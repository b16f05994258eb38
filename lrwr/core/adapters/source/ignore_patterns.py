"""Patterns of files to skip, with the meaning that git gives them in a `.gitignore`.

They are matched without backtracking: the time for one path grows with the product of
its length and the pattern's, so no pattern can stop the program.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias, TypeVar


class InvalidPattern(ValueError):
    """A lone `!`, a range such as `[z-a]`, or a single backslash at the end."""


class _UnclosedSet(Exception):
    """The brackets of a pattern are not closed, or name an unknown class."""


class _Wildcard(Enum):
    STAR = "*"
    ANY = "?"
    FOLDERS = "**"
    """As a whole part of a path: any number of folders."""


@dataclass(frozen=True, slots=True)
class _CharacterSet:
    """Characters in brackets, such as `[a-z]` or `[!0-9]`."""

    ranges: tuple[tuple[str, str], ...]
    classes: tuple[Callable[[str], bool], ...]
    is_negated: bool

    def __contains__(self, character: str) -> bool:
        is_member = any(low <= character <= high for low, high in self.ranges) or any(
            is_of_class(character) for is_of_class in self.classes
        )
        return is_member != self.is_negated


_Token: TypeAlias = str | _Wildcard | _CharacterSet
"""One element of a pattern: a character, a wildcard or a set of characters."""
_Part: TypeAlias = tuple[_Token, ...] | str | _Wildcard
"""One part of a path pattern, between slashes; a text if it has no wildcards."""
_ItemT = TypeVar("_ItemT")
_PatternT = TypeVar("_PatternT")

_ASCII_CLASSES: dict[str, Callable[[str], bool]] = {
    "alnum": str.isalnum,
    "alpha": str.isalpha,
    "blank": " \t".__contains__,
    "cntrl": lambda character: character < " " or character == "\x7f",
    "digit": "0123456789".__contains__,
    "graph": lambda character: character.isprintable() and character != " ",
    "lower": str.islower,
    "print": str.isprintable,
    "punct": lambda character: (
        character.isprintable() and not (character.isalnum() or character == " ")
    ),
    "space": str.isspace,
    "upper": str.isupper,
    "xdigit": "0123456789abcdefABCDEF".__contains__,
}
"""Named classes of characters, such as `[[:digit:]]`."""


@dataclass(frozen=True, slots=True)
class _Pattern:
    """One compiled line.

    `parts` is the pattern of a path, or of a name alone, anywhere, if `is_name`.
    """

    parts: tuple[_Part, ...]
    is_name: bool
    is_negated: bool
    only_folders: bool

    def matches(self, path: Sequence[str], *, is_folder: bool) -> bool:
        """Return whether the pattern matches this path itself, given by its parts."""
        if self.only_folders and not is_folder:
            return False
        if self.is_name:
            return _matches_name(path[-1], self.parts[0])
        return _matches_sequence(path, self.parts, _Wildcard.FOLDERS, _matches_name)


class IgnorePatterns:
    """Patterns as in a `.gitignore`; the last one that matches a path decides.

    Empty lines and lines that begin with `#` are left out. As in git, a pattern whose
    brackets are not closed matches nothing.

    Raises:
        InvalidPattern: A pattern is a lone `!`, has a range such as `[z-a]`, or ends in
            a single backslash. The message is the pattern.
    """

    def __init__(self, lines: Sequence[str]) -> None:
        compiled = [_compile(line) for line in lines]
        self._patterns = [pattern for pattern in reversed(compiled) if pattern]

    def find_verdict(self, path: str) -> bool | None:
        """Return True if `path` is to be skipped, False if a pattern with `!` includes
        it, None if no pattern matches.

        `path` is relative, with `/` separators; that of a folder ends in `/`. Nothing
        in a skipped folder can be included again.
        """
        parts = path.rstrip("/").split("/")
        verdict: bool | None = None
        for end in range(1, len(parts) + 1):
            is_folder = end < len(parts) or path.endswith("/")
            verdict = self._find_own_verdict(parts[:end], is_folder=is_folder)
            if verdict:
                return True
        return verdict

    def _find_own_verdict(self, path: Sequence[str], *, is_folder: bool) -> bool | None:
        for pattern in self._patterns:
            if pattern.matches(path, is_folder=is_folder):
                return not pattern.is_negated
        return None


def _compile(line: str) -> _Pattern | None:
    """Return the pattern in a line; None if the line has none or matches nothing."""
    text = _strip_trailing_spaces(line)
    if not text or text.startswith("#"):
        return None
    is_negated = text.startswith("!")
    text = text.removeprefix("!")
    if not text:
        raise InvalidPattern(line)
    only_folders = text.endswith("/")
    text = text.removesuffix("/")
    is_name = "/" not in text
    try:
        tokens = list(_tokenize(text.removeprefix("/")))
    except _UnclosedSet:
        return None
    except InvalidPattern as error:
        raise InvalidPattern(line) from error
    parts = [_join_part(part, is_name=is_name) for part in _split(tokens)]
    if parts[-1] is _Wildcard.FOLDERS:  # what is in a folder, not the folder itself
        parts.append((_Wildcard.STAR,))
    return _Pattern(tuple(parts), is_name, is_negated, only_folders)


def _strip_trailing_spaces(line: str) -> str:
    """Return a line without spaces at its end, except one after a backslash."""
    stripped = line.rstrip("\r\n").rstrip(" ")
    backslashes = len(stripped) - len(stripped.rstrip("\\"))
    return line[: len(stripped) + backslashes % 2]


def _tokenize(text: str) -> Iterator[_Token]:
    """Yield the elements of a pattern.

    Raises:
        InvalidPattern: It ends in a single backslash.
        _UnclosedSet: It can match nothing.
    """
    index = 0
    while index < len(text):
        match text[index]:
            case "*":
                yield _Wildcard.STAR
            case "?":
                yield _Wildcard.ANY
            case "[":
                character_set, index = _parse_set(text, index + 1)
                yield character_set
            case "\\":
                index += 1
                if index == len(text):
                    raise InvalidPattern(text)
                yield text[index]
            case character:
                yield character
        index += 1


def _parse_set(text: str, start: int) -> tuple[_CharacterSet, int]:
    """Return the set in brackets whose content begins at `start`, and the index of its
    closing bracket.
    """
    is_negated = text[start : start + 1] in ("!", "^")
    index = first = start + is_negated
    ranges: list[tuple[str, str]] = []
    classes: list[Callable[[str], bool]] = []
    while index == first or text[index : index + 1] != "]":
        end = text.find("]", index + 2) if text.startswith("[:", index) else -1
        if end > index + 2 and text[end - 1] == ":":
            classes.append(_find_class(text[index + 2 : end - 1]))
            index = end + 1
            continue
        low, index = _read_character(text, index)
        high = low
        if text[index : index + 1] == "-" and text[index + 1 : index + 2] not in "]":
            high, index = _read_character(text, index + 1)
        if high < low:
            raise InvalidPattern(text)
        ranges.append((low, high))
    return _CharacterSet(tuple(ranges), tuple(classes), is_negated), index


def _find_class(name: str) -> Callable[[str], bool]:
    if name not in _ASCII_CLASSES:
        raise _UnclosedSet
    return _ASCII_CLASSES[name]


def _read_character(text: str, index: int) -> tuple[str, int]:
    """Return the character at `index`, after a backslash if there is one, and the index
    after it.
    """
    index += text[index : index + 1] == "\\"
    if index >= len(text):
        raise _UnclosedSet
    return text[index], index + 1


def _split(tokens: Sequence[_Token]) -> Iterator[list[_Token]]:
    part: list[_Token] = []
    for token in tokens:
        if token == "/":
            yield part
            part = []
        else:
            part.append(token)
    yield part


def _join_part(tokens: Sequence[_Token], *, is_name: bool) -> _Part:
    """Return a part of a pattern: `**`, a text, or elements with each `*` once."""
    stars = sum(token is _Wildcard.STAR for token in tokens)
    if not is_name and len(tokens) == stars >= 2:
        return _Wildcard.FOLDERS
    characters = [token for token in tokens if isinstance(token, str)]
    if len(characters) == len(tokens):
        return "".join(characters)
    return tuple(
        token
        for index, token in enumerate(tokens)
        if token is not _Wildcard.STAR or index == 0 or tokens[index - 1] is not token
    )


def _matches_name(name: str, part: _Part) -> bool:
    if isinstance(part, str):
        return name == part
    if isinstance(part, _Wildcard):
        return True
    return _matches_sequence(name, part, _Wildcard.STAR, _matches_character)


def _matches_character(character: str, token: _Token) -> bool:
    if isinstance(token, _CharacterSet):
        return character in token
    return token is _Wildcard.ANY or character == token


def _matches_sequence(
    items: Sequence[_ItemT],
    pattern: Sequence[_PatternT],
    wildcard: _Wildcard,
    matches: Callable[[_ItemT, _PatternT], bool],
) -> bool:
    """Return whether `pattern` matches all of `items`; `wildcard` stands for any number
    of them, the rest of the pattern for one each.

    When an item does not match, only the latest wildcard takes one item more: if any
    division of the items among the wildcards matches, then one where each earlier
    wildcard took as few as possible. So at most `len(items) * len(pattern)` comparisons
    are made.
    """
    at = position = 0
    retry_at, retry_position = -1, 0
    while position < len(items):
        if at < len(pattern) and pattern[at] is wildcard:
            retry_at, retry_position = at, position
            at += 1
        elif at < len(pattern) and matches(items[position], pattern[at]):
            at += 1
            position += 1
        elif retry_at >= 0:
            retry_position += 1
            at, position = retry_at + 1, retry_position
        else:
            return False
    return all(rest is wildcard for rest in pattern[at:])
