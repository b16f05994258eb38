"""Candidates for names in a text, and mentions of the known characters."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from lrwr.core.model.cast import Cast, Mention
from lrwr.core.model.text import Span
from lrwr.core.nlp.names.lexicon import (
    AMBIGUOUS_NAME_WORDS,
    NAME_EPITHETS,
    NAME_TITLES,
    NON_NAME_WORDS,
    PARTICLES,
    SURNAME_TITLES,
    TITLE_ABBREVIATIONS,
    TITLES_WITH_OF,
)

_UPPER = "A-ZÀ-ÖØ-ÞĀĂĄĆĈČĎĐĒĘĚĞĠĢĤĪİĶĹĽŁŃŇŌŐŒŔŘŚŜŞŠŤŪŮŰŴŶŹŻŽ"
_LETTER = r"[^\W\d_]"
CAPITALIZED_WORD = re.compile(
    rf"(?<![^\W_])(?<![^\W_]['’])[{_UPPER}]{_LETTER}*(?:['’\-]{_LETTER}+)*"
)
"""A word that begins with a capital, including inner apostrophes and hyphens."""
_CANDIDATES_POSSESSIVE = re.compile(r"['’]s$")
_TAIL = re.compile(r"['’](?:s|ll|d|ve|re)$")
_CLOSE_GAP = re.compile(r"[ \u00a0]|[ \t]*\n[ \t]*(?!\n)")
_PARTICLE_GAP = re.compile(r"[ \u00a0\n]([a-z]{1,3}(?: (?:la|den|der))?)[ \u00a0\n]")
_OF_GAP = re.compile(r"[ \u00a0\n]of(?: the)?[ \u00a0\n]")
# Markdown headings, and lines without lower-case letters such as "CHAPTER ONE"
_HEADING = re.compile(r"^#{1,6} .*$|^[^a-z\n]*[A-Z]{2}[^a-z\n]*$", re.MULTILINE)
_CURLY = re.compile(r"“[^”]*?(?:”|\n\n|\Z)")
_STRAIGHT = re.compile(r"\"[^\"]*?(?:\"|\n\n|\Z)")
_SINGLE = re.compile(r"(?<!\w)[‘'](?=\S).*?(?:[.,!?;—-][’'](?!\w)|\n\n|\Z)", re.DOTALL)
_LEADING = " \t\u00a0*_([—-"
_OPENING = "“‘"
_ENDS = ".!?:\n"


@dataclass(frozen=True, slots=True)
class NameCandidate:
    """A run of capitalised words at one position of a text; `start` and `end` are
    offsets in its section.

    `words` are as written, without a final possessive; particles ("de") are included.
    `initial` means that a sentence may start here, so the first capital proves nothing.
    `possessive` marks a final "'s"; `quoted` a position inside quoted speech.
    """

    words: tuple[str, ...]
    start: int
    end: int
    initial: bool
    possessive: bool
    quoted: bool


@dataclass(frozen=True, slots=True)
class TextSection:
    """A section of a text and the spans of quoted speech in it.

    Offsets are relative to the start of the section. `starts` are the start offsets of
    `quotes`, ascending.
    """

    text: str
    quotes: tuple[Span, ...]
    starts: tuple[int, ...]

    def is_quoted(self, offset: int) -> bool:
        """Return whether the character at `offset`, relative to the section, is inside
        quoted speech.
        """
        row = bisect_right(self.starts, offset) - 1
        return row >= 0 and offset < self.quotes[row].end


def cut_text_section(text: str, part: Span) -> TextSection:
    """Return the section of `text` at the span `part`, with headings replaced by
    spaces.

    All offsets in the result are relative to the start of `part`.
    """
    section_text = _HEADING.sub(
        lambda match: " " * len(match[0]), text[part.start : part.end]
    )
    quotes = tuple(
        Span(*match.span()) for match in _quotes_of(section_text).finditer(section_text)
    )
    return TextSection(section_text, quotes, tuple(quote.start for quote in quotes))


def _quotes_of(text: str) -> re.Pattern[str]:
    counts = {
        _CURLY: text.count("“"),
        _STRAIGHT: text.count('"') // 2,
        _SINGLE: len(re.findall(r"(?<!\w)[‘'](?=[A-Z])", text)) // 2,
    }
    return max(counts, key=lambda pattern: counts[pattern])


def find_name_candidates(section: TextSection) -> Iterator[NameCandidate]:
    """Yield each run of consecutive capitalised words in a section, in text order.

    Runs are maximal: no word before or after continues them.
    """
    run: list[re.Match[str]] = []
    for match in CAPITALIZED_WORD.finditer(section.text):
        if _is_oath(section.text, *match.span()):
            continue
        if run and not _continues_name(section.text, run, match):
            yield _build_candidate(section, run)
            run = []
        run.append(match)
    if run:
        yield _build_candidate(section, run)


_OATH_BEFORE = re.compile(r"(?:^|[^\w\s]\s*)[Bb]y $")
_OATH_AFTER = re.compile(r"\s?[!,.;?—–-]")
_OATH_WORDS = frozenset(
    {"george", "jove", "jupiter", "jingo", "gad", "harry", "heaven"}
)


def _is_oath(text: str, start: int, end: int) -> bool:
    """Return whether the word at `start` is that of an oath: "By George!"."""
    if text[start:end].lower() not in _OATH_WORDS:
        return False
    before = _OATH_BEFORE.search(text[max(0, start - 8) : start])
    return bool(before and _OATH_AFTER.match(text, end))


def _continues_name(
    text: str, run: Sequence[re.Match[str]], new: re.Match[str]
) -> bool:
    last = run[-1]
    gap = text[last.end() : new.start()]
    if len(gap) > 9 or _TAIL.search(last[0]):
        return False
    low = last[0].lower()
    if gap[:1] == ".":
        shortened = low in TITLE_ABBREVIATIONS or (len(last[0]) == 1 and low != "i")
        return shortened and (len(gap) == 1 or bool(_CLOSE_GAP.fullmatch(gap[1:])))
    if _CLOSE_GAP.fullmatch(gap):
        return low not in ("i", "o") and not _starts_new_name(low, new[0])
    if _OF_GAP.fullmatch(gap):
        return low in TITLES_WITH_OF
    particle = _PARTICLE_GAP.fullmatch(gap)
    return bool(particle and particle[1].split()[0] in PARTICLES)


def _starts_new_name(last: str, new: str) -> bool:
    """Return whether a title starts a second name, as in "Nell Mrs. Gannet"."""
    return new.lower() in SURNAME_TITLES and last not in NAME_TITLES


def _build_candidate(
    section: TextSection, run: Sequence[re.Match[str]]
) -> NameCandidate:
    text, start, end = section.text, run[0].start(), run[-1].end()
    words = _split_words(text[start:end])
    possessive = bool(_CANDIDATES_POSSESSIVE.search(words[-1]))
    tail = _TAIL.search(words[-1])
    if tail:
        words[-1] = words[-1][: tail.start()]
        end -= len(tail[0])
    initial = starts_sentence(text, start)
    quoted = section.is_quoted(start)
    return NameCandidate(tuple(words), start, end, initial, possessive, quoted)


def _split_words(stretch: str) -> list[str]:
    return re.sub(r"\.(?=[^\s.])", ". ", stretch).split()


def starts_sentence(text: str, at: int) -> bool:
    """Return whether a sentence, quotation or line may start at offset `at`."""
    back = at - 1
    while back >= 0 and text[back] in _LEADING:
        back -= 1
    if back < 0 or text[back] in _ENDS or text[back] in _OPENING:
        return True
    if text[back] in "\"'" and back == at - 1:
        return True
    while back >= 0 and text[back] in "\"'”’)] ":
        back -= 1
    return back < 0 or text[back] in _ENDS


_POSSESSIVE = re.compile(r"['’]s$")
_CAPITAL_BEFORE = re.compile(r"([^\W\d_][\w'’-]*)\.?[ \u00a0\n]\Z")
_CAPITAL_AFTER = re.compile(r"[ \u00a0\n]([^\W\d_][\w'’-]*)")
_VERB_AFTER = re.compile(r"['’]s\b|\s+(?:\w+ed|was|is|had|has|said|asked|told)\b")
_PIECE = re.compile(r"[^\s'’]+|['’]")
_RECENT = 4000
"""Maximum distance, in characters, to the last mention of a shared name's owner."""


