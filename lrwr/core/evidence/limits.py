"""Length limits of social platforms, and the parts of a thread.

- X: 280 weighted characters, as twitter-text counts them; an address counts as 23.
- Bluesky: 300 graphemes and 3,000 bytes (lexicon `app.bsky.feed.post`).
- Mastodon: 500 graphemes, an address counted as 23, of `@user@server` only `@user`.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib import import_module
from typing import Any

import regex

from lrwr.core.model.text import SentenceSplitter, Span

MASTODON_LINK_LENGTH = 23
_LINK = re.compile(r"https?://[^\s<>()\[\]]+")
_REMOTE_MENTION = re.compile(r"(?<![\w@])(@\w+)@\w[\w.-]*\w")
PART_LINE = re.compile(r"^[ \t]*(?:-{3,}|\*{3,}|_{3,})[ \t]*$", re.MULTILINE)
_GRAPHEME = r"\X"


class Platform(StrEnum):
    """A platform with a limit for the length of a post."""

    X = "x"
    BLUESKY = "bluesky"
    MASTODON = "mastodon"


@dataclass(frozen=True, slots=True)
class PlatformLimit:
    """The longest post of a platform: in its own characters, and in bytes of UTF-8.

    `bytes` 0 means no such limit.
    """

    characters: int
    bytes: int = 0


LIMITS = {
    Platform.X: PlatformLimit(280),
    Platform.BLUESKY: PlatformLimit(300, 3_000),
    Platform.MASTODON: PlatformLimit(500),
}


@dataclass(frozen=True, slots=True)
class PartLength:
    """The length of one part of a thread, from 1, and whether it is too long.

    `characters` are counted as the platform counts them; `limit` is its limit.
    """

    part: int
    characters: int
    limit: int
    is_too_long: bool


@cache
def _load_tweet_parser() -> Callable[[str], Any]:
    """Return the parser of twitter-text; importing it takes a quarter of a second, and
    only posts on X need it.
    """
    parser: Callable[[str], Any] = import_module("twitter_text").parse_tweet
    return parser


def measure_length(text: str, platform: Platform) -> int:
    """Return the length of `text` in the characters that `platform` counts."""
    match platform:
        case Platform.X:
            return int(_load_tweet_parser()(text).weightedLength)
        case Platform.BLUESKY:
            return _count_graphemes(text)
        case Platform.MASTODON:
            linked = _LINK.sub("x" * MASTODON_LINK_LENGTH, text)
            return _count_graphemes(_REMOTE_MENTION.sub(r"\1", linked))


def fits(text: str, platform: Platform) -> bool:
    """Return whether `text` is short enough for one post on `platform`."""
    limit = LIMITS[platform]
    is_short = measure_length(text, platform) <= limit.characters
    return is_short and not (limit.bytes and len(text.encode()) > limit.bytes)


def split_parts(text: str) -> list[Span]:
    """Return the spans of the parts of a thread, which lines of `---` divide, without
    white space around them; empty parts are left out.
    """
    spans, start = [], 0
    breaks = [(m.start(), m.end()) for m in PART_LINE.finditer(text)]
    for end, following in (*breaks, (len(text), len(text))):
        part = text[start:end]
        stripped = part.strip()
        if stripped:
            begin = start + part.index(stripped)
            spans.append(Span(begin, begin + len(stripped)))
        start = following
    return spans


def measure_parts(parts: Sequence[str], platform: Platform) -> list[PartLength]:
    """Return the length of each part of a thread."""
    limit = LIMITS[platform].characters
    return [
        PartLength(
            number, measure_length(part, platform), limit, not fits(part, platform)
        )
        for number, part in enumerate(parts, start=1)
    ]


def divide_text(text: str, platform: Platform, split: SentenceSplitter) -> list[str]:
    """Return `text` in parts that each fit into a post on `platform`.

    Parts end at paragraphs, else at sentences, else at words; a word that is too long
    for a post is cut between graphemes.
    """
    paragraphs = [p.strip() for p in re.split(r"\n[^\S\n]*\n", text) if p.strip()]
    pieces: list[tuple[str, str]] = []
    for paragraph in paragraphs:
        for number, span in enumerate(split(paragraph) or [Span(0, len(paragraph))]):
            glue = "\n\n" if number == 0 else " "
            pieces.append((glue, paragraph[span.start : span.end]))
    parts: list[str] = []
    for glue, sentence in pieces:
        if parts and fits(f"{parts[-1]}{glue}{sentence}", platform):
            parts[-1] += f"{glue}{sentence}"
        else:
            parts += _divide_sentence(sentence, platform)
    return parts


def _divide_sentence(sentence: str, platform: Platform) -> list[str]:
    parts: list[str] = []
    for word in sentence.split():
        if parts and fits(f"{parts[-1]} {word}", platform):
            parts[-1] += f" {word}"
        elif fits(word, platform):
            parts.append(word)
        else:
            parts += _divide_word(word, platform)
    return parts


def _divide_word(word: str, platform: Platform) -> list[str]:
    parts = [""]
    for grapheme in _list_graphemes(word):
        if parts[-1] and not fits(f"{parts[-1]}{grapheme}", platform):
            parts.append("")
        parts[-1] += grapheme
    return parts


def _list_graphemes(text: str) -> list[str]:
    return [str(grapheme) for grapheme in regex.findall(_GRAPHEME, text)]


def _count_graphemes(text: str) -> int:
    return (
        len(text) if text.isascii() and "\r" not in text else len(_list_graphemes(text))
    )
