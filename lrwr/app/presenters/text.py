"""Text formatting for all presenters: numbers, prices, sanitizing, styled lines."""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import TYPE_CHECKING, Literal, TypeAlias

from lrwr.core.model.text import strip_closing_mark

if TYPE_CHECKING:
    from lrwr.core.bible.values import TextEvidence
    from lrwr.core.model.language_model import Usage


TURN_ON_MODEL = (
    'To use a language model, set `use = "local"` or `use = "openai"` under `[model]`'
    " in `lrwr.toml` (`lrwr init` creates that file), then run `lrwr ingest`."
)
"""The hint that `lrwr status` and `lrwr doctor` show without a language model."""


def format_count(number: int, noun: str, plural: str = "") -> str:
    """Return a number with its noun: "1 word", "2,000 words".

    `noun` is singular; `plural` defaults to `noun` with an "s".
    """
    return f"{number:,} {noun if number == 1 else plural or f'{noun}s'}"


_NAMED_FILES = 3
"""Files that a warning names at most."""


def describe_changed_files(documents: Sequence[str]) -> str:
    """Return a sentence that names files that changed after they were ingested; "" if
    there are none.
    """
    if not documents:
        return ""
    names = [sanitize_line(document) for document in documents[:_NAMED_FILES]]
    if (more := len(documents) - len(names)) > 0:
        names.append(f"{more:,} more")
    listed = " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))
    has, it = ("has", "it") if len(documents) == 1 else ("have", "them")
    return (
        f"{listed} {has} changed since the last ingest; what is shown of {it} is the"
        " text of that ingest. Run `lrwr ingest`."
    )


LONGEST = 4_000
"""Maximum number of characters of a question."""
NEARLY = 3_600
"""Number of characters from which the length is shown."""


def describe_question_length(length: int) -> str:
    """Return how many characters of a question are used of the `LONGEST` allowed ones.

    `length` is in characters. Empty below `NEARLY`; above `LONGEST` the text asks to
    shorten the question.
    """
    if length > LONGEST:
        return f"{length:,} characters; a question can have {LONGEST:,}. Shorten it to send it."
    return f"{length:,} of {LONGEST:,} characters" if length >= NEARLY else ""


_HORIZON = re.compile(r"(?:ch(?:apter)?\s*)?(\d+)(?::s(\d+))?(@\d+)?", re.IGNORECASE)


def format_horizon(as_of: str) -> str:
    """Return a horizon as typed, such as `ch3:s2`, in words: "chapter 3, scene 2".

    Other notations, such as a file path, are returned unchanged.
    """
    match = _HORIZON.fullmatch(as_of.strip())
    if match is None:
        return as_of
    chapter, scene, offset = match.groups()
    if offset:
        return f"your position in chapter {chapter}"
    return f"chapter {chapter}, scene {scene}" if scene else f"chapter {chapter}"


def format_age(seconds: float) -> str:
    """Return an age of `seconds` as text: "just now", "5 s ago", "3 min ago", "2 h ago"."""
    if seconds < 2:
        return "just now"
    if seconds < 60:
        return f"{seconds:.0f} s ago"
    if seconds < 3600:
        return f"{seconds // 60:.0f} min ago"
    return f"{seconds // 3600:.0f} h ago"


def format_tokens_and_price(usage: "Usage", cost: float | None, *, about: bool) -> str:
    """Return tokens and price of model calls: "9 tokens sent, 2 received ($0.01)".

    `cost` is in US dollars, None if unknown. `about` marks the numbers as an estimate.
    """
    return (
        f"{'about ' if about else ''}{usage.prompt_tokens:,} tokens sent,"
        f" {usage.completion_tokens:,} received ({format_dollars(cost)})"
    )


def format_dollars(cost: float | None) -> str:
    """Return a price such as "$0.12", "less than $0.01", or "price unknown" for None.

    `cost` is in US dollars.
    """
    if cost is None:
        return "price unknown"
    return "less than $0.01" if 0 < cost < 0.005 else f"${cost:.2f}"