@dataclass(frozen=True, slots=True)
class _NamePattern:
    """A name to search for; `who` are the characters that have it."""

    words: int
    pattern: re.Pattern[str]
    who: tuple[str, ...]


@dataclass(slots=True)
class _NameIndex:
    """Names of a cast by their first word in lower case, longest first.

    `lowercase_names` are names that start with a lower-case word ("the keeper").
    """

    by_first: dict[str, list[_NamePattern]] = field(default_factory=dict)
    lowercase_names: list[_NamePattern] = field(default_factory=list)


def find_mentions(text: str, parts: Sequence[Span], cast: Cast) -> list[Mention]:
    """Return all mentions of characters of `cast` in the spans `parts` of `text`, in
    the order of `parts`, without overlaps.

    A form shared by several characters refers to the one mentioned last, if that is
    less than 4,000 characters before; otherwise it is skipped.
    """
    names = _build_name_index(cast)
    last_end: dict[str, int] = {}
    mentions: list[Mention] = []
    for part in parts:
        for span, people in _mentions_in_part(text, part, names):
            chosen = (
                people[0]
                if len(people) == 1
                else _last_mentioned(people, last_end, span.start)
            )
            if chosen:
                last_end[chosen] = span.end
                mentions.append(Mention(chosen, span))
    return mentions


def _last_mentioned(people: Sequence[str], last_end: Mapping[str, int], at: int) -> str:
    near = [name for name in people if at - last_end.get(name, -_RECENT) < _RECENT]
    return max(near, key=lambda name: last_end[name]) if near else ""


def _build_name_index(cast: Cast) -> _NameIndex:
    owned = {
        alias.name: (character.name,)
        for character in cast.characters
        for alias in character.aliases
    }
    names = _NameIndex()
    for form, people in {**cast.shared, **owned}.items():
        _add_name(names, form, tuple(people))
    for patterns in names.by_first.values():
        patterns.sort(key=lambda name: -len(name.pattern.pattern))
    return names


def _add_name(names: _NameIndex, form: str, people: tuple[str, ...]) -> None:
    words = form.split()
    if len(words) > 1 and words[0].lower() in ("the", "a", "an") and form[:1].islower():
        words = words[1:]
    if not words:
        return
    pattern = (
        r"[\s\u00a0]+".join(_loose_pattern(word) for word in words) + r"(?![^\W_])"
    )
    if not words[0][0].isupper():
        article_pattern = re.compile(rf"(?<![^\W_])the\s+{pattern}")
        names.lowercase_names.append(_NamePattern(len(words), article_pattern, people))
        return
    first = words[0].lower().rstrip(".").replace("’", "'")
    name = _NamePattern(len(words), re.compile(pattern, re.IGNORECASE), people)
    names.by_first.setdefault(first, []).append(name)


def _loose_pattern(word: str) -> str:
    """Return a regex for a word that allows either apostrophe and an optional full
    stop.
    """
    stem = word.rstrip(".")
    pieces = ("['’]" if p in "'’" else re.escape(p) for p in _PIECE.findall(stem))
    return "".join(pieces) + (r"\.?" if stem != word else "")


def _mentions_in_part(
    text: str, part: Span, names: _NameIndex
) -> Iterator[tuple[Span, tuple[str, ...]]]:
    matches = [
        *_find_capitalised_names(text, part, names),
        *_find_lowercase_names(text, part, names),
    ]
    end = part.start
    for span, people in sorted(matches, key=lambda pair: (pair[0].start, -pair[0].end)):
        if span.start >= end:
            yield span, people
            end = span.end


def _find_capitalised_names(
    text: str, part: Span, names: _NameIndex
) -> Iterator[tuple[Span, tuple[str, ...]]]:
    by_first, end = names.by_first, part.start
    for token in CAPITALIZED_WORD.finditer(text, part.start, part.end):
        if token.start() < end:
            continue
        patterns = by_first.get(_key(token[0]))
        if patterns is None:
            continue
        for name in patterns:
            match = name.pattern.match(text, token.start(), part.end)
            if match and _is_whole(text, match, name.words):
                end = match.end()
                yield Span(token.start(), end), name.who
                break


def _key(token: str) -> str:
    return _POSSESSIVE.sub("", token).lower().replace("’", "'")


def _find_lowercase_names(
    text: str, part: Span, names: _NameIndex
) -> Iterator[tuple[Span, tuple[str, ...]]]:
    for name in names.lowercase_names:
        for match in name.pattern.finditer(text, part.start, part.end):
            yield Span(*match.span()), name.who


def _is_whole(text: str, match: re.Match[str], words: int) -> bool:
    """Return whether a single word is not part of a longer name or of another one."""
    if words > 1:
        return True
    start, end = match.span()
    if _is_oath(text, start, end):
        return False
    if match[0].lower() in AMBIGUOUS_NAME_WORDS and starts_sentence(text, start):
        return bool(_VERB_AFTER.match(text, end))
    before = _CAPITAL_BEFORE.search(text, max(0, start - 24), start)
    if before and before[1][0].isupper() and not _is_filler(before[1]):
        lead = before.start(1)
        if not starts_sentence(text, lead) or before[0].rstrip()[-1:] == ".":
            return False
    after = _CAPITAL_AFTER.match(text, end)
    return not (after and after[1][0].isupper() and not _is_filler(after[1]))


def _is_filler(word: str) -> bool:
    low = word.lower()
    return low in NAME_EPITHETS or (
        low in NON_NAME_WORDS and low not in ("mr", "mrs", "dr", "ms")
    )