_ESCAPES = re.compile(
    r"""
      (?: \x1b\[ | \x9b ) [0-?]* [ -/]* [@-~]?               # colours, cursor moves
    | (?: \x1b[\]P^_X] | [\x90\x98\x9d-\x9f] )               # titles, links, clipboard:
      [^\x07\x1b\x9c\n]* (?: \x07 | \x1b\\ | \x9c )?         #   to their end, or the line's
    | \x1b [ -/]* [0-~]?                                     # every other escape
    """,
    re.VERBOSE,
)
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def sanitize_text(text: str) -> str:
    r"""Return `text` without terminal escapes, controls and bidirectional overrides.

    `\r\n` becomes `\n`; tabs are unchanged. A second call changes nothing.
    """
    text = text.replace("\r\n", "\n")
    return _CONTROLS.sub("", _ESCAPES.sub("", text))


def sanitize_line(text: str) -> str:
    """Return `text` with `␊` for each line end, so that it stays on one line.

    Nothing else is sanitized. Used for text such as file names.
    """
    return re.sub(r"\r\n|[\n\r]", "␊", text)


NOTE_MARK = "†"
"""Marks where a text refers to a footnote."""
EXCERPT_CHARACTERS = 200
"""Maximum number of characters of a quotation that is shown."""


def shorten_excerpt(text: str) -> str:
    """Return `text` on one line, cut after a word if it is too long, with " …", and
    without the mark of a quotation that ends before it.

    The limit is `EXCERPT_CHARACTERS` characters.
    """
    line = strip_closing_mark(" ".join(text.split()))
    if len(line) <= EXCERPT_CHARACTERS:
        return line
    return line[:EXCERPT_CHARACTERS].rsplit(" ", 1)[0] + " …"


Tone: TypeAlias = Literal["plain", "strong", "faint", "place", "good", "bad"]
"""Meaning of a piece of text; each renderer chooses the colour."""


@dataclass(frozen=True, slots=True)
class StyledText:
    """A piece of a line, with its tone, from which a renderer chooses the style."""

    text: str
    tone: Tone = "plain"


LinePiece: TypeAlias = str | StyledText
"""A piece of a line; a plain string has the tone "plain"."""


@dataclass(frozen=True, slots=True)
class StyledLine:
    """A line or paragraph in pieces, indented by `indent` columns.

    The text is not sanitized yet. `evidence` is the first quotation that the line shows
    or that supports it; None if there is none.
    """

    pieces: tuple[LinePiece, ...]
    indent: int = 0
    evidence: "TextEvidence | None" = None


@dataclass(frozen=True, slots=True)
class StyledTable:
    """A table with column `headings` and `rows` of cells.

    The columns whose heading is in `right` are right-aligned. Those in `optional` are
    left out, the first one first, in a terminal that is too narrow for all words.
    """

    headings: Sequence[str]
    rows: Sequence[Sequence[LinePiece]]
    right: Collection[str] = ()
    optional: Sequence[str] = ()


LEAST_SHARED_CHARS = 16
"""Length of a beginning that neighbouring chapter titles share and lists leave out."""


def shorten_titles(titles: Sequence[str]) -> list[str]:
    """Return titles of chapters for a list, which cuts them at their end.

    A title loses the words at its beginning that it shares with the title before or
    after it, if they are long: "… II Murder" for "Book the First, Chapter II Murder".
    """
    words = [title.split() for title in titles]
    shown = []
    for number, title in enumerate(titles):
        neighbours = words[max(0, number - 1) : number] + words[number + 1 : number + 2]
        counts = (_count_shared_words(words[number], other) for other in neighbours)
        shared = max(counts, default=0)
        is_long = len(" ".join(words[number][:shared])) >= LEAST_SHARED_CHARS
        shown.append(f"… {' '.join(words[number][shared:])}" if is_long else title)
    return shown


def shorten_chapter_names(names: Sequence[str]) -> list[str]:
    """Return names of chapters, such as "Chapter 2 “Fog”", with `shorten_titles`.

    A name without a quotation mark is a title.
    """
    parts = [name.partition("“") if "“" in name else ("", "", name) for name in names]
    titles = shorten_titles([title for _, _, title in parts])
    return [
        f"{number}{quote}{title}"
        for (number, quote, _), title in zip(parts, titles, strict=True)
    ]


def _count_shared_words(words: Sequence[str], others: Sequence[str]) -> int:
    """Return how many words at the beginning are the same; the last one never counts."""
    pairs = zip(words[:-1], others, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def styled_line(*pieces: LinePiece, indent: int = 0) -> StyledLine:
    """Return a line of `pieces` without a quotation.

    `indent` is in columns.
    """
    return StyledLine(pieces, indent)
